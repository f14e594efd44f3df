// The cache deletes exactly the values that contain a changed record, and never exceeds its limit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCacheByPart } from './caches.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ does: fc.constant('set' as const), key: name, parts: fc.subarray(['x', 'y', 'z']) }),
  fc.record({ does: fc.constant('forget' as const), key: name }),
  fc.record({ does: fc.constant('use' as const), key: name }),
  fc.record({ does: fc.constant('forgetPart' as const), part: fc.constantFrom('x', 'y', 'z') }),
);

test('any steps have the result of a plain list, and `removed` gets each removed value exactly once', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const gone: number[] = [];
      const cache = createCacheByPart<number>(3, (value) => gone.push(value));
      let plain: { key: string; value: number; parts: readonly string[] }[] = [];
      const wanted: number[] = [];
      const drop = (which: (one: (typeof plain)[number]) => boolean) => {
        wanted.push(...plain.filter(which).map(({ value }) => value));
        plain = plain.filter((one) => !which(one));
      };
      steps.forEach((one, i) => {
        if (one.does === 'set') {
          cache.set(one.key, i, one.parts);
          drop(({ key }) => key === one.key);
          if (plain.length >= 3) drop(({ key }) => key === plain[0]!.key);
          plain.push({ key: one.key, value: i, parts: one.parts });
        } else if (one.does === 'use') {
          const used = plain.filter(({ key }) => key === one.key);
          expect(cache.use(one.key)).toBe(used[0]?.value);
          plain = [...plain.filter(({ key }) => key !== one.key), ...used];
        } else if (one.does === 'forget') {
          cache.delete(one.key);
          drop(({ key }) => key === one.key);
        } else {
          cache.deleteUsersOf(one.part);
          drop(({ parts }) => parts.includes(one.part));
        }
        for (const key of 'abcde')
          expect(cache.get(key)).toBe(plain.find((kept) => kept.key === key)?.value);
      });
      expect(gone.sort((a, b) => a - b)).toEqual(wanted.sort((a, b) => a - b));
    }),
  );
});
