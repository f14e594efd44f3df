// Token buckets: permits that refill with time, one bucket per key, and the request limit per credential (contract 0.2).
import type { EpochMs } from '../model/instant.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

export interface TokenBuckets {
  /** Takes one permit; false without a free permit. */
  take(key: string): boolean;
  /** Returns a permit that was taken for something that does not count. */
  giveBack(key: string): void;
  /** Whole permits left. */
  left(key: string): number;
  /** Whole seconds, at least 1, until this number of permits is available; by default one. */
  secondsUntil(key: string, permits?: number): number;
}

interface Bucket {
  permits: number;
  at: EpochMs;
}

/**
 * Every bucket starts full. Beyond `keysMax` keys the least recently used one is dropped, which
 * refills it.
 */
export function createTokenBuckets(rule: {
  readonly capacity: number;
  readonly perSecond: number;
  readonly keysMax: number;
  readonly now: () => EpochMs;
}): TokenBuckets {
  const { capacity, perSecond, keysMax, now } = rule;
  const known = createBoundedMap<string, Bucket>(keysMax);

  function filled(key: string): Bucket {
    const at = now();
    const bucket = known.get(key);
    if (bucket === undefined) return { permits: capacity, at };
    const gained = (Math.max(0, at - bucket.at) / 1_000) * perSecond;
    return { permits: Math.min(capacity, bucket.permits + gained), at };
  }

  function store(key: string, bucket: Bucket): void {
    if (bucket.permits >= capacity) known.delete(key);
    else known.set(key, bucket);
  }

  return {
    take(key) {
      const bucket = filled(key);
      const isTaken = bucket.permits >= 1;
      if (isTaken) bucket.permits -= 1;
      store(key, bucket);
      return isTaken;
    },
    giveBack(key) {
      const bucket = filled(key);
      store(key, { ...bucket, permits: Math.min(capacity, bucket.permits + 1) });
    },
    left: (key) => Math.floor(filled(key).permits),
    secondsUntil(key, permits = 1) {
      const missing = Math.min(permits, capacity) - filled(key).permits;
      return Math.max(1, Math.ceil(missing / perSecond));
    },
  };
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
  const limit = createTokenBuckets({
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
