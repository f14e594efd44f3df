// Byte budget: limits the bytes of bodies that are in memory, with a share for each owner.
import { problem } from '../model/problem.ts';
import { leavesRoom } from '../structures/shared-pool.ts';

/** The bytes of one body. */
export interface HeldBytes {
  /** Throws Problem `intakeFull` when too much is held, or the owner has most of it. */
  readonly take: (bytes: number) => void;
  /** Releases all that was taken. */
  readonly release: () => void;
}

export class ByteBudget {
  readonly #bytesMax: number;
  readonly #ofOwners = new Map<string, number>();
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What all owners hold. */
  get held(): number {
    return this.#held;
  }

  open(owner: string): HeldBytes {
    let taken = 0;
    return {
      take: (bytes) => {
        this.#refuseTooMany(owner, bytes);
        taken += bytes;
        this.#add(owner, bytes);
      },
      release: () => {
        this.#add(owner, -taken);
        taken = 0;
      },
    };
  }

  #refuseTooMany(owner: string, bytes: number): void {
    const own = this.#ofOwners.get(owner) ?? 0;
    const max = this.#bytesMax;
    if (this.#held + bytes > max || !leavesRoom(own, this.#held, max)) throw problem('intakeFull');
  }

  #add(owner: string, bytes: number): void {
    this.#held += bytes;
    const left = (this.#ofOwners.get(owner) ?? 0) + bytes;
    if (left === 0) this.#ofOwners.delete(owner);
    else this.#ofOwners.set(owner, left);
  }
}
