// Period before: intervals next to each other, and series of which one is moved to the times of the other.
import { expect, test } from 'vitest';
import { averageOf, movedTo, periodBefore } from './use-series.ts';

const hourMs = 3_600_000;
const hour = (at: number) => new Date(at * hourMs).toISOString();
const seriesOf = (first: number, values: readonly (number | null)[]) => ({
  deviceId: 'd',
  topic: 'default',
  dataKey: 't',
  timestamps: values.map((_, at) => hour(first + at)),
  dataPoints: { AVG: [...values] },
});

test('the period before has the same length and ends where the other begins', () => {
  expect(periodBefore({ fromMs: 100, toMs: 130 })).toEqual({ fromMs: 70, toMs: 100 });
});

test.each([
  ['buckets that match', 3, seriesOf(0, [1, 2, 3]), [1, 2, 3]],
  ['empty buckets stay empty', 3, seriesOf(0, [1, null, 3]), [1, null, 3]],
  ['a bucket too many at the end is omitted', 3, seriesOf(0, [1, 2, 3, 4]), [1, 2, 3]],
  ['a bucket before the first is omitted', 4, seriesOf(-2, [9, 1, 2]), [1, 2, null]],
  ['buckets that begin half an hour later', 2.5, seriesOf(1, [1, 2]), [1, 2, null]],
])('an earlier series is moved to later times: %s', (_, spanHours, earlier, moved) => {
  const later = seriesOf(3, [0, 0, 0]);
  const answer = movedTo(later, earlier, spanHours * hourMs);
  expect(answer.timestamps).toEqual(later.timestamps);
  expect(answer.dataPoints['AVG']).toEqual(moved);
});

test('the average weighs buckets by their samples', () => {
  expect(averageOf({ dataPoints: { AVG: [10, null, 40], COUNT: [3, 0, 1] } })).toBe(17.5);
  expect(averageOf({ dataPoints: { AVG: [null], COUNT: [0] } })).toBeUndefined();
});
