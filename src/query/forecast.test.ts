// Forecasts over made series: batteries that are replaced, tanks that are filled, values that stay or go away.
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../model/instant.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { localHoursOf } from './expected-range.ts';
import { forecastOf } from './forecast.ts';

const zone = openTimeZones()('Europe/Zurich')!;
const horizonMs = 365 * dayMs;
const first = Date.UTC(2026, 0, 31, 23);

/** A forecast of hourly averages, from the local midnight of 1 February on. */
function forecast(days: number, valueAt: (day: number) => number, target: number) {
  const averages = Float64Array.from({ length: days * 24 }, (_, i) => valueAt(i / 24));
  const localHours = localHoursOf(first, averages.length, zone);
  const hours = { first, averages, minima: averages, maxima: averages, localHours };
  return forecastOf(hours, target, first + averages.length * hourMs, horizonMs);
}

/** A cycle of a day and noise without a trend. */
const wobble = (day: number): number => Math.sin(day * 2 * Math.PI) + Math.sin(day * 999) / 2;

test('contract 38: a battery that falls by 2 a day from 100 is at 20 on day 40, within its 80 %', () => {
  const found = forecast(20, (day) => 100 - 2 * day + wobble(day), 20);
  expect(found).toMatchObject({ days: 20, reason: null });
  expect(found.slopePerDay).toBeCloseTo(-2, 1);
  const reaches = Date.parse(found.reachesAt!);
  expect(Math.abs(reaches - (first + 40 * dayMs))).toBeLessThan(dayMs);
  expect(Date.parse(found.earliest!)).toBeLessThanOrEqual(reaches);
  expect(Date.parse(found.latest!)).toBeGreaterThanOrEqual(reaches);
});

test('days since the last jump against the trend count: a tank is filled twice', () => {
  const found = forecast(30, (day) => 90 - 4 * (day % 11.5) + wobble(day), 10);
  expect(found).toMatchObject({ days: 7, reason: null });
  expect(found.slopePerDay).toBeCloseTo(-4, 0);
});

test.each([
  ['TOO_FEW', () => forecast(6, (day) => 100 - day, 0), 6],
  ['FLAT', () => forecast(30, (day) => 50 + wobble(day * 1.37), 20), 30],
  ['AWAY', () => forecast(30, (day) => 50 + day, 20), 30],
  ['BEYOND_HORIZON', () => forecast(30, (day) => 50 - day / 100, 20), 30],
] as const)('%s has no time', (reason, made, days) => {
  const { value, slopePerDay: _, ...found } = made();
  expect(value).toBeTypeOf('number');
  expect(found).toEqual({ reachesAt: null, earliest: null, latest: null, days, reason });
});

test('without values there is none', () => {
  expect(forecast(20, () => Number.NaN, 5)).toMatchObject({
    ...{ value: null, slopePerDay: null, days: 0, reason: 'TOO_FEW' },
  });
});

test('the 80 % interval contains the day in about 80 of 100 made series', () => {
  let inside = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const noise = (day: number): number => {
      const x = Math.sin(Math.floor(day) * 78.233 + seed * 12.9898) * 43_758.5453;
      return (x - Math.floor(x) - 0.5) * 6;
    };
    const found = forecast(25, (day) => 80 - day + noise(day), 30);
    const at = first + 50 * dayMs;
    if (Date.parse(found.earliest!) <= at && Date.parse(found.latest!) >= at) inside++;
  }
  expect(inside).toBeGreaterThan(60);
});
