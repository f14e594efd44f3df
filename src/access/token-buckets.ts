// Buckets of permits that fill up again with time: how often each key, such as a credential or an address, may do something.
import type { EpochMs } from '../model/instant.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

export interface Buckets {
  /** Takes one permit; false when there is none. */
  take(key: string): boolean;
  /** Gives back what was taken for something that turned out not to count. */
  giveBack(key: string): void;
  /** Whole permits left. */
  left(key: string): number;
  /** Whole seconds, at least 1, until there are so many permits, by default one. */
  secondsUntil(key: string, permits?: number): number;
}

interface Bucket {
  permits: number;
  at: EpochMs;
}

/** Every bucket starts full. Beyond `keysMax` the key that was quiet longest starts afresh. */
export function buckets(rule: {
  readonly capacity: number;
  readonly perSecond: number;
  readonly keysMax: number;
  readonly now: () => EpochMs;
}): Buckets {
  const { capacity, perSecond, keysMax, now } = rule;
  const known = createBoundedMap<string, Bucket>(keysMax);

  const filled = (key: string): Bucket => {
    const at = now();
    let bucket = known.get(key);
    if (bucket === undefined) return { permits: capacity, at };
    const gained = (Math.max(0, at - bucket.at) / 1_000) * perSecond;
    bucket = { permits: Math.min(capacity, bucket.permits + gained), at };
    return bucket;
  };
  const keep = (key: string, bucket: Bucket): void => {
    if (bucket.permits >= capacity) known.delete(key);
    else known.set(key, bucket);
  };

  return {
    take(key) {
      const bucket = filled(key);
      const may = bucket.permits >= 1;
      keep(key, may ? { ...bucket, permits: bucket.permits - 1 } : bucket);
      return may;
    },
    giveBack(key) {
      const bucket = filled(key);
      keep(key, { ...bucket, permits: Math.min(capacity, bucket.permits + 1) });
    },
    left: (key) => Math.floor(filled(key).permits),
    secondsUntil(key, permits = 1) {
      const missing = Math.min(permits, capacity) - filled(key).permits;
      return Math.max(1, Math.ceil(missing / perSecond));
    },
  };
}
