// Sealing work: one background run at a time, for which writers wait when memory has no room.
import type { StoreLimits } from './store-limits.ts';

export interface SealingWorkParts {
  /** Seals what is closed. */
  readonly work: () => Promise<void>;
  /** Bytes of the journal so far. */
  readonly journalledBytes: () => number;
  readonly limits: Pick<StoreLimits, 'lookEveryBytes'>;
  /** The work failed; it is tried again later. */
  readonly failed: (error: unknown) => void;
}

export interface SealingWork {
  /** Does nothing while the work runs, or shortly after a failure. */
  readonly start: () => void;
  /** Undefined when no work runs, else resolves when there may be room, or when the work ended. */
  readonly nextRoom: () => Promise<void> | undefined;
  /** Memory has room again. */
  readonly letWritersOn: () => void;
  /** The work in progress. */
  readonly running: () => Promise<void> | undefined;
}

export function createSealingWork(parts: SealingWorkParts): SealingWork {
  const { work, journalledBytes, limits } = parts;
  let failedAt = Number.NEGATIVE_INFINITY;
  let working: Promise<void> | undefined;
  let writersOn: PromiseWithResolvers<void> | undefined;

  function letWritersOn(): void {
    writersOn?.resolve();
    writersOn = undefined;
  }

  return {
    start() {
      // After a failure it is tried again when there is something new to keep, not at every entry.
      if (journalledBytes() - failedAt < limits.lookEveryBytes / 4) return;
      working ??= work()
        .catch((error: unknown) => {
          failedAt = journalledBytes();
          parts.failed(error);
        })
        .finally(() => {
          working = undefined;
          letWritersOn();
        });
    },
    nextRoom() {
      if (working === undefined) return undefined;
      writersOn ??= Promise.withResolvers();
      return writersOn.promise;
    },
    letWritersOn,
    running: () => working,
  };
}
