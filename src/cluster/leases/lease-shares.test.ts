// Lease shares: fair within one lease, and gifts that end there.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { giftsOf, sharesOf } from './shared-leases.ts';

const nodeNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const held = fc.dictionary(fc.constantFrom(...nodeNames), fc.nat(300));
const live = fc.subarray(nodeNames, { minLength: 1 });

test.each([
  [256, ['a'], {}, { a: 256 }],
  [256, ['a', 'b', 'c'], {}, { a: 86, b: 85, c: 85 }],
  [256, ['a', 'b', 'c'], { a: 80, b: 90, c: 86 }, { a: 85, b: 86, c: 85 }],
  [1, ['a', 'b'], { b: 1 }, { a: 0, b: 1 }],
])('%i leases of %j with %j: %j', (total, nodes, counts, shares) => {
  const found = sharesOf(total, nodes, new Map(Object.entries(counts)));
  expect(Object.fromEntries(found)).toEqual(shares);
});

test('gifts lead to shares that differ by one, also from holders that take no leases', () => {
  fc.assert(
    fc.property(held, live, (record, nodes) => {
      const counts = new Map(Object.entries(record));
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const after = new Map(counts);
      for (const { from, to, count } of giftsOf(total, nodes, counts)) {
        expect(count).toBeGreaterThan(0);
        after.set(from, (after.get(from) ?? 0) - count);
        after.set(to, (after.get(to) ?? 0) + count);
      }
      const least = Math.floor(total / nodes.length);
      for (const [node, count] of after) {
        if (!nodes.includes(node)) expect(count).toBe(0);
        else expect([least, least + 1]).toContain(count);
      }
      expect(giftsOf(total, nodes, after)).toEqual([]);
    }),
  );
});

test('nothing moves while numbers differ by one', () => {
  const counts = new Map([
    ['b', 86],
    ['a', 85],
    ['c', 85],
  ]);
  expect(giftsOf(256, ['a', 'b', 'c'], counts)).toEqual([]);
  expect(giftsOf(256, [], counts)).toEqual([]);
});
