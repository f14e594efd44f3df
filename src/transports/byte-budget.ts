// Byte budget: limits the bytes of bodies that are in memory, with a share for each owner.
import { problem } from '../model/problem.ts';
import { leavesRoom } from '../structures/shared-pool.ts';

interface ByteBudget {
  /** The bytes of one body. */
  readonly open: (owner: string) => HeldBytes;
}

interface HeldBytes {
  /** Throws Problem `intakeFull` when too much is held, or the owner has most of it. */
  readonly take: (bytes: number) => void;
  /** Releases all that was taken. */
  readonly release: () => void;
}

export function createByteBudget(bytesMax: number): ByteBudget {
  const ofOwners = new Map<string, number>();
  let held = 0;

  function add(owner: string, bytes: number): void {
    held += bytes;
    const left = (ofOwners.get(owner) ?? 0) + bytes;
    if (left === 0) ofOwners.delete(owner);
    else ofOwners.set(owner, left);
  }

  return {
    open(owner) {
      let taken = 0;
      return {
        take(bytes) {
          const own = ofOwners.get(owner) ?? 0;
          if (held + bytes > bytesMax || !leavesRoom(own, held, bytesMax))
            throw problem('intakeFull');
          taken += bytes;
          add(owner, bytes);
        },
        release() {
          add(owner, -taken);
          taken = 0;
        },
      };
    },
  };
}
