// Expected band: bounds at the times of buckets, and the dashed line of a forecast.
import { expect, test } from 'vitest';
import { bandOf, withForecast } from './expected-band.tsx';

const hour = 3_600;
const range = {
  timestamps: [0, 1, 2, 3].map((at) => new Date(at * hour * 1_000).toISOString()),
  lower: [1, 2, null, 0],
  upper: [5, 4, null, 9],
};

test('a bucket has the outermost bounds of its hours, and a shorter one those of its hour', () => {
  expect(bandOf([0, hour / 2, hour], { ...range })).toEqual({
    least: [1, 1, 2],
    greatest: [5, 5, 4],
  });
  expect(bandOf([0, 2 * hour, 4 * hour], { ...range })).toEqual({
    least: [1, 0, 0],
    greatest: [5, 9, 9],
  });
});

test('a forecast ends at its target, or as far ahead as the chart looks back', () => {
  const times = [0, 86_400, 172_800];
  const labelOf = (label: string) => `Forecast for ${label}`;
  const line = { label: 'Battery', color: '--c1', values: [30, 28, null] } as const;
  const reachesAt = new Date(3 * 86_400_000).toISOString();
  const found = withForecast(times, [line], { slopePerDay: -2, reachesAt }, labelOf);
  expect(found.times).toEqual([...times, 3 * 86_400]);
  expect(found.lines.map(({ values }) => values)).toEqual([
    [30, 28, null, null],
    [null, 28, undefined, 24],
  ]);
  const late = withForecast(
    times,
    [line],
    {
      slopePerDay: -2,
      reachesAt: '2030-01-01T00:00:00.000Z',
    },
    labelOf,
  );
  expect(late.times.at(-1)).toBe(4 * 86_400);
  expect(
    withForecast(times, [line], { slopePerDay: null, reachesAt: null }, labelOf).lines,
  ).toEqual([line]);
});
