// Connection: whether the platform answers, since when not, and the tries until it does again.
import { createWatchedValue } from './watched-value.ts';

export interface Connection {
  /** When a request first got no answer, until the platform answers again. */
  readonly lostAtMs?: number;
  readonly nextTryMs?: number;
}

const firstWaitMs = 500;
const longestWaitMs = 15_000;

class Line {
  readonly state = createWatchedValue<Connection>({});
  readonly #returned = new Set<() => void>();
  #waitMs = firstWaitMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Called for a request without an answer. Tries until there is one. */
  readonly lost = (): void => {
    if (this.state.get().lostAtMs !== undefined) return;
    this.#waitMs = firstWaitMs;
    this.#plan(Date.now());
  };

  /** Hears from the browser that the network is gone, and that it is back. */
  followNetwork(): void {
    addEventListener('offline', this.lost);
    addEventListener('online', () => void this.tryNow());
  }

  /** Calls the listener each time that the platform answers again; returns how to stop. */
  onReturn(listener: () => void): () => void {
    this.#returned.add(listener);
    return () => this.#returned.delete(listener);
  }

  /** Tries immediately instead of at the planned time. */
  readonly tryNow = async (): Promise<void> => {
    const { lostAtMs } = this.state.get();
    if (lostAtMs === undefined) return;
    clearTimeout(this.#timer);
    if (await isAnswering()) {
      this.state.set({});
      for (const listener of this.#returned) listener();
    } else this.#plan(lostAtMs);
  };

  #plan(lostAtMs: number): void {
    clearTimeout(this.#timer);
    this.state.set({ lostAtMs, nextTryMs: Date.now() + this.#waitMs });
    this.#timer = setTimeout(() => void this.tryNow(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
  }
}

export const connection = new Line();

/** Whether the platform itself answers, and not a proxy in its place. */
export async function isAnswering(): Promise<boolean> {
  try {
    return (await fetch('/v3/about', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
