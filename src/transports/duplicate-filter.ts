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

type Once<T> = { readonly repeated: false; readonly outcome: T } | { readonly repeated: true };

type Limits = Pick<
  { readonly [Name in keyof typeof duplicateLimits]: number },
  'windowMs' | 'keysMax'
>;

/**
 * `windowMs` must not exceed the time in which senders repeat, because a reused key counts as a
 * repetition.
 */
export class DuplicateFilter {
  readonly #now: () => EpochMs;
  readonly #limits: Limits;
  /** By owner, each in the order of time; those of the journal have none. */
  readonly #owners = new Map<string, Map<string, EpochMs>>();
  #size = 0;
  #lookedAt: number;
  readonly #inProgress = new Map<string, Promise<unknown>>();
  readonly #doubted = new Map<string, EpochMs>();

  constructor(now: () => EpochMs, limits: Limits = duplicateLimits) {
    this.#now = now;
    this.#limits = limits;
    this.#lookedAt = now();
  }

  /**
   * Runs the work, unless work with the same key succeeded within the window: then the call is a
   * repetition. `owner` is the organization whose share the key takes. A repetition waits for work
   * in progress, and runs when that fails. With `onlyDoubted` only a doubted key counts, for
   * senders that reuse keys and do not mark repetitions. The repetition ends the doubt. With
   * `isLate` it is the original, whose repetition is still to come, or has passed it.
   */
  readonly once = async <T>(
    key: string,
    work: () => Promise<T>,
    owner: string,
    onlyDoubted: boolean = false,
    isLate: boolean = false,
  ): Promise<Once<T>> => {
    this.#dropQuiet(this.#now());
    if (onlyDoubted && !this.#doubted.has(key)) return this.#run(key, work, owner);
    for (
      let before = this.#inProgress.get(key);
      before !== undefined;
      before = this.#inProgress.get(key)
    ) {
      await before.catch(() => undefined);
    }
    const at = this.#owners.get(owner)?.get(key) ?? this.#owners.get(nobody)?.get(key);
    const repeated = at !== undefined && this.#now() - at < this.#limits.windowMs;
    if (repeated || !isLate) this.#doubted.delete(key);
    return repeated ? { repeated } : this.#run(key, work, owner);
  };

  /** The sender of this key may have missed the acknowledgement, and may repeat it without a mark. */
  readonly doubt = (key: string): void => {
    evictOldest(this.#doubted, this.#now(), this.#limits);
    this.#doubted.delete(key);
    this.#doubted.set(key, this.#now());
  };

  /** Adds a durable key that was read from the journal at a start. */
  remember(key: string, at: EpochMs): void {
    this.#remember(key, at, nobody);
  }

  get size(): number {
    return this.#size;
  }

  #remember(key: string, at: EpochMs, owner: string): void {
    const keys = this.#owners.get(owner) ?? new Map<string, EpochMs>();
    this.#owners.set(owner, keys);
    if (keys.delete(key)) this.#size--;
    keys.set(key, at);
    this.#size++;
    this.#dropOutdated(owner, keys, this.#now());
    while (this.#size > this.#limits.keysMax) this.#dropOfMost();
  }

  #dropOutdated(owner: string, keys: Map<string, EpochMs>, at: EpochMs): void {
    let looked = 0;
    for (const [key, since] of keys) {
      // Twice as many as come, so that none stays for long.
      if (at - since < this.#limits.windowMs || looked++ >= 2) break;
      keys.delete(key);
      this.#size--;
    }
    if (keys.size === 0) this.#owners.delete(owner);
  }

  /** A part at once, so that owners are not compared for each key. */
  #dropOfMost(): void {
    let most: Map<string, EpochMs> | undefined;
    for (const keys of this.#owners.values()) if (keys.size > (most?.size ?? 0)) most = keys;
    let left = Math.ceil((most?.size ?? 0) / droppedPart);
    for (const key of most?.keys() ?? []) {
      if (left-- <= 0) break;
      most?.delete(key);
      this.#size--;
    }
  }

  /** Owners that send nothing more have no other time at which they are looked at. */
  #dropQuiet(at: EpochMs): void {
    if (at - this.#lookedAt < this.#limits.windowMs) return;
    this.#lookedAt = at;
    for (const [owner, keys] of this.#owners) {
      for (const [key, since] of keys) {
        if (at - since < this.#limits.windowMs) break;
        keys.delete(key);
        this.#size--;
      }
      if (keys.size === 0) this.#owners.delete(owner);
    }
  }

  async #run<T>(key: string, work: () => Promise<T>, owner: string): Promise<Once<T>> {
    const running = work();
    this.#inProgress.set(key, running);
    try {
      const outcome = await running;
      this.#remember(key, this.#now(), owner);
      return { repeated: false, outcome };
    } finally {
      if (this.#inProgress.get(key) === running) this.#inProgress.delete(key);
    }
  }
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
