// Owned work: what a node still does for devices that it owns, and is waited for before they move.
import type { Held } from './owned-devices.ts';

export interface OwnedWork {
  /** The right with the work under it. */
  readonly heldBy: (right: Pick<Held, 'isValid'>) => Held;
  /** Resolves when the work that has begun so far has ended. */
  readonly ended: () => Promise<unknown>;
}

export function createOwnedWork(): OwnedWork {
  const underWay = new Set<Promise<unknown>>();
  async function during<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.delete(work);
    }
  }
  return {
    heldBy: (right) => ({ isValid: () => right.isValid(), during }),
    ended: () => Promise.allSettled(underWay),
  };
}
