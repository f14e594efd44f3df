// Keyed queue: work of one key runs in order, different keys in parallel, with a limit and retries.
import type { SetTimer } from './timers.ts';

export interface KeyedQueueParts {
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
}

export interface KeyedQueue {
  /** A key that runs already runs once more afterwards. */
  readonly schedule: (key: string, isImmediate?: boolean) => void;
  /** Replaces an earlier delay of the same key. */
  readonly scheduleLater: (key: string, delayMs: number) => void;
  /** Resolves when no work is in progress. */
  readonly idle: () => Promise<void>;
  /** Starts no other work. Resolves when the work in progress has ended. */
  readonly close: () => Promise<void>;
}

export function createKeyedQueue(parts: KeyedQueueParts): KeyedQueue {
  const running = new Map<string, Promise<void>>();
  /** Keys that were scheduled while their work or the maximum of work was in progress. */
  const waiting = new Map<string, boolean>();
  const timers = new Map<string, () => void>();
  let closed = false;

  function schedule(key: string, isImmediate = false): void {
    if (closed) return;
    if (running.has(key) || running.size >= parts.runningMax) {
      waiting.set(key, isImmediate || waiting.get(key) === true);
      return;
    }
    running.set(key, run(key, isImmediate));
  }

  async function run(key: string, isImmediate: boolean): Promise<void> {
    try {
      // A failure before the first `await` is handled as any other.
      await Promise.try(parts.work, key, isImmediate);
    } catch (error) {
      parts.failed(error);
      scheduleLater(key, parts.retryMs);
    } finally {
      running.delete(key);
      startNext();
    }
  }

  function startNext(): void {
    for (const [key, isImmediate] of waiting) {
      if (running.has(key)) continue;
      waiting.delete(key);
      schedule(key, isImmediate);
      return;
    }
  }

  function scheduleLater(key: string, delayMs: number): void {
    if (closed) return;
    timers.get(key)?.();
    const cancel = parts.setTimer(() => {
      timers.delete(key);
      schedule(key);
    }, delayMs);
    timers.set(key, cancel);
  }

  return {
    schedule,
    scheduleLater,
    idle: () => settled(running),
    async close() {
      closed = true;
      waiting.clear();
      for (const cancel of timers.values()) cancel();
      timers.clear();
      await settled(running);
    },
  };
}

async function settled(running: ReadonlyMap<string, Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running.values());
}
