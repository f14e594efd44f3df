// Moved devices: those that change their workspace are of another node from then on, like those of a lease that moves.
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import { leaseOfWorkspace } from './leases/leases.ts';

/** By service id; undefined after changes were missed: any device may have moved. */
type MovedIds = ReadonlySet<string> | undefined;

export class MovedDevices implements ChangeFollower {
  readonly #holds: (workspaceId: string) => boolean;
  readonly #moved: () => void;
  readonly #handOver: (ids: MovedIds) => Promise<void>;
  #waiting = new Set<string>();
  #isMissed = false;
  #isWorking = false;

  constructor(
    holds: (workspaceId: string) => boolean,
    /** Called at once, before this node accepts anything as the next owner. */
    moved: () => void,
    /** Hands over what this node has of the devices. Never rejects. */
    handOver: (ids: MovedIds) => Promise<void>,
  ) {
    this.#holds = holds;
    this.#moved = moved;
    this.#handOver = handOver;
  }

  readonly recordChanged = ({ kind, id, action, about }: RecordChange): void => {
    if (kind !== 'device' || action !== 'updated') return;
    const { workspaceId, leftWorkspaceId } = about ?? { workspaceId: null, leftWorkspaceId: null };
    if (workspaceId === null || leftWorkspaceId === null) return;
    const isStill = leaseOfWorkspace(workspaceId) === leaseOfWorkspace(leftWorkspaceId);
    // What this node has of a device that stays here goes on to count.
    if (isStill || (this.#holds(workspaceId) && this.#holds(leftWorkspaceId))) return;
    this.#moved();
    this.#waiting.add(id);
    this.#plan();
  };

  readonly changesMissed = (): void => {
    this.#moved();
    this.#isMissed = true;
    this.#plan();
  };

  #plan(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    // A bulk move is many changes of one turn of the event loop.
    setImmediate(() => void this.#work());
  }

  /** One after the other: devices that move all the time are handed over together. */
  async #work(): Promise<void> {
    while (this.#isMissed || this.#waiting.size > 0) {
      const ids = this.#isMissed ? undefined : this.#waiting;
      this.#waiting = new Set();
      this.#isMissed = false;
      await this.#handOver(ids);
    }
    this.#isWorking = false;
  }
}
