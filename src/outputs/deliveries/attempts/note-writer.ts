// Note writer: saves the notes of failed attempts, many per transaction, and retries failed writes.
import type { ProcessingLogEntry } from '../../../model/entry-trace.ts';
import { RetryingWorker } from '../../../structures/retrying-worker.ts';
import type { SetTimer } from '../../../structures/timers.ts';

const retryDelaysMs = [1_000] as const;

interface Unsaved {
  readonly notes: readonly ProcessingLogEntry[];
  readonly ended: (isSaved: boolean) => void;
}

export class NoteWriter {
  readonly #saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
  #waiting: Unsaved[] = [];
  readonly #worker: RetryingWorker;
  readonly #write = async (): Promise<void> => {
    while (this.#waiting.length > 0) {
      // Notes of the same turn share a transaction.
      await new Promise((resolve) => void setImmediate(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#saveNotes(batch.flatMap(({ notes }) => notes));
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting];
        throw error;
      }
      for (const { ended } of batch) ended(true);
    }
  };
  readonly #hasWork = (): boolean => this.#waiting.length > 0;

  constructor({
    saveNotes,
    failed,
    setTimer,
  }: {
    /** Saves all or none. */
    readonly saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
    readonly failed: (error: unknown) => void;
    readonly setTimer: SetTimer;
  }) {
    this.#saveNotes = saveNotes;
    this.#worker = new RetryingWorker({
      hasWork: this.#hasWork,
      work: this.#write,
      failed,
      retryDelaysMs,
      setTimer,
    });
  }

  /** Resolves to whether the notes are saved; false when the writer was closed before. */
  add(notes: readonly ProcessingLogEntry[]): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ notes, ended: resolve });
    this.#worker.wake();
    return promise;
  }

  /** Makes one last attempt. */
  async close(): Promise<void> {
    this.#worker.retryNow();
    await this.#worker.close();
    for (const { ended } of this.#waiting) ended(false);
  }
}
