// Working set: entries in memory. Unclaimed entries are evicted, oldest claim first.

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

/** `evicted` is called for entries that make room. */
export function createWorkingSet<K, V>(
  max: number,
  evicted: (value: V, key: K) => void = () => undefined,
): WorkingSet<K, V> {
  // A Map iterates in the order of insertion: claimed entries are moved to the end.
  const entries = new Map<K, V>();

  function evict(count: number): void {
    let left = count;
    for (const [key, value] of entries) {
      if (left <= 0) return;
      left -= 1;
      entries.delete(key);
      evicted(value, key);
    }
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    delete: (key) => entries.delete(key),
    clear: () => entries.clear(),
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
      evict(Math.min(entries.size - claimed, entries.size + missing.length - max));
      return missing;
    },
  };
}
