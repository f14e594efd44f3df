// Bucket edges against Temporal, in zones with every kind of daylight saving; limits and hourly rounding.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayMs, formatInstant, hourMs } from '../model/instant.ts';
import { Problem } from '../model/problem.ts';
import { openTimeZone, type TimeZone } from '../model/time-zone.ts';
import { bucketsMax, seriesBuckets, singleBucket } from './bucket-plan.ts';

const names = [
  'UTC',
  'Europe/Zurich',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Havana',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];

function zoneOf(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
}

const at = (text: string) => Date.parse(text);
const zurich = zoneOf('Europe/Zurich');
const starts = (
  from: string,
  to: string,
  interval: string,
  zone = zurich,
  source: 'raw' | 'hours' = 'raw',
) =>
  seriesBuckets(source, { from: at(from), to: at(to) }, interval, zone).starts.map(formatInstant);

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** The start of the calendar bucket that holds the moment, by Temporal alone. */
function calendarStart(moment: number, timeZone: string, unit: string): number {
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone);
  const date = zoned.toPlainDate();
  const month = Math.floor((date.month - 1) / 3) * 3 + 1;
  const first: Record<string, Temporal.PlainDate> = {
    P1D: date,
    PT24H: date,
    P1W: date.subtract({ days: date.dayOfWeek - 1 }),
    P7D: date.subtract({ days: date.dayOfWeek - 1 }),
    P1M: date.with({ day: 1 }),
    P3M: date.with({ month, day: 1 }),
    P1Y: date.with({ month: 1, day: 1 }),
  };
  return first[unit]!.toZonedDateTime({ timeZone }).epochMilliseconds;
}

describe.each(names)('contract: calendar buckets in %s', (name) => {
  test.each(['P1D', 'PT24H', 'P1W', 'P7D', 'P1M', 'P3M', 'P1Y'])(
    '%s begins where Temporal says',
    (unit) => {
      const from = fc.integer({ min: Date.UTC(2008, 0, 1), max: Date.UTC(2026, 0, 1) });
      const span = fc.integer({ min: 1, max: 700 * dayMs });
      fc.assert(
        fc.property(
          from,
          span,
          fc.double({ min: 0, max: 1, noNaN: true }),
          (start, length, share) => {
            const plan = seriesBuckets(
              'raw',
              { from: start, to: start + length },
              unit,
              zoneOf(name),
            );
            const moment = start + Math.floor(share * (length - 1));
            const holding = plan.edges.findLast((edge) => edge <= moment);
            expect(holding).toBe(Math.max(start, calendarStart(moment, name, unit)));
            expect(plan.edges.at(-1)).toBe(start + length);
            for (let i = 1; i < plan.edges.length; i++)
              expect(plan.edges[i]! > plan.edges[i - 1]!).toBe(true);
          },
        ),
        { numRuns: 40 },
      );
    },
  );
});

describe.each(names)('contract: fixed buckets in %s', (name) => {
  // Minute by minute: an edge is where the zone's clock shows a multiple, or jumps over one.
  function scanned(from: number, to: number, bucketMs: number): number[] {
    const local = (ms: number) =>
      ms +
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(name).offsetNanoseconds / 1e6;
    const edges = [from];
    let before = local(from);
    for (let ms = from + 60_000; ms < to; ms += 60_000) {
      const now = local(ms);
      const jumpedOver =
        now > before + 60_000 &&
        Math.floor((now - 1) / bucketMs) > Math.floor((before + 59_999) / bucketMs);
      if (now % bucketMs === 0 || jumpedOver) edges.push(ms);
      before = now;
    }
    return [...edges, to];
  }

  test.each([
    ['PT1H', 1],
    ['PT2H', 2],
    ['PT5H', 5],
    ['PT90M', 1.5],
  ])('%s follows the clock across its changes', (unit, hours) => {
    const zone = zoneOf(name);
    const changes = zone
      .pieces(Date.UTC(2009, 0, 1), Date.UTC(2012, 11, 31))
      .map((piece) => piece.end)
      .filter(Number.isFinite);
    for (const change of [...changes.slice(0, 4), Date.UTC(2026, 5, 1)]) {
      const from = change - 9 * hourMs + 7 * 60_000;
      const to = change + 9 * hourMs;
      const plan = seriesBuckets('raw', { from, to }, unit, zone);
      expect(plan.edges.map(formatInstant)).toEqual(
        scanned(from, to, hours * hourMs).map(formatInstant),
      );
    }
  });
});

