// Bars of dashboards: what they add up is what the platform would answer for the longer bucket.
import { expect, test } from 'vitest';
import { offsetAt, openTimeZone } from '../model/time-zone.ts';
import { barSeconds, barsOf, hasBars } from './bars.ts';

const hourly = (fromIso: string, count: number) =>
  Array.from({ length: count }, (_, n) =>
    new Date(Date.parse(fromIso) + n * 3_600_000).toISOString(),
  );
const day = 86_400;

test.each([
  ['AVG', { AVG: [10, null, 20], COUNT: [3, 0, 1] }, 12.5],
  ['MIN', { MIN: [4, null, 2] }, 2],
  ['MAX', { MAX: [4, null, 2] }, 4],
  ['SUM', { SUM: [4, null, 2] }, 6],
  ['COUNT', { COUNT: [4, 0, 2] }, 6],
  ['FIRST', { FIRST: [null, 7, 8] }, 7],
  ['LAST', { LAST: [7, 8, null] }, 8],
  ['INCREASE', { INCREASE: [4, null, 2] }, 6],
  ['P95', { P95: [4, 5, 6] }, null],
])('%s of the buckets of one bar', (accumulator, points, expected) => {
  const times = hourly('2026-03-01T00:00:00Z', 3);
  const bars = barsOf(times, points, { accumulator, seconds: day, clock: (at) => at });
  expect(bars.values).toEqual([expected]);
});

test('only what adds up has bars', () => {
  const names = ['AVG', 'SUM', 'INCREASE', 'P95', 'RATE', 'TIME_WEIGHTED_AVG'];
  expect(names.filter(hasBars)).toEqual(['AVG', 'SUM', 'INCREASE']);
});

test('a bar without any value is empty, not zero', () => {
  const points = { AVG: [null, null], COUNT: [0, 0] };
  const times = hourly('2026-03-01T00:00:00Z', 2);
  expect(
    barsOf(times, points, { accumulator: 'AVG', seconds: day, clock: (at) => at }).values,
  ).toEqual([null]);
});

test('days are those of the zone, also the ones of 23 and 25 hours', () => {
  const zurich = openTimeZone('Europe/Zurich')!;
  for (const [from, hours] of [
    ['2026-03-28T23:00:00Z', 23],
    ['2026-10-24T22:00:00Z', 25],
  ] as const) {
    const times = hourly(from, hours + 1);
    const points = { COUNT: times.map(() => 1) };
    const bars = barsOf(times, points, {
      accumulator: 'COUNT',
      seconds: day,
      clock: (at) => at + offsetAt(zurich, at * 1_000) / 1_000,
    });
    expect(bars.values).toEqual([hours, 1]);
    expect(bars.starts[0]).toBe(Date.parse(from) / 1_000);
  }
});

test.each([
  [3_600, 5, 300],
  [day, 120, 3_600],
  [7 * day, 900, 21_600],
  [30 * day, 3_600, day],
  [365 * day, day, 12 * day],
  [day, 7_200, 10_800],
])('a range of %d s in buckets of %d s has bars of %d s', (range, bucket, expected) => {
  expect(barSeconds(range, bucket)).toBe(expected);
});
