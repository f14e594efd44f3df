// Retrying worker: does work in the background while there is some, one run at a time, and retries after a failure.
import type { SetTimer } from './timers.ts';

export class RetryingWorker {
  readonly #parts;
  #running: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;
  #failures = 0;
  #closed = false;
  readonly #progressed = (): void => {
    this.#failures = 0;
  };

  constructor(parts: {
    readonly hasWork: () => boolean;
    /**
     * Does all work that waits. `progressed` makes the next failure wait for the first delay again.
     */
    readonly work: (progressed: () => void) => Promise<void>;
    readonly failed: (error: unknown) => void;
    /** Delay after the first, second, ... consecutive failure; the last one repeats. */
    readonly retryDelaysMs: readonly [number, ...number[]];
    readonly setTimer: SetTimer;
  }) {
    this.#parts = parts;
  }

  /** Call when work was added. Does nothing while the work runs, waits for a retry, or is closed. */
  readonly wake = (): void => {
    if (
      this.#closed ||
      this.#running !== undefined ||
      this.#cancelRetry !== undefined ||
      !this.#parts.hasWork()
    )
      return;
    this.#running = this.#run();
  };

  /** As `wake`, and ends a wait for a retry. */
  readonly retryNow = (): void => {
    this.#stopWaiting();
    this.wake();
  };

  /** Starts no other run. Resolves when the run in progress has ended. */
  readonly close = async (): Promise<void> => {
    this.#closed = true;
    this.#stopWaiting();
    await this.#running;
  };

  /** Resolves when the run in progress has ended, successful or not. */
  async idle(): Promise<void> {
    return this.#running;
  }

  async #run(): Promise<void> {
    try {
      // A failure before the first `await` is handled as any other.
      await Promise.try(this.#parts.work, this.#progressed);
      this.#progressed();
    } catch (error) {
      this.#parts.failed(error);
      this.#retryLater();
    } finally {
      this.#running = undefined;
      // Work that was added after the run looked for the last time.
      this.wake();
    }
  }

  #retryLater(): void {
    if (this.#closed) return;
    const delayMs =
      this.#parts.retryDelaysMs[this.#failures] ??
      this.#parts.retryDelaysMs.at(-1) ??
      this.#parts.retryDelaysMs[0];
    this.#failures += 1;
    this.#cancelRetry = this.#parts.setTimer(() => {
      this.#cancelRetry = undefined;
      this.wake();
    }, delayMs);
  }

  #stopWaiting(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }
}
