// Working set: entries in memory. Unclaimed ones are evicted, oldest claim first, those of large owners before others.

export interface WorkingSet<K, V> {
  readonly size: number;
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): boolean;
  clear(): void;
  /**
   * Returns the keys without an entry, and makes room for theirs. Entries of the given keys, which
   * are distinct, stay until the next claim, also when there are more than the limit.
   */
  claim(keys: Iterable<K>): K[];
}

/**
 * `evicted` is called for entries that make room. Owners with more than an equal share of the limit
 * make room first, as far as that is enough; without `ownerOf` all entries are of one owner.
 */
export function createWorkingSet<K, V>(
  max: number,
  evicted: (value: V, key: K) => void = () => undefined,
  ownerOf: (value: V) => string = () => '',
): WorkingSet<K, V> {
  // A Map iterates in the order of insertion: claimed entries are moved to the end.
  const entries = new Map<K, V>();

  const counts = new Map<string, number>();

  function count(value: V, by: number): void {
    const owner = ownerOf(value);
    const next = (counts.get(owner) ?? 0) + by;
    if (next === 0) counts.delete(owner);
    else counts.set(owner, next);
  }

  function remove(key: K): boolean {
    const value = entries.get(key);
    if (value !== undefined) count(value, -1);
    return entries.delete(key);
  }

  /** Evicts unclaimed entries, which are the first ones, until `left` went or none is left. */
  function evictOf(unclaimed: number, left: number, isLarge: (owner: string) => boolean): number {
    let seen = 0;
    let evictions = 0;
    for (const [key, value] of entries) {
      if (evictions >= left || seen >= unclaimed) break;
      seen += 1;
      if (!isLarge(ownerOf(value))) continue;
      remove(key);
      evicted(value, key);
      evictions += 1;
    }
    return evictions;
  }

  function evict(wanted: number, unclaimed: number): void {
    if (wanted <= 0) return;
    const share = max / counts.size;
    const large = new Set([...counts].filter(([, own]) => own > share).map(([owner]) => owner));
    const done = counts.size > 1 ? evictOf(unclaimed, wanted, (owner) => large.has(owner)) : 0;
    evictOf(unclaimed - done, wanted - done, () => true);
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key),
    set(key, value) {
      const known = entries.get(key);
      if (known !== undefined) count(known, -1);
      entries.set(key, value);
      count(value, 1);
    },
    delete: remove,
    clear() {
      entries.clear();
      counts.clear();
    },
    claim(keys) {
      const missing: K[] = [];
      let claimed = 0;
      for (const key of keys) {
        const value = entries.get(key);
        if (value === undefined) {
          missing.push(key);
          continue;
        }
        entries.delete(key);
        entries.set(key, value);
        claimed += 1;
      }
      const unclaimed = entries.size - claimed;
      evict(Math.min(unclaimed, entries.size + missing.length - max), unclaimed);
      return missing;
    },
  };
}
