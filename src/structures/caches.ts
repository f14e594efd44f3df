// Caches: bounded by entries or bytes, deleted by the records that values contain, and with claims.

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

// Byte cache: values in memory up to a number of bytes, shared among owners.

interface Kept<V> {
  readonly value: V;
  readonly owner: string;
  readonly bytes: number;
}

/** How much is freed at once, so that the largest owner is looked for rarely. */
const freedShare = 1 / 64;

/**
 * The owner that holds most makes room, with what it set least recently, so that none loses values
 * because of another that holds more.
 */
export class ByteCache<V> {
  readonly #bytesMax: number;
  readonly #kept = new Map<string, Kept<V>>();
  readonly #owners = new Map<
    string,
    {
      /** Keys, least recently set first. */
      readonly keys: Set<string>;
      bytes: number;
    }
  >();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): V | undefined {
    return this.#kept.get(key)?.value;
  }

  keys(): string[] {
    return [...this.#kept.keys()];
  }

  set(key: string, value: V, owner: string, bytes: number): void {
    this.delete(key);
    let owned = this.#owners.get(owner);
    if (owned === undefined) this.#owners.set(owner, (owned = { keys: new Set(), bytes: 0 }));
    owned.keys.add(key);
    owned.bytes += bytes;
    this.#kept.set(key, { value, owner, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#makeRoom();
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
    const owned = this.#owners.get(kept.owner);
    if (owned === undefined) return;
    owned.keys.delete(key);
    owned.bytes -= kept.bytes;
    if (owned.keys.size === 0) this.#owners.delete(kept.owner);
  }

  #makeRoom(): void {
    const bytesMax = this.#bytesMax * (1 - freedShare);
    while (this.#bytes > bytesMax && this.#kept.size > 0) {
      const [largest, second] = [...this.#owners.values()].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      const least = second?.bytes ?? 0;
      for (const key of largest.keys) {
        this.delete(key);
        if (this.#bytes <= bytesMax || largest.bytes < least) break;
      }
    }
  }
}

// Cache by part: a bounded cache whose values are also deleted by the records that they contain, also while they are read.

interface CacheByPart<V> {
  readonly get: (key: string) => V | undefined;
  /** As `get`, and the value becomes the newest. */
  readonly use: (key: string) => V | undefined;
  /**
   * Stores the value; `parts` are the ids of the records that it contains. Evicts the oldest value
   * at the limit.
   */
  readonly set: (key: string, value: V, parts: readonly string[]) => void;
  readonly delete: (key: string) => void;
  /** Deletes the values that contain the record. */
  readonly deleteUsersOf: (part: string) => void;
  readonly clear: () => void;
}

/** `removed` is called for every value that was deleted, evicted or replaced. */
export function createCacheByPart<V>(
  max: number,
  removed: (value: V) => void = () => undefined,
): CacheByPart<V> {
  type Entry = { readonly value: V; readonly parts: readonly string[] };
  const kept = createBoundedMap<string, Entry>(max, (entry, key) => unlink(key, entry));
  const keysOf = new Map<string, Set<string>>();

  function remove(key: string): void {
    const known = kept.get(key);
    if (known === undefined) return;
    kept.delete(key);
    unlink(key, known);
  }

  function unlink(key: string, { value, parts }: Entry): void {
    for (const part of parts) {
      const keys = keysOf.get(part);
      if (keys?.delete(key) === true && keys.size === 0) keysOf.delete(part);
    }
    removed(value);
  }

  return {
    get: (key) => kept.get(key)?.value,
    use: (key) => kept.use(key)?.value,
    set(key, value, parts) {
      remove(key);
      kept.set(key, { value, parts });
      for (const part of parts) {
        const keys = keysOf.get(part);
        if (keys === undefined) keysOf.set(part, new Set([key]));
        else keys.add(key);
      }
    },
    delete: remove,
    deleteUsersOf(part) {
      for (const key of [...(keysOf.get(part) ?? [])]) remove(key);
    },
    clear() {
      for (const [, { value }] of kept) removed(value);
      kept.clear();
      keysOf.clear();
    },
  };
}

// Record changes: which records changed since a read began, so that a read is discarded only for what it contains.

/** Reads take milliseconds. One that lasts longer than this many changes is not cached. */
const changesKept = 20_000;

export class RecordChanges {
  #revision = 0;
  #evicted = 0;
  readonly #revisions: BoundedMap<string, number>;

  constructor(max = changesKept) {
    this.#revisions = createBoundedMap<string, number>(max, (oldest) => {
      this.#evicted = oldest;
    });
  }

  /** Number of changes so far. */
  get revision(): number {
    return this.#revision;
  }

  add(recordId: string): void {
    this.#revision += 1;
    this.#revisions.set(recordId, this.#revision);
  }

  /** Any record may have changed. */
  addAll(): void {
    this.#revision += 1;
    this.#evicted = this.#revision;
    this.#revisions.clear();
  }

  /** Whether the record may have changed after the revision. */
  hasChanged(recordId: string, since: number): boolean {
    return (this.#revisions.get(recordId) ?? this.#evicted) > since;
  }
}

