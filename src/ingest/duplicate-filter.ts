// Duplicate filter: keeps keys of recent durable uplinks, so that a repeated uplink is stored once (contract 18).
import { type EpochMs, minuteMs } from '../model/instant.ts';

export const duplicateLimits = {
  /** Minimum time that a key is kept, unless there are too many. */
  windowMs: 10 * minuteMs,
  /** Keys kept; beyond the limit the older half is evicted. */
  keysMax: 400_000,
  /** Newest entries of the journal that are read at a start. */
  recoveredEntriesMax: 20_000,
} as const;

export type Once<T> =
  | { readonly repeated: false; readonly outcome: T }
  | { readonly repeated: true };

export interface DuplicateFilter {
  /**
   * Runs the work, unless work with the same key succeeded within the window: then the call is a
   * repetition. A repetition waits for work in progress, and runs when that fails. With
   * `onlyDoubted` only a doubted key counts, for senders that reuse keys and do not mark
   * repetitions. The repetition ends the doubt. With `isLate` it is the original, whose repetition
   * is still to come, or has passed it.
   */
  once<T>(
    key: string,
    work: () => Promise<T>,
    onlyDoubted?: boolean,
    isLate?: boolean,
  ): Promise<Once<T>>;
  /**
   * The sender of this key may have missed the acknowledgement, and may repeat it without a mark.
   */
  doubt(key: string): void;
  /** Adds a durable key that was read from the journal at a start. */
  remember(key: string, at: EpochMs): void;
  readonly size: number;
}

type Limits = Pick<
  { readonly [Name in keyof typeof duplicateLimits]: number },
  'windowMs' | 'keysMax'
>;

/**
 * `windowMs` must not exceed the time in which senders repeat, because a reused key counts as a
 * repetition.
 */
export function createDuplicateFilter(
  now: () => EpochMs,
  limits: Limits = duplicateLimits,
): DuplicateFilter {
  // Two halves: the older one is dropped whole, so that no search for outdated keys is needed.
  let newer = new Map<string, EpochMs>();
  let older = new Map<string, EpochMs>();
  let newerSince = now();
  const inProgress = new Map<string, Promise<unknown>>();
  const doubted = new Map<string, EpochMs>();

  function turn(at: EpochMs): void {
    if (newer.size < limits.keysMax / 2 && at - newerSince < limits.windowMs) return;
    older = newer;
    newer = new Map();
    newerSince = at;
    evictOldest(doubted, at, limits);
  }

  function remember(key: string, at: EpochMs): void {
    turn(now());
    newer.set(key, at);
  }

  async function run<T>(key: string, work: () => Promise<T>): Promise<Once<T>> {
    const running = work();
    inProgress.set(key, running);
    try {
      const outcome = await running;
      remember(key, now());
      return { repeated: false, outcome };
    } finally {
      if (inProgress.get(key) === running) inProgress.delete(key);
    }
  }

  return {
    async once(key, work, onlyDoubted = false, isLate = false) {
      if (onlyDoubted && !doubted.has(key)) return run(key, work);
      for (let before = inProgress.get(key); before !== undefined; before = inProgress.get(key)) {
        await before.catch(() => undefined);
      }
      const at = newer.get(key) ?? older.get(key);
      const repeated = at !== undefined && now() - at < limits.windowMs;
      if (repeated || !isLate) doubted.delete(key);
      return repeated ? { repeated } : run(key, work);
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

/**
 * Evicts keys older than the window, and those beyond half of the limit. The map is in the order of
 * time.
 */
function evictOldest(times: Map<string, EpochMs>, now: EpochMs, limits: Limits): void {
  for (const [key, since] of times) {
    if (times.size <= limits.keysMax / 2 && now - since < limits.windowMs) break;
    times.delete(key);
  }
}
