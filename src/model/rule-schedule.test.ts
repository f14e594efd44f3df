// Rule schedules: alignment, daylight saving, quartz expressions, missed times and invalid timers (contract 13, 35).
import { describe, expect, test } from 'vitest';
import type { RuleTimer } from './rule.ts';
import { latestDue, nextDue, readSchedule, type RuleSchedule } from './rule-schedule.ts';

type Timer = Pick<RuleTimer, 'type' | 'schedule'> & Partial<RuleTimer>;

function scheduleOf(timer: Timer): RuleSchedule {
  const read = readSchedule({ startAt: null, timeZone: null, ...timer });
  if ('reason' in read) throw new Error(read.reason);
  return read.schedule;
}

function dues(timer: Timer, after: string, count: number): string[] {
  const schedule = scheduleOf(timer);
  const times: string[] = [];
  let at: number | undefined = Date.parse(after);
  for (let i = 0; i < count && at !== undefined; i++) {
    at = schedule.next(at);
    if (at !== undefined) times.push(new Date(at).toISOString().replace('.000Z', 'Z'));
  }
  return times;
}

const interval = (schedule: string): Timer => ({ type: 'INTERVAL', schedule });
const fixed = (schedule: string, timeZone?: string): Timer => ({
  type: 'FIXED',
  schedule,
  timeZone: timeZone ?? null,
});
const cron = (schedule: string, timeZone?: string): Timer => ({
  type: 'ADVANCED',
  schedule,
  timeZone: timeZone ?? null,
});

