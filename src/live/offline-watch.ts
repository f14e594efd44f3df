// Offline watch: notices devices that go offline, in workspaces where their states are followed (contract 37).
import type { FollowedWorkspace } from './sessions/workspace-fan-out.ts';
import type { EpochMs } from '../model/instant.ts';
import type { OfflinePlace, WentOffline } from '../storage/records/rows/device-status.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { DeviceTransition } from './live-events.ts';

export interface OfflineWatchParts {
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
}

/** Devices that are read in one pass. */
const devicesPerPass = 1_000;
const passEveryMs = 2_000;

export interface OfflineWatch {
  /** Does a pass now, as happens every two seconds. */
  readonly look: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createOfflineWatch(parts: OfflineWatchParts): OfflineWatch {
  const { followed, settled, goneOffline, deviceChanged, now } = parts;
  let places = new Map<string, OfflinePlace>();
  let running: Promise<void> | undefined;

  async function pass(): Promise<void> {
    const workspaces = followed();
    const to = now();
    const next = new Map<string, OfflinePlace>();
    if (workspaces.length > 0) await settled();
    for (const workspace of workspaces) {
      const { workspaceId, since } = workspace;
      const after = places.get(workspaceId) ?? { onlineUntil: since, deviceId: '' };
      next.set(workspaceId, await report(workspace, after, to));
    }
    places = next;
  }

  async function report(
    workspace: FollowedWorkspace,
    after: OfflinePlace,
    to: EpochMs,
  ): Promise<OfflinePlace> {
    if (after.onlineUntil >= to) return after;
    const devices = await goneOffline(workspace, { after, to, max: devicesPerPass });
    const { workspaceId } = workspace;
    for (const { deviceId, lastUplinkAt } of devices)
      deviceChanged({
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

  function look(): Promise<void> {
    running ??= pass().finally(() => (running = undefined));
    return running;
  }

  const stop = parts.setRepeatingTimer(() => void look().catch(parts.failed), passEveryMs);
  return {
    look,
    async close() {
      stop();
      await running?.catch(() => undefined);
    },
  };
}
