// Commit sync: makes commits durable without blocking the event loop; one fdatasync covers all earlier commits.
import { closeSync, fdatasync, fstatSync } from 'node:fs';

export interface CommitSync {
  /**
   * Resolves when everything that is committed now is on disk. Rejects when the disk fails; the
   * records are stopped then.
   */
  committed(): Promise<void>;
  /** Stops permanently, because later commits might be lost. */
  stop(error: Error): void;
  /** Undefined while commits become durable. */
  readonly stoppedBy: Error | undefined;
  /** Length of the write-ahead log. */
  readonly bytes: number;
  close(): Promise<void>;
}

/** `descriptor` is the open write-ahead log. `stopped` is told once. */
export function createCommitSync(descriptor: number, stopped: (error: Error) => void): CommitSync {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let stoppedBy: Error | undefined;

  const stop = (error: Error): void => {
    if (stoppedBy !== undefined) return;
    stoppedBy = error;
    stopped(error);
  };

  const sync = async (): Promise<void> => {
    // After a failed sync the kernel can report lost pages as written, so later syncs cannot be
    // trusted.
    if (stoppedBy !== undefined) throw stoppedBy;
    try {
      await new Promise<void>((resolve, reject) => {
        fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      stop(error as Error);
      throw error;
    } finally {
      running = undefined;
    }
  };

  const committed = (): Promise<void> => {
    if (next !== undefined) return next;
    if (running === undefined) return (running = sync());
    // The sync in progress may have passed this commit by; all that come until it ends share the
    // next.
    next = running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return (running = sync());
      });
    return next;
  };

  return {
    committed,
    stop,
    get stoppedBy() {
      return stoppedBy;
    },
    get bytes() {
      return fstatSync(descriptor).size;
    },
    async close() {
      await (next ?? running)?.catch(() => undefined);
      closeSync(descriptor);
    },
  };
}
