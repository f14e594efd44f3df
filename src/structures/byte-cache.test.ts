// Byte cache: random calls keep to the limit, and the owner that holds most makes room.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteCache } from './caches.ts';

test('any calls: what is kept is what was set last, and never more than the limit', () => {
  const calls = fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 9 }).map(String),
      owner: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.integer({ min: 1, max: 60 }),
      isRemoved: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(calls, (list) => {
      const cache = new ByteCache<number>(100);
      const last = new Map<string, { value: number; bytes: number }>();
      for (const [value, { key, owner, bytes, isRemoved }] of list.entries()) {
        if (isRemoved) {
          cache.delete(key);
          last.delete(key);
        } else {
          cache.set(key, value, owner, bytes);
          last.set(key, { value, bytes });
        }
        let kept = 0;
        for (const each of cache.keys()) {
          expect(cache.get(each)).toBe(last.get(each)?.value);
          kept += last.get(each)?.bytes ?? 0;
        }
        expect(kept).toBeLessThanOrEqual(100);
      }
    }),
  );
});

test('an owner with many values makes room before one with few, least recently set first', () => {
  const cache = new ByteCache<string>(1_000);
  cache.set('calm', 'old', 'few', 100);
  for (let i = 0; i < 100; i++) cache.set(`large${i}`, 'new', 'many', 50);
  expect(cache.get('calm')).toBe('old');
  const kept = cache.keys().filter((key) => key.startsWith('large'));
  expect(kept).toEqual(
    Array.from({ length: kept.length }, (_, i) => `large${100 - kept.length + i}`),
  );
  expect(kept.length).toBeGreaterThanOrEqual(17);
  // What is set again is the last to go.
  cache.set(kept[0] ?? '', 'again', 'many', 50);
  cache.set('large100', 'new', 'many', 50);
  expect(cache.get(kept[0] ?? '')).toBe('again');
  expect(cache.get(kept[1] ?? '')).toBeUndefined();
});
