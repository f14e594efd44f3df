// Lanes: work that goes on in order within a key and side by side across keys, bounded, and taken up again later.

interface LaneParts {
  /** Works on what waits for the key; `atOnce` when it was woken because something has changed for it. */
  readonly work: (key: string, atOnce: boolean) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Calls back once, later; returns how to cancel. */
  readonly schedule: (task: () => void, delayMs: number) => () => void;
  /** Keys worked on side by side. */
  readonly lanesMax: number;
  /** A key whose work failed through our own fault is taken up again after this time. */
  readonly faultMs: number;
}

export interface Lanes {
  readonly wake: (key: string, atOnce?: boolean) => void;
  readonly wakeLater: (key: string, delayMs: number) => void;
  /** Resolves when no work is under way. */
  readonly idle: () => Promise<void>;
  /** Begins no other work and resolves when that under way has ended. */
  readonly close: () => Promise<void>;
}

export function createLanes(parts: LaneParts): Lanes {
  const running = new Map<string, Promise<void>>();
  /** Keys woken while they were worked on or while all lanes were taken. */
  const again = new Map<string, boolean>();
  const timers = new Map<string, () => void>();
  let closed = false;

  function wake(key: string, atOnce = false): void {
    if (closed) return;
    if (running.has(key) || running.size >= parts.lanesMax) {
      again.set(key, atOnce || again.get(key) === true);
      return;
    }
    running.set(key, run(key, atOnce));
  }

  async function run(key: string, atOnce: boolean): Promise<void> {
    try {
      await parts.work(key, atOnce);
    } catch (error) {
      parts.failed(error);
      wakeLater(key, parts.faultMs);
    } finally {
      running.delete(key);
      for (const [next, isAtOnce] of again) {
        if (running.has(next)) continue;
        again.delete(next);
        wake(next, isAtOnce);
        break;
      }
    }
  }

  function wakeLater(key: string, delayMs: number): void {
    if (closed) return;
    timers.get(key)?.();
    const cancel = parts.schedule(() => {
      timers.delete(key);
      wake(key);
    }, delayMs);
    timers.set(key, cancel);
  }

  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.values());
  };

  return {
    wake,
    wakeLater,
    idle,
    async close() {
      closed = true;
      again.clear();
      for (const cancel of timers.values()) cancel();
      timers.clear();
      await idle();
    },
  };
}
