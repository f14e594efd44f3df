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
