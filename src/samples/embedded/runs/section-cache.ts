// Section cache: decoded sections of pages, the least recently used evicted first, within a limit on their bytes.

export interface SectionCache {
  /** The value of the key; `make` makes it when it is not in the cache. `bytes` is what it counts as. */
  readonly get: <T extends object>(key: number, bytes: number, make: () => T) => T;
  readonly clear: () => void;
}

interface CachedSection {
  readonly value: object;
  readonly bytes: number;
}

/** A key always stands for values of the same type. */
export function createSectionCache(bytesMax: number): SectionCache {
  // A Map iterates in the order of insertion: the first entry was not used for the longest time.
  const sections = new Map<number, CachedSection>();
  let total = 0;

  function evict(): void {
    for (const [key, { bytes }] of sections) {
      if (total <= bytesMax) return;
      sections.delete(key);
      total -= bytes;
    }
  }

  return {
    get: <T extends object>(key: number, bytes: number, make: () => T): T => {
      const cached = sections.get(key);
      if (cached !== undefined) {
        sections.delete(key);
        sections.set(key, cached);
        return cached.value as T;
      }
      const value = make();
      sections.set(key, { value, bytes });
      total += bytes;
      evict();
      return value;
    },
    clear: () => {
      sections.clear();
      total = 0;
    },
  };
}