test.each<[string, Timer, string, string[]]>([
  [
    'minutes start at the hour',
    interval('PT15M'),
    '2026-11-21T03:07:12Z',
    ['2026-11-21T03:15:00Z', '2026-11-21T03:30:00Z'],
  ],
  [
    'a due time itself is past',
    interval('PT15M'),
    '2026-11-21T03:15:00Z',
    ['2026-11-21T03:30:00Z'],
  ],
  [
    'ten seconds',
    interval('PT10S'),
    '2026-11-21T03:07:12Z',
    ['2026-11-21T03:07:20Z', '2026-11-21T03:07:30Z'],
  ],
  [
    'hours start at midnight UTC',
    interval('PT6H'),
    '2026-11-21T03:07:12Z',
    ['2026-11-21T06:00:00Z', '2026-11-21T12:00:00Z'],
  ],
  [
    'days',
    interval('P1D'),
    '2026-11-21T03:07:12Z',
    ['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'],
  ],
  [
    'weeks start on Monday',
    interval('P1W'),
    '2026-11-21T03:07:12Z',
    ['2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ],
  [
    'months',
    interval('P1M'),
    '2026-11-21T03:07:12Z',
    ['2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ],
  [
    'quarters',
    interval('P3M'),
    '2026-11-21T03:07:12Z',
    ['2027-01-01T00:00:00Z', '2027-04-01T00:00:00Z'],
  ],
  [
    'an interval waits for its start',
    { ...interval('PT1H'), startAt: Date.parse('2026-11-21T05:00:00Z') },
    '2026-11-21T03:07:12Z',
    ['2026-11-21T05:00:00Z', '2026-11-21T06:00:00Z'],
  ],
  [
    'a fixed time',
    fixed('08:30'),
    '2026-11-21T09:00:00Z',
    ['2026-11-22T08:30:00Z', '2026-11-23T08:30:00Z'],
  ],
  ['a fixed time later today', fixed('08:30'), '2026-11-21T08:00:00Z', ['2026-11-21T08:30:00Z']],
  [
    'a fixed time begins on the day after its start',
    { ...fixed('08:30'), startAt: Date.parse('2026-11-21T00:10:00Z') },
    '2026-11-20T00:00:00Z',
    ['2026-11-22T08:30:00Z'],
  ],
  [
    'the day after the start is one of the zone',
    { ...fixed('08:30', 'Pacific/Auckland'), startAt: Date.parse('2026-11-21T12:00:00Z') },
    '2026-11-20T00:00:00Z',
    ['2026-11-22T19:30:00Z'],
  ],
  [
    'a fixed time in a zone, across the end of summer time',
    fixed('08:30', 'Europe/Zurich'),
    '2026-10-23T12:00:00Z',
    ['2026-10-24T06:30:00Z', '2026-10-25T07:30:00Z'],
  ],
  [
    'a time that is skipped in spring is the moment of the jump',
    fixed('02:30', 'Europe/Zurich'),
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
  ],
  [
    'a time that comes twice in autumn is due once, at first',
    fixed('02:30', 'Europe/Zurich'),
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ],
  [
    'quartz counts days from Sunday',
    cron('0 0 12 ? * 2'),
    '2026-11-21T00:00:00Z',
    ['2026-11-23T12:00:00Z', '2026-11-30T12:00:00Z'],
  ],
  [
    'quartz names days',
    cron('0 0 12 ? * MON-FRI'),
    '2026-11-21T00:00:00Z',
    ['2026-11-23T12:00:00Z', '2026-11-24T12:00:00Z'],
  ],
  [
    'quartz steps from a start',
    cron('5/20 * * * * ?'),
    '2026-11-21T00:00:00Z',
    [
      '2026-11-21T00:00:05Z',
      '2026-11-21T00:00:25Z',
      '2026-11-21T00:00:45Z',
      '2026-11-21T00:01:05Z',
    ],
  ],
  [
    'quartz last day',
    cron('0 0 0 L * ?'),
    '2026-11-21T00:00:00Z',
    ['2026-11-30T00:00:00Z', '2026-12-31T00:00:00Z'],
  ],
  ['quartz third Friday', cron('0 0 0 ? * 6#3'), '2026-11-21T00:00:00Z', ['2026-12-18T00:00:00Z']],
  ['quartz year', cron('0 0 0 1 1 ? 2028'), '2026-11-21T00:00:00Z', ['2028-01-01T00:00:00Z']],
  [
    'quartz in a zone, across the start of summer time',
    cron('0 0 8 * * ?', 'Europe/Zurich'),
    '2026-03-28T00:00:00Z',
    ['2026-03-28T07:00:00Z', '2026-03-29T06:00:00Z'],
  ],
])('%s', (_, timer, after, wanted) => {
  expect(dues(timer, after, wanted.length)).toEqual(wanted);
});

test('contract 35: no timer fires more often than every 10 seconds', () => {
  const schedule = scheduleOf(cron('* * * * * ?'));
  const start = Date.parse('2026-11-21T00:00:00Z');
  expect(nextDue(schedule, start, start)! - start).toBe(10_000);
  const aligned = scheduleOf(interval('PT10S'));
  expect(nextDue(aligned, start, start)! - start).toBe(10_000);
});

describe('what was missed is due once, at the latest due time', () => {
  test.each<[string, Timer, string, string, string]>([
    [
      'a week of hours',
      interval('PT1H'),
      '2026-11-14T03:00:00Z',
      '2026-11-21T03:07:00Z',
      '2026-11-21T03:00:00Z',
    ],
    [
      'nothing',
      interval('PT1H'),
      '2026-11-21T03:00:00Z',
      '2026-11-21T03:00:00Z',
      '2026-11-21T03:00:00Z',
    ],
    [
      'months of days',
      fixed('08:30', 'Europe/Zurich'),
      '2026-08-01T06:30:00Z',
      '2026-11-21T03:07:00Z',
      '2026-11-20T07:30:00Z',
    ],
    [
      'years',
      cron('0 0 0 1 1 ?'),
      '2020-01-01T00:00:00Z',
      '2026-11-21T03:07:00Z',
      '2026-01-01T00:00:00Z',
    ],
  ])('%s', (_, timer, due, now, wanted) => {
    const schedule = scheduleOf(timer);
    const latest = latestDue(schedule, Date.parse(due), Date.parse(now));
    expect(new Date(latest).toISOString().replace('.000Z', 'Z')).toBe(wanted);
    expect(nextDue(schedule, latest, Date.parse(now))!).toBeGreaterThan(Date.parse(now));
  });
});
