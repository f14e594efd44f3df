// Bounded map: at the limit, a new key evicts the oldest entry, or with `use` the least recently used one.

export interface BoundedMap<K, V> extends Iterable<readonly [K, V]> {
  readonly size: number;
  get(key: K): V | undefined;
  /**
   * As `get`, and the entry becomes the newest. With `use` for every read, the map evicts the least
   * recently used entry.
   */
  use(key: K): V | undefined;
  has(key: K): boolean;
  /** Stores the entry as the newest. Evicts the oldest entries beyond the limit, never this one. */
  set(key: K, value: V): void;
  delete(key: K): boolean;
  clear(): void;
  /** From the oldest to the newest. */
  values(): Iterable<V>;
}

/**
 * `evicted` is called for entries that make room, not for those that are deleted or replaced. `max`
 * is at least 1.
 */
export function createBoundedMap<K, V>(
  max: number,
  evicted: (value: V, key: K) => void = () => undefined,
): BoundedMap<K, V> {
  // A Map iterates in the order of insertion: the first entry is the oldest.
  const entries = new Map<K, V>();
  // A new iterator passes the places of all deleted entries, thousands in a large map. This one
  // continues behind the last evicted entry: no entry is ever added before it.
  let oldest = entries.entries();
  // Moving an entry to the end makes the Map grow and be compacted, and most uses are of the same key.
  let newest: K | undefined;

  function evictOldest(): void {
    while (entries.size > max) {
      const { value: entry } = oldest.next();
      if (entry === undefined) {
        oldest = entries.entries();
        continue;
      }
      const [key, value] = entry;
      entries.delete(key);
      evicted(value, key);
    }
  }

  function set(key: K, value: V): void {
    if (key !== newest) entries.delete(key);
    newest = key;
    entries.set(key, value);
    if (entries.size > max) evictOldest();
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key),
    use(key) {
      const value = entries.get(key);
      if (value !== undefined && key !== newest) set(key, value);
      return value;
    },
    has: (key) => entries.has(key),
    set,
    delete: (key) => entries.delete(key),
    clear: () => entries.clear(),
    values: () => entries.values(),
    [Symbol.iterator]: () => entries[Symbol.iterator](),
  };
}
