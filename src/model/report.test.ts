// Runs of reports against the clock of their zone, minute by minute, over both changes of the clock (contract 39.1).
import { expect, test } from 'vitest';
import { dayMs, minuteMs } from './instant.ts';
import { openTimeZones, weekdays } from './time-zone.ts';
import { lastRunIn, nextRunAfter, type ReportSchedule } from './report.ts';

const zoneOf = openTimeZones();

const clocks = new Map<string, readonly string[]>();

/** What the clock of a zone shows at each minute, as `2026-03-29T01:59`, by the runtime's own calendar. */
function clockOf(timeZone: string, from: number, to: number): readonly string[] {
  const key = `${timeZone} ${from} ${to}`;
  const known = clocks.get(key);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const shown: string[] = [];
  for (let at = from; at < to; at += minuteMs) shown.push(format.format(at).replace(' ', 'T'));
  clocks.set(key, shown);
  return shown;
}

/** On each date that the schedule names, the first minute whose clock shows the time or later. */
function enumerated(schedule: ReportSchedule, clock: readonly string[], from: number): number[] {
  const isDue = (date: string) => {
    const day = new Date(`${date}T00:00Z`);
    if (schedule.every === 'DAILY') return true;
    if (schedule.every === 'WEEKLY')
      return weekdays[(day.getUTCDay() + 6) % 7] === schedule.weekday;
    const next = new Date(day.getTime() + dayMs);
    const isLastDay = next.getUTCMonth() !== day.getUTCMonth();
    const wanted = schedule.day ?? 1;
    return day.getUTCDate() === wanted || (isLastDay && day.getUTCDate() < wanted);
  };
  const dates = [...new Set(clock.map((shown) => shown.slice(0, 10)))].filter(isDue);
  return dates.flatMap((date) => {
    const place = clock.findIndex((shown) => shown >= `${date}T${schedule.at}`);
    return place < 0 ? [] : [from + place * minuteMs];
  });
}

const places = [
  ['Europe/Zurich', '2026-03-20T00:00Z'],
  ['Europe/Zurich', '2026-10-18T00:00Z'],
  ['Australia/Lord_Howe', '2026-03-28T00:00Z'],
  ['America/Havana', '2026-03-01T00:00Z'],
  ['Asia/Kolkata', '2026-02-20T00:00Z'],
] as const;

const schedules: readonly Omit<ReportSchedule, 'timeZone'>[] = [
  { every: 'DAILY', at: '07:00' },
  { every: 'DAILY', at: '00:00' },
  { every: 'DAILY', at: '02:30' },
  { every: 'DAILY', at: '01:45' },
  { every: 'WEEKLY', at: '02:30', weekday: 'SU' },
  { every: 'WEEKLY', at: '23:59', weekday: 'MO' },
  { every: 'MONTHLY', at: '02:15', day: 29 },
  { every: 'MONTHLY', at: '06:00', day: 31 },
  { every: 'MONTHLY', at: '06:00', day: 1 },
];

test.for(places.flatMap((place) => schedules.map((schedule) => [...place, schedule] as const)))(
  '%s from %s: %j',
  ([timeZone, start, when]) => {
    const schedule = { ...when, timeZone };
    const from = Date.parse(start);
    const days = 40;
    const clock = clockOf(timeZone, from - dayMs, from + days * dayMs);
    const expected = enumerated(schedule, clock, from - dayMs).filter((run) => run > from);
    const found: number[] = [];
    for (let at = from; ; ) {
      const next = nextRunAfter(schedule, zoneOf, at);
      if (next === undefined || next >= from + days * dayMs) break;
      found.push(next);
      at = next;
    }
    expect(found.map((ms) => new Date(ms).toISOString())).toEqual(
      expected.map((ms) => new Date(ms).toISOString()),
    );
    const last = expected.at(-1);
    if (last === undefined) return;
    expect(lastRunIn(schedule, zoneOf, from, from + days * dayMs)).toBe(last);
    expect(lastRunIn(schedule, zoneOf, last, last)).toBe(last);
    expect(lastRunIn(schedule, zoneOf, last + 1, last + minuteMs)).toBeUndefined();
  },
);
