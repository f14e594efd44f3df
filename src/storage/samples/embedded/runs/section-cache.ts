// Section cache: decoded sections of pages, those not used recently evicted first, within a limit on their bytes.

export interface SectionCache {
  /** The value of the key; `make` makes it when it is not in the cache. `bytes` is what it counts as. */
  readonly get: <T extends object>(key: number, bytes: number, make: () => T) => T;
  readonly clear: () => void;
}

interface CachedSection {
  readonly value: object;
  readonly bytes: number;
}

/**
 * A key always has values of the same type. What was not asked for while half of the limit was filled again is evicted first: a value that
 * is there is found without changing the order of others.
 */
export function createSectionCache(bytesMax: number): SectionCache {
  let recent = new Map<number, CachedSection>();
  let earlier = new Map<number, CachedSection>();
  let recentBytes = 0;

  function keep(key: number, section: CachedSection): void {
    if (recentBytes + section.bytes > bytesMax / 2) {
      earlier = recent;
      recent = new Map();
      recentBytes = 0;
    }
    recent.set(key, section);
    recentBytes += section.bytes;
  }

  return {
    get: <T extends object>(key: number, bytes: number, make: () => T): T => {
      const found = recent.get(key);
      if (found !== undefined) return found.value as T;
      const section = earlier.get(key) ?? { value: make(), bytes };
      keep(key, section);
      return section.value as T;
    },
    clear: () => {
      recent = new Map();
      earlier = new Map();
      recentBytes = 0;
    },
  };
}
