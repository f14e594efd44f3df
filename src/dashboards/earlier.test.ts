// Earlier period: days are those of the clock, also where it is changed.
import { expect, test } from 'vitest';
import { offsetAt, openTimeZone } from '../model/time-zone.ts';
import { earlierByMs, earlierInterval, placesOf } from './earlier.ts';

const hourMs = 3_600_000;
const zone = openTimeZone('Europe/Zurich');
const clock = (seconds: number) =>
  zone === undefined ? seconds : seconds + offsetAt(zone, seconds * 1_000) / 1_000;
const from = (iso: string) => ({ fromMs: Date.parse(iso), toMs: Date.parse(iso) + 24 * hourMs });

test.each([
  ['PREVIOUS', '2026-06-10T00:00:00Z', '2026-06-09T00:00:00.000Z'],
  ['P7D', '2026-06-10T12:00:00Z', '2026-06-03T12:00:00.000Z'],
  // Summer time began on 29 March: the same hour of the clock is an hour later in UTC.
  ['P7D', '2026-03-31T10:00:00Z', '2026-03-24T11:00:00.000Z'],
  ['P1M', '2026-03-31T10:00:00Z', '2026-02-28T11:00:00.000Z'],
  ['P1Y', '2026-06-10T12:00:00Z', '2025-06-10T12:00:00.000Z'],
  ['PT2H', '2026-03-29T02:00:00Z', '2026-03-29T00:00:00.000Z'],
])('%s before %s is %s', (compare, start, earlier) => {
  const interval = from(start);
  const byMs = earlierByMs(compare, interval, clock) ?? Number.NaN;
  const { fromMs, toMs } = earlierInterval(interval, byMs);
  expect(new Date(fromMs).toISOString()).toBe(earlier);
  expect(toMs - fromMs).toBe(24 * hourMs);
});

test('without a comparison, or with what is no duration, there is none', () => {
  const interval = from('2026-06-10T00:00:00Z');
  for (const compare of [undefined, null, '', 'LAST'])
    expect(earlierByMs(compare, interval, clock)).toBeUndefined();
});

test('earlier buckets are placed at the bucket in which they begin', () => {
  const starts = [0, 60_000, 120_000];
  const earlier = [-3_660_000, -3_600_000, -3_530_000, -3_480_000].map((ms) =>
    new Date(ms).toISOString(),
  );
  expect(placesOf(starts, earlier, hourMs)).toEqual([-1, 0, 1, 2]);
});
