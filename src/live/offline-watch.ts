// Offline watch: notices devices that go offline, in workspaces where their states are followed (contract 37).
import type { FollowedWorkspace } from './sessions/workspace-fan-out.ts';
import type { EpochMs } from '../model/instant.ts';
import type { OfflinePlace, WentOffline } from '../storage/records/rows/device-status.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { DeviceTransition } from './live-events.ts';

/** Devices that are read in one pass. */
const devicesPerPass = 1_000;
const passEveryMs = 2_000;

export class OfflineWatch {
  readonly #followed: () => readonly FollowedWorkspace[];
  readonly #settled: () => Promise<void>;
  readonly #goneOffline: (
    workspace: FollowedWorkspace,
    range: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
  ) => Promise<readonly WentOffline[]>;
  readonly #deviceChanged: (transition: DeviceTransition) => void;
  readonly #now: () => EpochMs;
  #places = new Map<string, OfflinePlace>();
  #running: Promise<void> | undefined;
  readonly #stop: () => void;

  constructor(parts: {
    /** The workspaces in which the states of devices are followed. */
    readonly followed: () => readonly FollowedWorkspace[];
    /** Resolves when the records contain all uplinks until now. */
    readonly settled: () => Promise<void>;
    readonly goneOffline: (
      workspace: FollowedWorkspace,
      range: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
    ) => Promise<readonly WentOffline[]>;
    readonly deviceChanged: (transition: DeviceTransition) => void;
    readonly now: () => EpochMs;
    readonly setRepeatingTimer: SetTimer;
    readonly failed: (error: unknown) => void;
  }) {
    const { followed, settled, goneOffline, deviceChanged, now } = parts;
    this.#followed = followed;
    this.#settled = settled;
    this.#goneOffline = goneOffline;
    this.#deviceChanged = deviceChanged;
    this.#now = now;
    this.#stop = parts.setRepeatingTimer(() => void this.look().catch(parts.failed), passEveryMs);
  }

  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#running?.catch(() => undefined);
  };

  /** Does a pass now, as happens every two seconds. */
  look(): Promise<void> {
    this.#running ??= this.#pass().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #pass(): Promise<void> {
    const workspaces = this.#followed();
    const to = this.#now();
    const next = new Map<string, OfflinePlace>();
    if (workspaces.length > 0) await this.#settled();
    for (const workspace of workspaces) {
      const { workspaceId, since } = workspace;
      const after = this.#places.get(workspaceId) ?? { onlineUntil: since, deviceId: '' };
      next.set(workspaceId, await this.#report(workspace, after, to));
    }
    this.#places = next;
  }

  async #report(
    workspace: FollowedWorkspace,
    after: OfflinePlace,
    to: EpochMs,
  ): Promise<OfflinePlace> {
    if (after.onlineUntil >= to) return after;
    const devices = await this.#goneOffline(workspace, { after, to, max: devicesPerPass });
    const { workspaceId } = workspace;
    for (const { deviceId, lastUplinkAt } of devices)
      this.#deviceChanged({
        workspaceId,
        deviceId,
        lastUplinkAt,
        state: 'OFFLINE',
        previousState: 'ONLINE',
      });
    const last = devices.at(-1);
    if (last !== undefined && devices.length === devicesPerPass) return last;
    // Behind all devices of this instant.
    return { onlineUntil: to, deviceId: '\uffff' };
  }
}
