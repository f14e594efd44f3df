// Section cache: decoded sections of pages, those not used recently evicted first, within a limit on their bytes.

interface CachedSection {
  readonly value: object;
  readonly bytes: number;
}

// Section cache: decoded sections of pages, those not used recently evicted first, within a limit on their bytes.
/**
 * A key always has values of the same type. What was not asked for while half of the limit was
 * filled again is evicted first: a value that is there is found without changing the order of
 * others.
 */
export class SectionCache {
  readonly #bytesMax: number;
  #recent = new Map<number, CachedSection>();
  #earlier = new Map<number, CachedSection>();
  #recentBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The value of the key; `make` makes it when it is not in the cache. `bytes` is what it counts
   * as.
   */
  get<T extends object>(key: number, bytes: number, make: () => T): T {
    const found = this.#recent.get(key);
    if (found !== undefined) return found.value as T;
    const section = this.#earlier.get(key) ?? { value: make(), bytes };
    this.#keep(key, section);
    return section.value as T;
  }

  clear(): void {
    this.#recent = new Map();
    this.#earlier = new Map();
    this.#recentBytes = 0;
  }

  #keep(key: number, section: CachedSection): void {
    if (this.#recentBytes + section.bytes > this.#bytesMax / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(key, section);
    this.#recentBytes += section.bytes;
  }
}
