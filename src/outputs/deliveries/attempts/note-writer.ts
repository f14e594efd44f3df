// Note writer: saves the notes of failed attempts, many per transaction, and retries failed writes.
import type { ProcessingLogEntry } from '../../../model/entry-trace.ts';
import { RetryingWorker } from '../../../structures/retrying-worker.ts';
import type { SetTimer } from '../../../structures/timers.ts';

const retryDelaysMs = [1_000] as const;

interface Unsaved {
  readonly notes: readonly ProcessingLogEntry[];
  readonly ended: (isSaved: boolean) => void;
}

export interface NoteWriter {
  /** Resolves to whether the notes are saved; false when the writer was closed before. */
  add(notes: readonly ProcessingLogEntry[]): Promise<boolean>;
  /** Makes one last attempt. */
  close(): Promise<void>;
}

export function createNoteWriter({
  saveNotes,
  failed,
  setTimer,
}: {
  /** Saves all or none. */
  readonly saveNotes: (notes: readonly ProcessingLogEntry[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}): NoteWriter {
  let waiting: Unsaved[] = [];

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      // Notes of the same turn share a transaction.
      await new Promise((resolve) => void setImmediate(resolve));
      const batch = waiting;
      waiting = [];
      try {
        await saveNotes(batch.flatMap(({ notes }) => notes));
      } catch (error) {
        waiting = [...batch, ...waiting];
        throw error;
      }
      for (const { ended } of batch) ended(true);
    }
  }

  const hasWork = () => waiting.length > 0;
  const worker = new RetryingWorker({ hasWork, work: write, failed, retryDelaysMs, setTimer });
  return {
    add(notes) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ notes, ended: resolve });
      worker.wake();
      return promise;
    },
    async close() {
      worker.retryNow();
      await worker.close();
      for (const { ended } of waiting) ended(false);
    },
  };
}
