// Token buckets: permits that refill with time, one bucket per key, and the request limit per credential (contract 0.2).
import type { EpochMs } from '../model/instant.ts';
import { type BoundedMap, createBoundedMap } from '../structures/bounded-map.ts';

interface Bucket {
  permits: number;
  at: EpochMs;
}

/**
 * Every bucket starts full. Beyond `keysMax` keys the least recently used one is dropped, which
 * refills it.
 */
export class TokenBuckets {
  readonly #capacity: number;
  readonly #perSecond: number;
  readonly #now: () => EpochMs;
  readonly #known: BoundedMap<string, Bucket>;

  constructor(rule: {
    readonly capacity: number;
    readonly perSecond: number;
    readonly keysMax: number;
    readonly now: () => EpochMs;
  }) {
    const { capacity, perSecond, keysMax, now } = rule;
    this.#capacity = capacity;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#known = createBoundedMap<string, Bucket>(keysMax);
  }

  /** Takes one permit; false without a free permit. */
  take(key: string): boolean {
    const bucket = this.#filled(key);
    const isTaken = bucket.permits >= 1;
    if (isTaken) bucket.permits -= 1;
    this.#store(key, bucket);
    return isTaken;
  }

  /** Returns a permit that was taken for something that does not count. */
  giveBack(key: string): void {
    const bucket = this.#filled(key);
    this.#store(key, { ...bucket, permits: Math.min(this.#capacity, bucket.permits + 1) });
  }

  /** Whole permits left. */
  left(key: string): number {
    return Math.floor(this.#filled(key).permits);
  }

  /** Whole seconds, at least 1, until this number of permits is available; by default one. */
  secondsUntil(key: string, permits: number = 1): number {
    const missing = Math.min(permits, this.#capacity) - this.#filled(key).permits;
    return Math.max(1, Math.ceil(missing / this.#perSecond));
  }

  #filled(key: string): Bucket {
    const at = this.#now();
    const bucket = this.#known.get(key);
    if (bucket === undefined) return { permits: this.#capacity, at };
    const gained = (Math.max(0, at - bucket.at) / 1_000) * this.#perSecond;
    return { permits: Math.min(this.#capacity, bucket.permits + gained), at };
  }

  #store(key: string, bucket: Bucket): void {
    if (bucket.permits >= this.#capacity) this.#known.delete(key);
    else this.#known.set(key, bucket);
  }
}

// Request limit: a token bucket per credential, reported in the headers of contract 0.2.

const credentialsMax = 100_000;

interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that are possible now; 0 only when the next one would be rejected. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full. */
  readonly resetSeconds: number;
  /** Whole seconds until the next request is possible. */
  readonly retryAfterSeconds: number;
}

export type RequestLimit = (credentialId: string) => Allowance;

/** Undefined when there is no limit. The requests of one second may arrive at the same time. */
export function createRequestLimit(
  perSecond: number,
  now: () => EpochMs,
): RequestLimit | undefined {
  if (perSecond === 0) return undefined;
  const limit = new TokenBuckets({
    capacity: perSecond,
    perSecond,
    keysMax: credentialsMax,
    now,
  });
  return (id) => {
    const allowed = limit.take(id);
    return {
      allowed,
      limit: perSecond,
      remaining: limit.left(id),
      resetSeconds: limit.secondsUntil(id, perSecond),
      retryAfterSeconds: limit.secondsUntil(id),
    };
  };
}
