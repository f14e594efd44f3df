// A bounded cache whose values are forgotten by what they are made of, so that a change costs what it concerns and nothing else.
import { createBoundedMap } from '../structures/bounded-map.ts';

export interface CacheByPart<V> {
  get(key: string): V | undefined;
  /** Keeps the value; `parts` are the ids of the records that it is made of. The oldest one makes room. */
  set(key: string, value: V, parts: readonly string[]): void;
  forget(key: string): void;
  forgetPart(part: string): void;
}

/** `forgotten` is told of every value that is here no more, replaced ones too. */
export function cacheByPart<V>(
  max: number,
  forgotten: (value: V) => void = () => undefined,
): CacheByPart<V> {
  type Entry = { readonly value: V; readonly parts: readonly string[] };
  const kept = createBoundedMap<string, Entry>(max, (entry, key) => unlink(key, entry));
  const keysOf = new Map<string, Set<string>>();

  function forget(key: string): void {
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
    forgotten(value);
  }

  return {
    get: (key) => kept.get(key)?.value,
    set(key, value, parts) {
      forget(key);
      kept.set(key, { value, parts });
      for (const part of parts) {
        const keys = keysOf.get(part);
        if (keys === undefined) keysOf.set(part, new Set([key]));
        else keys.add(key);
      }
    },
    forget,
    forgetPart(part) {
      for (const key of [...(keysOf.get(part) ?? [])]) forget(key);
    },
  };
}
