// Sort in turns: the same order as a stable sort, with pauses in between.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortInTurns } from './delivery-queries.ts';

test('property: the order is that of a stable sort', async () => {
  const items = fc.array(fc.nat(20), { maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(items, async (keys) => {
      const rows = keys.map((key, place) => ({ key, place }));
      const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
      const sorted = await sortInTurns(rows, compare, async () => undefined);
      expect(sorted).toEqual(rows.toSorted(compare));
    }),
  );
});

test('a long list is sorted in many turns, equal items in their order', async () => {
  const rows = Array.from({ length: 23_456 }, (_, place) => ({ key: (place * 7) % 1_000, place }));
  let pauses = 0;
  const sorted = await sortInTurns(
    rows,
    (a, b) => a.key - b.key,
    async () => (pauses += 1),
  );
  expect(sorted).toEqual(rows.toSorted((a, b) => a.key - b.key));
  expect(pauses).toBeGreaterThan(8);
});
