// Moved devices: those that change their workspace are of another node from then on, like those of a lease that moves.
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import { leaseOfWorkspace } from './leases/leases.ts';

/** By service id; undefined after changes were missed: any device may have moved. */
type MovedIds = ReadonlySet<string> | undefined;

interface MovedDevicesParts {
  readonly holds: (workspaceId: string) => boolean;
  /** Called at once, before this node accepts anything as the next owner. */
  readonly moved: () => void;
  /** Hands over what this node has of the devices. Never rejects. */
  readonly handOver: (ids: MovedIds) => Promise<void>;
}

export class MovedDevices implements ChangeFollower {
  readonly #parts: MovedDevicesParts;
  #waiting = new Set<string>();
  #isMissed = false;
  #isWorking = false;

  constructor(parts: MovedDevicesParts) {
    this.#parts = parts;
  }

  readonly recordChanged = ({ kind, id, action, about }: RecordChange): void => {
    if (kind !== 'device' || action !== 'updated') return;
    const { workspaceId, leftWorkspaceId } = about ?? { workspaceId: null, leftWorkspaceId: null };
    if (workspaceId === null || leftWorkspaceId === null) return;
    const isStill = leaseOfWorkspace(workspaceId) === leaseOfWorkspace(leftWorkspaceId);
    const { holds, moved } = this.#parts;
    // What this node has of a device that stays here goes on to count.
    if (isStill || (holds(workspaceId) && holds(leftWorkspaceId))) return;
    moved();
    this.#waiting.add(id);
    this.#plan();
  };

  readonly changesMissed = (): void => {
    this.#parts.moved();
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
      await this.#parts.handOver(ids);
    }
    this.#isWorking = false;
  }
}
