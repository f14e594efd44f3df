// Moved devices: those that change their workspace are of another node from then on, like those of a lease that moves.
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import { leaseOfWorkspace } from './leases/leases.ts';

/** Hands over what this node has of the devices, which are of another one before or after. Never rejects. */
type HandOver = (isMoved: (deviceId: string) => boolean) => Promise<void>;

export class MovedDevices implements ChangeFollower {
  readonly #holds: (workspaceId: string) => boolean;
  readonly #handOver: HandOver;
  /** Of the present turn of the event loop; `all` after changes were missed. */
  #moved: Set<string> | 'all' | undefined;

  constructor(holds: (workspaceId: string) => boolean, handOver: HandOver) {
    this.#holds = holds;
    this.#handOver = handOver;
  }

  readonly recordChanged = ({ kind, id, action, about }: RecordChange): void => {
    if (kind !== 'device' || action !== 'updated') return;
    const { workspaceId, leftWorkspaceId } = about ?? { workspaceId: null, leftWorkspaceId: null };
    if (workspaceId === null || leftWorkspaceId === null) return;
    const isStill = leaseOfWorkspace(workspaceId) === leaseOfWorkspace(leftWorkspaceId);
    // What this node has of a device that stays here goes on to count.
    if (isStill || (this.#holds(workspaceId) && this.#holds(leftWorkspaceId))) return;
    if (this.#moved === undefined) this.#plan();
    if (this.#moved === undefined) this.#moved = new Set([id]);
    else if (this.#moved !== 'all') this.#moved.add(id);
  };

  readonly changesMissed = (): void => {
    if (this.#moved === undefined) this.#plan();
    this.#moved = 'all';
  };

  #plan(): void {
    setImmediate(() => {
      const moved = this.#moved;
      this.#moved = undefined;
      if (moved === undefined) return;
      void this.#handOver((deviceId) => moved === 'all' || moved.has(deviceId));
    });
  }
}
