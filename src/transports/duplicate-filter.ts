// Duplicate filter: keeps keys of recent durable uplinks, so that a repeated uplink is stored once (contract 18).
import { type EpochMs, minuteMs } from '../model/instant.ts';

export const duplicateLimits = {
  /** Minimum time that a key is kept, unless there are too many. */
  windowMs: 10 * minuteMs,
  /** Keys kept; beyond the limit the oldest of the organization that has most are evicted. */
  keysMax: 400_000,
  /** Newest entries of the journal that are read at a start. */
  recoveredEntriesMax: 20_000,
} as const;

/** Of the keys of the owner that has most, this part is evicted at once. */
const droppedPart = 16;
const nobody = '';

export type Once<T> =
  | { readonly repeated: false; readonly outcome: T }
  | { readonly repeated: true };

export interface DuplicateFilter {
  /**
   * Runs the work, unless work with the same key succeeded within the window: then the call is a
   * repetition. `owner` is the organization whose share the key takes. A repetition waits for work in
   * progress, and runs when that fails. With
   * `onlyDoubted` only a doubted key counts, for senders that reuse keys and do not mark
   * repetitions. The repetition ends the doubt. With `isLate` it is the original, whose repetition
   * is still to come, or has passed it.
   */
  once<T>(
    key: string,
    work: () => Promise<T>,
    owner: string,
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
  /** By owner, each in the order of time; those of the journal have none. */
  const owners = new Map<string, Map<string, EpochMs>>();
  let size = 0;
  let lookedAt = now();
  const inProgress = new Map<string, Promise<unknown>>();
  const doubted = new Map<string, EpochMs>();

  function remember(key: string, at: EpochMs, owner: string): void {
    const keys = owners.get(owner) ?? new Map<string, EpochMs>();
    owners.set(owner, keys);
    if (keys.delete(key)) size--;
    keys.set(key, at);
    size++;
    dropOutdated(owner, keys, now());
    while (size > limits.keysMax) dropOfMost();
  }

  function dropOutdated(owner: string, keys: Map<string, EpochMs>, at: EpochMs): void {
    let looked = 0;
    for (const [key, since] of keys) {
      // Twice as many as come, so that none stays for long.
      if (at - since < limits.windowMs || looked++ >= 2) break;
      keys.delete(key);
      size--;
    }
    if (keys.size === 0) owners.delete(owner);
  }

  /** A part at once, so that owners are not compared for each key. */
  function dropOfMost(): void {
    let most: Map<string, EpochMs> | undefined;
    for (const keys of owners.values()) if (keys.size > (most?.size ?? 0)) most = keys;
    let left = Math.ceil((most?.size ?? 0) / droppedPart);
    for (const key of most?.keys() ?? []) {
      if (left-- <= 0) break;
      most?.delete(key);
      size--;
    }
  }

  /** Owners that send nothing more have no other time at which they are looked at. */
  function dropQuiet(at: EpochMs): void {
    if (at - lookedAt < limits.windowMs) return;
    lookedAt = at;
    for (const [owner, keys] of owners) {
      for (const [key, since] of keys) {
        if (at - since < limits.windowMs) break;
        keys.delete(key);
        size--;
      }
      if (keys.size === 0) owners.delete(owner);
    }
  }

  async function run<T>(key: string, work: () => Promise<T>, owner: string): Promise<Once<T>> {
    const running = work();
    inProgress.set(key, running);
    try {
      const outcome = await running;
      remember(key, now(), owner);
      return { repeated: false, outcome };
    } finally {
      if (inProgress.get(key) === running) inProgress.delete(key);
    }
  }

  return {
    async once(key, work, owner, onlyDoubted = false, isLate = false) {
      dropQuiet(now());
      if (onlyDoubted && !doubted.has(key)) return run(key, work, owner);
      for (let before = inProgress.get(key); before !== undefined; before = inProgress.get(key)) {
        await before.catch(() => undefined);
      }
      const at = owners.get(owner)?.get(key) ?? owners.get(nobody)?.get(key);
      const repeated = at !== undefined && now() - at < limits.windowMs;
      if (repeated || !isLate) doubted.delete(key);
      return repeated ? { repeated } : run(key, work, owner);
    },
    doubt(key) {
      evictOldest(doubted, now(), limits);
      doubted.delete(key);
      doubted.set(key, now());
    },
    remember: (key, at) => remember(key, at, nobody),
    get size() {
      return size;
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
