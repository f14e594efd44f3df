// Token buckets: permits that refill with time, one bucket per key such as a credential or an address.
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
