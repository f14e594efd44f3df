// On-call orders against the clock of their zone, minute by minute, over both changes of the clock (contract 39.4).
import { expect, test } from 'vitest';
import { dayMs, minuteMs } from './instant.ts';
import { onCallAt, type OnCallOverride, turnLengths } from './on-call.ts';
import { openTimeZone } from './time-zone.ts';

const two = (n: number) => String(n).padStart(2, '0');
const random = (() => {
  let state = 20261128;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
})();

/** What the clock of a zone shows at each minute, as `2026-03-29T01:59`, by the runtime's own calendar. */
function clockOf(timeZone: string, from: number, to: number): readonly string[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const shown: string[] = [];
  for (let at = from; at < to; at += minuteMs) shown.push(format.format(at).replace(' ', 'T'));
  return shown;
}

/** The address that is on call in each minute: the turn changes with the first one whose clock shows its time. */
function enumerated(
  clock: readonly string[],
  from: number,
  first: number,
  { order, days, overrides, left }: Drawn,
): (string | null)[] {
  const time = clock[first]?.slice(11) ?? '';
  const starts: number[] = [];
  const date = new Date(`${clock[first]?.slice(0, 10)}T00:00Z`);
  for (let turn = 1; ; turn++) {
    date.setUTCDate(date.getUTCDate() + days);
    const wanted = `${date.toISOString().slice(0, 10)}T${time}`;
    const start = clock.findIndex((shown) => shown >= wanted);
    if (start < 0) break;
    starts.push(start);
  }
  return clock.map((_, minute) => {
    const at = from + minute * minuteMs;
    const override = overrides.find((one) => one.from <= at && at < one.to && !left.has(one.email));
    if (override !== undefined) return override.email;
    const turn = starts.filter((start) => start <= minute).length;
    const inOrder = order.map((_one, i) => order[(turn + i) % order.length]!);
    return inOrder.find((email) => !left.has(email)) ?? null;
  });
}

interface Drawn {
  readonly order: readonly string[];
  readonly days: number;
  readonly overrides: readonly OnCallOverride[];
  readonly left: ReadonlySet<string>;
}

const people = ['anna@example.org', 'ben@example.org', 'carl@example.org', 'dora@example.org'];

function drawn(from: number, minutes: number, days: number): Drawn {
  const order = Array.from({ length: 1 + random(4) }, () => people[random(4)]!);
  const edges = Array.from({ length: 2 * random(4) }, () => from + random(minutes) * minuteMs);
  const sorted = [...new Set(edges)].toSorted((a, b) => a - b);
  const overrides: OnCallOverride[] = [];
  for (let i = 0; i + 1 < sorted.length; i += random(2) + 1)
    overrides.push({ from: sorted[i]!, to: sorted[i + 1]!, email: people[random(4)]! });
  const left = new Set(people.filter(() => random(4) === 0));
  return { order, days, overrides, left };
}

/** Twelve days around both changes in a zone of each kind: an hour, half an hour, at midnight, none. */
const places = [
  ['Europe/Zurich', '2026-03-22T00:00Z'],
  ['Europe/Zurich', '2026-10-18T00:00Z'],
  ['Australia/Lord_Howe', '2026-03-29T00:00Z'],
  ['Australia/Lord_Howe', '2026-09-27T00:00Z'],
  ['America/Santiago', '2026-08-30T00:00Z'],
  ['America/Santiago', '2026-03-29T00:00Z'],
  ['Asia/Kolkata', '2026-10-18T00:00Z'],
] as const;

test.for(places)('turns in %s from %s are those of its clock', ([timeZone, day]) => {
  const zone = openTimeZone(timeZone)!;
  const from = Date.parse(day);
  const minutes = 12 * 24 * 60;
  const clock = clockOf(timeZone, from, from + minutes * minuteMs);
  for (let round = 0; round < 6; round++) {
    const turn = turnLengths[random(2)]!;
    // Half of the starts are in the hours in which clocks change.
    const wanted = `T${two(random(round % 2 === 0 ? 24 : 4))}:${two(random(4) * 15)}`;
    const first = clock.findIndex((shown) => shown.endsWith(wanted));
    const startsAt = from + first * minuteMs;
    const how = drawn(from, minutes, turn === 'P1D' ? 1 : 7);
    const { order, overrides, left } = how;
    const expected = enumerated(clock, from, first, how);
    const found = expected.map((_, minute) =>
      onCallAt({ order, turn, startsAt, overrides }, zone, from + minute * minuteMs, left),
    );
    expect(
      found.map(({ email }) => email),
      JSON.stringify({ turn, wanted, ...how, left: [...left] }),
    ).toEqual(expected);
    // A change behind what was enumerated is not compared.
    const end = from + minutes * minuteMs;
    const changes = expected.map((): number => minutes);
    for (let minute = minutes - 2; minute >= 0; minute--)
      changes[minute] =
        expected[minute + 1] === expected[minute] ? changes[minute + 1]! : minute + 1;
    const relieved = found.map(({ until, next }) =>
      until === null || until >= end ? { until: end, next: undefined } : { until, next },
    );
    expect(relieved).toEqual(
      changes.map((minute) => ({ until: from + minute * minuteMs, next: expected[minute] })),
    );
  }
});

const zurich = openTimeZone('Europe/Zurich')!;
const weekly = {
  order: ['anna@example.org', 'Ben@example.org'],
  turn: 'P1W',
  startsAt: Date.parse('2026-10-19T09:00+02:00'),
  overrides: [],
} as const;

test('a turn keeps its local hour over the change of the clock', () => {
  expect(onCallAt(weekly, zurich, Date.parse('2026-10-20T12:00Z'))).toEqual({
    email: 'anna@example.org',
    until: Date.parse('2026-10-26T09:00+01:00'),
    next: 'Ben@example.org',
  });
});

test('the first of the order is on call before the first turn', () => {
  expect(onCallAt(weekly, zurich, Date.parse('2020-01-01T00:00Z'))).toEqual({
    email: 'anna@example.org',
    until: Date.parse('2026-10-26T09:00+01:00'),
    next: 'Ben@example.org',
  });
});

test('one person alone is never relieved, and an override of years ahead is found at once', () => {
  const alone = {
    ...weekly,
    turn: 'P1D',
    order: ['anna@example.org', 'ANNA@example.org'],
  } as const;
  const at = Date.parse('2026-10-20T12:00Z');
  expect(onCallAt(alone, zurich, at)).toEqual({
    email: 'ANNA@example.org',
    until: null,
    next: null,
  });
  const from = at + 30_000 * dayMs;
  const overrides = [{ from, to: from + dayMs, email: 'ben@example.org' }];
  const started = performance.now();
  expect(onCallAt({ ...alone, overrides }, zurich, at)).toMatchObject({
    until: from,
    next: 'ben@example.org',
  });
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('nobody is on call when all have left', () => {
  const left = new Set(['anna@example.org', 'ben@example.org']);
  expect(onCallAt(weekly, zurich, Date.parse('2026-10-20T12:00Z'), left)).toEqual({
    email: null,
    until: null,
    next: null,
  });
});