// Working set: entries in memory. Unclaimed ones are evicted, oldest claim first, those of large owners before others.

/**
 * `evicted` is called for entries that make room. Owners with more than an equal share of the
 * limit make room first, as far as that is enough; without `ownerOf` all entries are of one
 * owner.
 */
export class WorkingSet<K, V> {
  readonly #max: number;
  readonly #evicted: (value: V, key: K) => void;
  readonly #ownerOf: (value: V) => string;
  // A Map iterates in the order of insertion: claimed entries are moved to the end.
  readonly #entries = new Map<K, V>();
  readonly #counts = new Map<string, number>();

  constructor(
    max: number,
    evicted: (value: V, key: K) => void = () => undefined,
    ownerOf: (value: V) => string = () => '',
  ) {
    this.#max = max;
    this.#evicted = evicted;
    this.#ownerOf = ownerOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    const known = this.#entries.get(key);
    if (known !== undefined) this.#count(known, -1);
    this.#entries.set(key, value);
    this.#count(value, 1);
  }

  delete(key: K): boolean {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#count(value, -1);
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#counts.clear();
  }

  /**
   * Returns the keys without an entry, and makes room for theirs. Entries of the given keys, which
   * are distinct, stay until the next claim, also when there are more than the limit.
   */
  claim(keys: Iterable<K>): K[] {
    const missing: K[] = [];
    let claimed = 0;
    for (const key of keys) {
      const value = this.#entries.get(key);
      if (value === undefined) {
        missing.push(key);
        continue;
      }
      this.#entries.delete(key);
      this.#entries.set(key, value);
      claimed += 1;
    }
    const unclaimed = this.#entries.size - claimed;
    this.#evict(Math.min(unclaimed, this.#entries.size + missing.length - this.#max), unclaimed);
    return missing;
  }

  #count(value: V, by: number): void {
    const owner = this.#ownerOf(value);
    const next = (this.#counts.get(owner) ?? 0) + by;
    if (next === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, next);
  }

  /** Evicts unclaimed entries, which are the first ones, until `left` went or none is left. */
  #evictOf(unclaimed: number, left: number, isLarge: (owner: string) => boolean): number {
    let seen = 0;
    let evictions = 0;
    for (const [key, value] of this.#entries) {
      if (evictions >= left || seen >= unclaimed) break;
      seen += 1;
      if (!isLarge(this.#ownerOf(value))) continue;
      this.delete(key);
      this.#evicted(value, key);
      evictions += 1;
    }
    return evictions;
  }

  #evict(wanted: number, unclaimed: number): void {
    if (wanted <= 0) return;
    const share = this.#max / this.#counts.size;
    const large = new Set(
      [...this.#counts].filter(([, own]) => own > share).map(([owner]) => owner),
    );
    const done =
      this.#counts.size > 1 ? this.#evictOf(unclaimed, wanted, (owner) => large.has(owner)) : 0;
    this.#evictOf(unclaimed - done, wanted - done, () => true);
  }
}
