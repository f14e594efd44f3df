// Retrying worker: does work in the background while there is some, one run at a time, and retries after a failure.
import type { SetTimer } from './timers.ts';

export interface RetryingWorkerParts {
  readonly hasWork: () => boolean;
  /**
   * Does all work that waits. `progressed` makes the next failure wait for the first delay again.
   */
  readonly work: (progressed: () => void) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Delay after the first, second, ... consecutive failure; the last one repeats. */
  readonly retryDelaysMs: readonly [number, ...number[]];
  readonly setTimer: SetTimer;
}

export interface RetryingWorker {
  /**
   * Call when work was added. Does nothing while the work runs, waits for a retry, or is closed.
   */
  wake(): void;
  /** As `wake`, and ends a wait for a retry. */
  retryNow(): void;
  /** Resolves when the run in progress has ended, successful or not. */
  idle(): Promise<void>;
  /** Starts no other run. Resolves when the run in progress has ended. */
  close(): Promise<void>;
}

export function createRetryingWorker(parts: RetryingWorkerParts): RetryingWorker {
  const { hasWork, retryDelaysMs } = parts;
  let running: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let failures = 0;
  let closed = false;

  function progressed(): void {
    failures = 0;
  }

  function wake(): void {
    if (closed || running !== undefined || cancelRetry !== undefined || !hasWork()) return;
    running = run();
  }

  async function run(): Promise<void> {
    try {
      // A failure before the first `await` is handled as any other.
      await Promise.try(parts.work, progressed);
      progressed();
    } catch (error) {
      parts.failed(error);
      retryLater();
    } finally {
      running = undefined;
      // Work that was added after the run looked for the last time.
      wake();
    }
  }

  function retryLater(): void {
    if (closed) return;
    const delayMs = retryDelaysMs[failures] ?? retryDelaysMs.at(-1) ?? retryDelaysMs[0];
    failures += 1;
    cancelRetry = parts.setTimer(() => {
      cancelRetry = undefined;
      wake();
    }, delayMs);
  }

  function stopWaiting(): void {
    cancelRetry?.();
    cancelRetry = undefined;
  }

  return {
    wake,
    retryNow() {
      stopWaiting();
      wake();
    },
    idle: async () => running,
    async close() {
      closed = true;
      stopWaiting();
      await running;
    },
  };
}
