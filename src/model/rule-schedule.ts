// Rule schedule: the due times of a timer, at intervals, daily or by a quartz cron expression (contract 13, 35).
import { Cron } from 'croner';
import { dayMs, type EpochMs, hourMs, minuteMs } from './instant.ts';
import { parseIsoDuration } from './iso-duration.ts';
import type { RuleTimer } from './rule.ts';
import { momentOfLocal, offsetAt, openTimeZone, type TimeZone } from './time-zone.ts';

export interface RuleSchedule {
  /** The first due time after the moment; undefined without one. */
  next(after: EpochMs): EpochMs | undefined;
}

type ReadSchedule = { readonly schedule: RuleSchedule } | { readonly reason: string };

/** No timer fires more often. */
const timerGapMsMin = 10_000;
const weekMs = 7 * dayMs;
/** The first Monday after the epoch. */
const mondayMs = 4 * dayMs;

/** Reads a timer; the reason names the field that is wrong. */
export function readSchedule({
  type,
  schedule,
  startAt,
  timeZone,
}: Omit<RuleTimer, 'enabled'>): ReadSchedule {
  if (type === null)
    return { reason: 'timer.type: is required and must be INTERVAL, FIXED, or ADVANCED' };
  if (schedule === null || schedule === '') return { reason: 'timer.schedule: is required' };
  const zone = openTimeZone(timeZone ?? 'UTC');
  if (zone === undefined) return { reason: `timer.timeZone: unknown time zone ${timeZone}` };
  const read = readers[type](schedule, zone, startAt);
  if ('reason' in read || startAt === null) return read;
  const from = type === 'FIXED' ? startOfNextDay(startAt, zone) : startAt;
  return { schedule: { next: (after) => read.schedule.next(Math.max(after, from - 1)) } };
}

const readers: Readonly<
  Record<
    NonNullable<RuleTimer['type']>,
    (text: string, zone: TimeZone, startAt: EpochMs | null) => ReadSchedule
  >
> = { INTERVAL: interval, FIXED: daily, ADVANCED: cron };

/** The due time after one that was due: never sooner than the shortest gap. */
export function nextDue(schedule: RuleSchedule, due: EpochMs, now: EpochMs): EpochMs | undefined {
  return schedule.next(Math.max(due + timerGapMsMin - 1, now));
}

const lookBackMs = [minuteMs, hourMs, dayMs, 32 * dayMs, 400 * dayMs] as const;

/**
 * The latest due time up to now of a timer whose next due time was `due`: those before it were
 * missed, while the platform was stopped or because the clock jumped, and one run stands for all of
 * them.
 */
export function latestDue(schedule: RuleSchedule, due: EpochMs, now: EpochMs): EpochMs {
  for (const back of lookBackMs) {
    let latest = schedule.next(now - back);
    if (latest === undefined || latest > now) continue;
    for (
      let next = schedule.next(latest);
      next !== undefined && next <= now;
      next = schedule.next(latest)
    )
      latest = next;
    return Math.max(latest, due);
  }
  return due;
}

function interval(text: string): ReadSchedule {
  const read = parseIsoDuration(text);
  if ('reason' in read) return { reason: `timer.schedule: ${read.reason}` };
  const { months, days, ms } = read.duration;
  const fixedMs = days * dayMs + ms;
  if (months > 0) {
    if (fixedMs > 0)
      return { reason: 'timer.schedule: months cannot be combined with shorter units' };
    return { schedule: { next: (after) => nextMonth(after, months) } };
  }
  if (fixedMs < timerGapMsMin)
    return { reason: 'timer.schedule: the interval must be at least PT10S' };
  const origin = fixedMs % weekMs === 0 ? mondayMs : 0;
  return {
    schedule: { next: (after) => origin + (Math.floor((after - origin) / fixedMs) + 1) * fixedMs },
  };
}

/** The first of a month, counted from January of the year 0 in steps. */
function nextMonth(after: EpochMs, months: number): EpochMs {
  const date = new Date(after);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  const next = (Math.floor(month / months) + 1) * months;
  return Date.UTC(Math.floor(next / 12), next % 12, 1);
}

function daily(text: string, zone: TimeZone): ReadSchedule {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text.trim());
  if (match === null) return { reason: `timer.schedule: ${text} must have the form HH:mm` };
  const timeMs = (Number(match[1]) * 60 + Number(match[2])) * minuteMs;
  return {
    schedule: {
      next(after) {
        const day = Math.floor((after + offsetAt(zone, after)) / dayMs);
        for (let i = 0; i < 3; i++) {
          const due = localMoment(zone, (day + i) * dayMs + timeMs);
          if (due > after) return due;
        }
        return undefined;
      },
    },
  };
}

function startOfNextDay(at: EpochMs, zone: TimeZone): EpochMs {
  return localMoment(zone, (Math.floor((at + offsetAt(zone, at)) / dayMs) + 1) * dayMs);
}

/**
 * A time skipped in spring is the moment of the jump, one that comes twice in autumn its first
 * coming.
 */
function localMoment(zone: TimeZone, localMs: number): EpochMs {
  return momentOfLocal(zone.pieces(localMs - 2 * dayMs, localMs + 2 * dayMs), localMs) ?? localMs;
}

const cronFieldMax = [59, 59, 23, 31, 12, 7, 9_999] as const;
/**
 * Wednesday, a leap day's year and more: an expression that is due at all is due within so many
 * years.
 */
const cronProbe = Date.UTC(2024, 0, 1);

function cron(text: string, zone: TimeZone): ReadSchedule {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 6 && fields.length !== 7) {
    return {
      reason: `timer.schedule: a Quartz cron expression requires 6 or 7 fields (second minute hour day month weekday year), got ${fields.length} in ${text}`,
    };
  }
  let job: Cron;
  try {
    job = new Cron(fields.map(croned).join(' '), {
      paused: true,
      alternativeWeekdays: true,
      mode: '6-or-7-parts',
      timezone: zone.id,
    });
  } catch (error) {
    return { reason: `timer.schedule: ${(error as Error).message.replace(/^CronPattern: /, '')}` };
  }
  const next = (after: EpochMs) => job.nextRun(new Date(after))?.getTime();
  if (next(cronProbe) === undefined) return { reason: `timer.schedule: ${text} never fires` };
  return { schedule: { next } };
}

/** `5/15` of quartz is `5-59/15` here, and `?` is `*`. */
function croned(field: string, i: number): string {
  return field
    .split(',')
    .map((part) => part.replace(/^\?$/, '*').replace(/^(\d+)\//, `$1-${cronFieldMax[i]}/`))
    .join(',');
}
