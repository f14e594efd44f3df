// Exploration in the address: what is read of it, and whether raw values or hours are read.
import { expect, test } from 'vitest';
import { planOf, readExploreSearch } from './explore-search.ts';

test('names are strings, each once, and what is unknown is omitted', () => {
  expect(
    readExploreSearch({
      keys: ['a', 1, 'a'],
      with: 'x',
      acc: 'AVG',
      source: 'auto',
      bucket: 'P1Q',
    }),
  ).toEqual({ keys: ['a', '1'], acc: 'AVG' });
});

const day = { fromMs: 0, toMs: 86_400_000 };
const month = { fromMs: 0, toMs: 30 * 86_400_000 };

test.each([
  [{}, day, 'PT2M', 'raw', 'short'],
  [{}, month, 'PT1H', 'hourly', 'whole'],
  [{ source: 'raw' }, month, 'PT1H', 'raw', 'wanted'],
  [{ source: 'hourly' }, day, 'PT2M', 'raw', 'impossible'],
  [{ bucket: 'PT1H' }, day, 'PT1H', 'hourly', 'whole'],
] as const)('%o', (search, interval, iso, source, why) => {
  const plan = planOf(search, interval);
  expect([plan.bucket.iso, plan.source, plan.why]).toEqual([iso, source, why]);
});
