// Repetitions of an uplink are stored once: keys of uplinks that became durable are remembered for a while (contract 18).
import { type EpochMs, minuteMs } from '../model/instant.ts';

export const duplicateLimits = {
  /** How long a key is remembered at least, unless there are too many. */
  windowMs: 10 * minuteMs,
  /** Keys remembered; beyond, the older half is forgotten. */
  keysMax: 400_000,
  /** How many of the journal's newest entries are read at a start. */
  recoveredEntriesMax: 20_000,
} as const;

export type Once<T> =
  | { readonly repeated: false; readonly outcome: T }
  | { readonly repeated: true };

export interface DuplicateFilter {
  /**
   * Runs the work, unless work with the same key ended well within the window: then it is a repetition. While that work is under
   * way a repetition waits for it, and takes its place when it fails. With `onlyDoubted` only a key that was doubted counts: for
   * senders that use keys again and do not say when they repeat themselves.
   */
  once<T>(key: string, work: () => Promise<T>, onlyDoubted?: boolean): Promise<Once<T>>;
  /** The sender of this key may not have heard that it was stored, so it may come again without saying so. */
  doubt(key: string): void;
  /** A key that became durable, told while the journal is read at a start. */
  remember(key: string, at: EpochMs): void;
  readonly size: number;
}

/** `windowMs` must not be longer than what the caller's repetitions take: a key that is used again is taken for a repetition. */
export function createDuplicateFilter(
  now: () => EpochMs,
  limits: { readonly windowMs: number; readonly keysMax: number } = duplicateLimits,
): DuplicateFilter {
  // Two halves in turn: the older one is dropped whole, so that nothing is searched for what is outdated.
  let newer = new Map<string, EpochMs>();
  let older = new Map<string, EpochMs>();
  let newerSince = now();
  const underWay = new Map<string, Promise<unknown>>();
  const doubted = new Map<string, EpochMs>();

  function turn(at: EpochMs): void {
    if (newer.size < limits.keysMax / 2 && at - newerSince < limits.windowMs) return;
    older = newer;
    newer = new Map();
    newerSince = at;
    // They are in the order of time, and there are never more of them than keys.
    for (const [key, since] of doubted) {
      if (doubted.size <= limits.keysMax / 2 && at - since < limits.windowMs) break;
      doubted.delete(key);
    }
  }

  function isKnown(key: string): boolean {
    const at = newer.get(key) ?? older.get(key);
    return at !== undefined && now() - at < limits.windowMs;
  }

  function remember(key: string, at: EpochMs): void {
    turn(now());
    newer.set(key, at);
  }

  async function run<T>(key: string, work: () => Promise<T>): Promise<Once<T>> {
    const running = work();
    underWay.set(key, running);
    try {
      const outcome = await running;
      remember(key, now());
      return { repeated: false, outcome };
    } finally {
      if (underWay.get(key) === running) underWay.delete(key);
    }
  }

  return {
    async once(key, work, onlyDoubted = false) {
      if (onlyDoubted && !doubted.has(key)) return run(key, work);
      for (let before = underWay.get(key); before !== undefined; before = underWay.get(key)) {
        await before.catch(() => undefined);
      }
      if (isKnown(key)) return { repeated: true };
      doubted.delete(key);
      return run(key, work);
    },
    doubt(key) {
      turn(now());
      doubted.delete(key);
      doubted.set(key, now());
    },
    remember,
    get size() {
      return newer.size + older.size;
    },
  };
}
