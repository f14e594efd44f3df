// Keyed queue: work of one key runs in order, different keys in parallel, with a limit and retries.
import type { SetTimer } from './timers.ts';

export class KeyedQueue {
  /** Keys whose work may run at the same time. */
  readonly #runningMax: number;
  readonly #setTimer: SetTimer;
  /**
   * Does all work that waits for the key. `isImmediate`: the key was scheduled because something
   * has changed for it.
   */
  readonly #work: (key: string, isImmediate: boolean) => Promise<void>;
  /** The work of a key failed. The key is scheduled again after `retryMs`. */
  readonly #failed: (error: unknown) => void;
  readonly #retryMs: number;
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were scheduled while their work or the maximum of work was in progress. */
  readonly #waiting = new Map<string, boolean>();
  readonly #timers = new Map<string, () => void>();
  #closed = false;

  constructor({
    work,
    failed,
    setTimer,
    runningMax,
    retryMs,
  }: {
    /**
     * Does all work that waits for the key. `isImmediate`: the key was scheduled because something
     * has changed for it.
     */
    readonly work: (key: string, isImmediate: boolean) => Promise<void>;
    /** The work of a key failed. The key is scheduled again after `retryMs`. */
    readonly failed: (error: unknown) => void;
    readonly setTimer: SetTimer;
    /** Keys whose work may run at the same time. */
    readonly runningMax: number;
    readonly retryMs: number;
  }) {
    this.#runningMax = runningMax;
    this.#setTimer = setTimer;
    this.#work = work;
    this.#failed = failed;
    this.#retryMs = retryMs;
  }

  /** A key that runs already runs once more afterwards. */
  readonly schedule = (key: string, isImmediate: boolean = false): void => {
    if (this.#closed) return;
    if (this.#running.has(key) || this.#running.size >= this.#runningMax) {
      this.#waiting.set(key, isImmediate || this.#waiting.get(key) === true);
      return;
    }
    this.#running.set(key, this.#run(key, isImmediate));
  };

  /** Resolves when no work is in progress. */
  readonly idle = (): Promise<void> => settled(this.#running);

  /** Starts no other work. Resolves when the work in progress has ended. */
  readonly close = async (): Promise<void> => {
    this.#closed = true;
    this.#waiting.clear();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await settled(this.#running);
  };

  /** Replaces an earlier delay of the same key. */
  scheduleLater(key: string, delayMs: number): void {
    if (this.#closed) return;
    this.#timers.get(key)?.();
    const cancel = this.#setTimer(() => {
      this.#timers.delete(key);
      this.schedule(key);
    }, delayMs);
    this.#timers.set(key, cancel);
  }

  async #run(key: string, isImmediate: boolean): Promise<void> {
    try {
      // A failure before the first `await` is handled as any other.
      await Promise.try(this.#work, key, isImmediate);
    } catch (error) {
      this.#failed(error);
      this.scheduleLater(key, this.#retryMs);
    } finally {
      this.#running.delete(key);
      this.#startNext();
    }
  }

  #startNext(): void {
    for (const [key, isImmediate] of this.#waiting) {
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.schedule(key, isImmediate);
      return;
    }
  }
}

async function settled(running: ReadonlyMap<string, Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running.values());
}
