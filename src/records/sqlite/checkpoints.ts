// Checkpoints: a long write-ahead log is copied into the database by a thread, and emptied (decision 0011).
import type { DatabaseSync } from 'node:sqlite';
import { isDiskFull } from '../../model/disk-full.ts';
import type { CommitSync } from './commit-sync.ts';
import { isBusy } from './records-error.ts';
import type { RecordsThread } from './records-thread.ts';
import type { WriteLock } from '../write-lock.ts';

export const checkpointLimits = {
  /** A log of this length is copied into the database; writers wait for that. */
  checkpointBytes: 8 * 1024 * 1024,
  /** Pause after a checkpoint that did not reach the end of the log. */
  checkpointRetryMs: 1_000,
} as const;

interface CheckpointParts {
  readonly database: DatabaseSync;
  readonly sync: CommitSync;
  readonly lock: WriteLock;
  readonly thread: RecordsThread;
}

/**
 * Copies a long log into the database, on a thread, while nobody writes. A log that was not emptied
 * on disk could begin anew over old frames, and a power cut could bring those back; SQLite itself
 * syncs the new beginning then (synchronous = normal).
 */
export function createCheckpoints({ database, sync, lock, thread }: CheckpointParts) {
  let isWanted = false;
  let isClosed = false;
  let notBefore = 0;

  const checkpoint = async (): Promise<void> => {
    const release = await lock.take();
    try {
      if (isClosed) return;
      const isTruncated = await thread.checkpoint();
      database.exec(`pragma synchronous = ${isTruncated ? 'off' : 'normal'}`);
      if (!isTruncated) notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
    } catch (error) {
      notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
      database.exec('pragma synchronous = normal');
      if (!isDiskFull(error) && !isBusy(error)) sync.stop(error as Error);
    } finally {
      isWanted = false;
      release();
    }
  };

  return {
    /** Call after every commit. */
    committed(): void {
      if (
        isWanted ||
        isClosed ||
        sync.bytes < checkpointLimits.checkpointBytes ||
        performance.now() < notBefore
      )
        return;
      isWanted = true;
      void checkpoint();
    },
    close(): void {
      isClosed = true;
    },
  };
}
