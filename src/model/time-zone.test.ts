// Time zones: the pieces of constant offset, compared with Temporal.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { momentOfLocal, offsetAt, openTimeZone, type TimeZone } from './time-zone.ts';

const names = [
  'UTC',
  'Europe/Zurich',
  'Europe/London',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'America/Havana',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Auckland',
  'Africa/Casablanca',
  'Asia/Tehran',
  'Etc/GMT+3',
  '+05:30',
];

function zoneOf(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
}

test.each(names)(
  '%s has the offsets that Temporal tells, at any moment and around each transition',
  (name) => {
    const zone = zoneOf(name);
    const moment = fc.integer({ min: Date.UTC(1950, 0, 1), max: Date.UTC(2090, 0, 1) });
    const offsetOf = (at: number) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name).offsetNanoseconds / 1e6;
    fc.assert(
      fc.property(moment, (at) => {
        expect(offsetAt(zone, at)).toBe(offsetOf(at));
      }),
      { numRuns: 60 },
    );
    for (const { start, end } of zone.pieces(Date.UTC(2005, 0, 1), Date.UTC(2026, 0, 1))) {
      for (const edge of [start, end].filter(Number.isFinite)) {
        for (const at of [edge - 1, edge]) expect(offsetAt(zone, at)).toBe(offsetOf(at));
      }
    }
  },
);

test.each(names)('%s is covered without gap or overlap', (name) => {
  for (const [from, to] of [
    [Date.UTC(2010, 0, 1), Date.UTC(2020, 0, 1)],
    [Date.UTC(1960, 0, 1), Date.UTC(2060, 0, 1)],
  ] as const) {
    const pieces = zoneOf(name).pieces(from, to);
    expect(pieces[0]!.start).toBeLessThanOrEqual(from);
    expect(pieces.at(-1)!.end).toBeGreaterThan(to);
    for (let i = 1; i < pieces.length; i++) expect(pieces[i]!.start).toBe(pieces[i - 1]!.end);
  }
});

test.each(names)('%s: the first moment of each day is the one that Temporal tells', (name) => {
  const pieces = zoneOf(name).pieces(Date.UTC(2009, 0, 1), Date.UTC(2027, 0, 1));
  const day = fc.integer({ min: 0, max: 17 * 365 });
  fc.assert(
    fc.property(day, (days) => {
      const date = new Temporal.PlainDate(2009, 6, 1).add({ days });
      const expected = date.toZonedDateTime({ timeZone: name }).epochMilliseconds;
      const local = Date.UTC(date.year, date.month - 1, date.day);
      expect(momentOfLocal(pieces, local)).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

test('ten thousand years are answered at once: after 2200 a zone keeps its offset', () => {
  const pieces = zoneOf('Europe/Zurich').pieces(
    Date.parse('0000-01-01T00:00:00Z'),
    Date.UTC(9999, 11, 31),
  );
  expect(pieces.length).toBeLessThan(600);
  expect(pieces.at(-1)).toMatchObject({ end: Infinity });
  expect(pieces.at(-1)!.start).toBeLessThan(Date.UTC(2201, 0, 1));
});

test.each([
  ['europe/zurich', 'Europe/Zurich'],
  ['utc', 'UTC'],
  ['+02:00', '+02:00'],
])('%s is the zone %s', (name, id) => expect(zoneOf(name).id).toBe(id));

test.each([
  '',
  'Mars/Olympus',
  'Europe/Zurich ',
  '2026-01-01T00:00[Europe/Zurich]',
  'x'.repeat(500),
  '+99:00',
])('%j is no zone', (name) => expect(openTimeZone(name)).toBeUndefined());
