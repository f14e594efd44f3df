// Work queues: serial, by key with retries, and in fair turns among keys.
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

// Serial queue: tasks run in the order in which they were added, one at a time. A failed task does not stop the next.

export interface SerialQueue {
  /** Settles as the task does. */
  run<T>(task: () => Promise<T>): Promise<T>;
  /** Resolves when the tasks added so far have ended. */
  idle(): Promise<void>;
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      const result = last.then(task);
      last = result.catch(() => undefined);
      return result;
    },
    async idle() {
      await last;
    },
  };
}

// Fair turns: limited work alternates between waiting keys, so that one of them cannot delay the others.

export class FairTurns {
  readonly #limits;
  readonly #refusal: () => Error;
  /** In the order of their turns: a key whose work started goes to the end. */
  readonly #lines = new Map<string, (() => void)[]>();
  #running = 0;

  /** `refusal`: what is thrown when too much work waits. */
  constructor(
    limits: {
      /** Work that runs at the same time. */
      readonly runningMax: number;
      /** Work of one key that waits, and keys with work that waits. */
      readonly waitingPerKeyMax: number;
      readonly keysMax: number;
    },
    refusal: () => Error,
  ) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  /** Runs the work when it is the turn of the key. Throws the refusal when too much waits. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running += 1;
    else await this.#waitFor(key);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #waitFor(key: string): Promise<void> {
    const line = this.#lines.get(key) ?? [];
    const { waitingPerKeyMax, keysMax } = this.#limits;
    if (line.length >= waitingPerKeyMax || (line.length === 0 && this.#lines.size >= keysMax))
      throw this.#refusal();
    return new Promise((resolve) => {
      line.push(resolve);
      this.#lines.set(key, line);
    });
  }

  #passOn(): void {
    const [[key, line] = []] = this.#lines;
    const start = line?.shift();
    if (key === undefined || line === undefined || start === undefined) {
      this.#running -= 1;
      return;
    }
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
    start();
  }
}
