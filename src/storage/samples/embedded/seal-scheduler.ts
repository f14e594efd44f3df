// Sealing work: one background run at a time, for which writers wait when memory has no room.
import type { StoreLimits } from './store-limits.ts';

interface SealingWorkParts {
  /** Seals what is closed. */
  readonly work: () => Promise<void>;
  /** Bytes of the journal so far. */
  readonly journalledBytes: () => number;
  readonly limits: Pick<StoreLimits, 'lookEveryBytes'>;
  /** The work failed; it is tried again later. */
  readonly failed: (error: unknown) => void;
}

export class SealingWork {
  readonly #parts: SealingWorkParts;
  #failedAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #writersOn: PromiseWithResolvers<void> | undefined;

  constructor(parts: SealingWorkParts) {
    this.#parts = parts;
  }

  /** Does nothing while the work runs, or shortly after a failure. */
  start(): void {
    // After a failure it is tried again when there is something new to keep, not at every entry.
    if (this.#parts.journalledBytes() - this.#failedAt < this.#parts.limits.lookEveryBytes / 4)
      return;
    this.#working ??= this.#parts
      .work()
      .catch((error: unknown) => {
        this.#failedAt = this.#parts.journalledBytes();
        this.#parts.failed(error);
      })
      .finally(() => {
        this.#working = undefined;
        this.letWritersOn();
      });
  }

  /** Undefined when no work runs, else resolves when there may be room, or when the work ended. */
  nextRoom(): Promise<void> | undefined {
    if (this.#working === undefined) return undefined;
    this.#writersOn ??= Promise.withResolvers();
    return this.#writersOn.promise;
  }

  /** Memory has room again. */
  letWritersOn(): void {
    this.#writersOn?.resolve();
    this.#writersOn = undefined;
  }

  /** The work in progress. */
  running(): Promise<void> | undefined {
    return this.#working;
  }
}