test('contract: buckets shorter than an hour are aligned to the epoch in every zone, and the first is clipped', () => {
  expect(
    starts('2026-03-01T10:07:00Z', '2026-03-01T11:00:00Z', 'PT15M', zoneOf('Asia/Kathmandu')),
  ).toEqual(['10:07', '10:15', '10:30', '10:45'].map((time) => `2026-03-01T${time}:00.000Z`));
});

test('contract: the hour that comes twice in autumn is two buckets, the one skipped in spring none', () => {
  expect(starts('2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z', 'PT1H')).toHaveLength(3);
  expect(starts('2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00', 'PT1H')).toHaveLength(23);
});

test('contract 21: hourly queries widen to whole hours, the first stamp too', () => {
  expect(starts('2026-03-01T10:20:00Z', '2026-03-01T12:01:00Z', 'PT1H', zurich, 'hours')).toEqual(
    ['10', '11', '12'].map((hour) => `2026-03-01T${hour}:00:00.000Z`),
  );
  const kpi = singleBucket('hours', {
    from: at('2026-03-01T10:20:00Z'),
    to: at('2026-03-01T12:01:00Z'),
  });
  expect(kpi.edges.map(formatInstant)).toEqual([
    '2026-03-01T10:00:00.000Z',
    '2026-03-01T13:00:00.000Z',
  ]);
});

test('contract 35: an hour cut by a bucket edge belongs to the bucket of its start', () => {
  const interval = { from: at('2026-03-01T00:00:00Z'), to: at('2026-03-03T00:00:00Z') };
  const plan = seriesBuckets('hours', interval, 'P1D', zoneOf('Asia/Kolkata'));
  expect(plan.starts.map(formatInstant)).toEqual([
    '2026-03-01T00:00:00.000Z',
    '2026-03-01T18:30:00.000Z',
    '2026-03-02T18:30:00.000Z',
  ]);
  expect(plan.edges.map(formatInstant)).toEqual([
    '2026-03-01T00:00:00.000Z',
    '2026-03-01T19:00:00.000Z',
    '2026-03-02T19:00:00.000Z',
    '2026-03-03T00:00:00.000Z',
  ]);
});

test('contract 35: a bucket in which no hour starts has a point and asks the store for nothing', () => {
  const interval = { from: at('2026-03-01T10:00:00Z'), to: at('2026-03-01T12:00:00Z') };
  const plan = seriesBuckets('hours', interval, 'PT1H', zoneOf('Asia/Kolkata'));
  expect(plan.starts).toHaveLength(3);
  expect(plan.edges).toHaveLength(3);
  expect(plan.places).toEqual([0, 1, -1]);
});

test('review behaviour 4: 10,000 buckets are answered, one more refused with an interval that works', () => {
  const from = at('2026-01-01T00:00:00Z');
  const plan = (hours: number, unit: string) =>
    seriesBuckets('raw', { from, to: from + hours * hourMs }, unit, zoneOf('UTC'));
  expect(plan(bucketsMax, 'PT1H').starts).toHaveLength(bucketsMax);
  const refused = problemOf(() => plan(bucketsMax + 1, 'PT1H'));
  expect([refused.status, refused.message]).toEqual([
    400,
    expect.stringContaining('at least PT2H'),
  ]);
  expect(plan(bucketsMax + 1, 'PT2H').starts.length).toBeLessThan(bucketsMax);
  expect(problemOf(() => plan(1_000_000, 'PT1S')).message).toContain('3600000000 buckets');
});

test('interface 4.7: hourly aggregates need at least one hour', () => {
  const hourly = (unit: string) =>
    starts('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', unit, zurich, 'hours');
  expect(problemOf(() => hourly('PT59M')).message).toContain('whole hours');
  expect(hourly('PT60M')).toHaveLength(24);
});

test.each([
  ['P1M1D', 'cannot be combined'],
  ['PT1X', 'expected at character 4'],
  ['hour', 'must start with P'],
])('bucketInterval %s is refused with the reason', (unit, reason) => {
  const refused = problemOf(() => starts('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', unit));
  expect([refused.status, refused.code, refused.message]).toEqual([
    400,
    '40031_BAD_BUCKET_INTERVAL',
    expect.stringContaining(reason),
  ]);
});
