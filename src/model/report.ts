// Reports: dashboards that are mailed every day, week or month, and when (contract 39.1).
import { dayMs, type EpochMs, hourMs, minuteMs } from './instant.ts';
import {
  localDayOf,
  localTimeMs,
  momentOfLocal,
  offsetAt,
  type TimeZone,
  type Weekday,
  weekdayOf,
  weekdays,
} from './time-zone.ts';
import type { Author } from './principal.ts';
import type { AuditFields } from './record.ts';

export const reportLimits = {
  perWorkspaceMax: 100,
  recipientsMax: 50,
  /** Mails of an organization in 24 hours. */
  mailsADayMax: 200,
  /** A run that was missed is made up for within this time. */
  lateMsMax: 12 * hourMs,
  /** Pictures in one mail. */
  chartsMax: 12,
  /** All files of one mail; what is beyond is omitted and named. */
  attachedBytesMax: 5 * 1024 * 1024,
  /** A run that cannot be rendered now is tried again after this time, this many times. */
  retryAfterMs: minuteMs,
  triesMax: 5,
  /** So many runs in a row that fail switch the report off. */
  failedRunsMax: 3,
  /** A little longer than the delivery log keeps what was sent, because it can be sent again. */
  contentKeptMs: 8 * dayMs,
  /** How long a mail can be unsubscribed from. */
  unsubscribeMs: 400 * dayMs,
} as const;

export const reportFormats = ['PDF', 'CSV'] as const;
type ReportFormat = (typeof reportFormats)[number];

export const reportIntervals = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;

/** At a local time of days: all, one of each week, or one of each month. */
export interface ReportSchedule {
  readonly every: (typeof reportIntervals)[number];
  /** `HH:mm`. */
  readonly at: string;
  /** Of WEEKLY. */
  readonly weekday?: Weekday;
  /** Of MONTHLY, from 1; in a shorter month its last day. */
  readonly day?: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** The first ones switch the report off. */
export const reportProblemReasons = [
  'OWNER_REMOVED',
  'DASHBOARD_DELETED',
  'NO_RECIPIENTS',
  'MAIL_REFUSED',
  'NOT_RENDERED',
  'MISSED',
  'MAILS_USED',
  'MAIL_NOT_CONFIGURED',
] as const;

export interface ReportProblem {
  readonly reason: (typeof reportProblemReasons)[number];
  readonly at: EpochMs;
  readonly message: string;
}

export interface Report extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: null;
  readonly dashboardId: string;
  /** Values of variables of the dashboard, by name. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** ISO-8601 duration. */
  readonly last: string;
  readonly schedule: ReportSchedule;
  readonly recipients: readonly string[];
  readonly formats: readonly ReportFormat[];
  readonly active: boolean;
  /** Whose permissions it runs with. */
  readonly owner: Pick<Author, 'type' | 'id'>;
  /** Of the last run or request whose mails were queued. */
  readonly lastSent: EpochMs | null;
  /** When it is due; null for a report that is switched off. */
  readonly nextRun: EpochMs | null;
  /** When the clock looks at it next: at `nextRun`, or when the run is tried again. */
  readonly nextAt: EpochMs | null;
  /** How often the present run was tried. */
  readonly tries: number;
  /** The run whose mails were queued last, as the time at which it was due. */
  readonly lastRun: EpochMs | null;
  /** Mails of that run that were refused. */
  readonly refusedMails: number;
  /** Runs in a row that failed, or of which a mail was refused. */
  readonly failedRuns: number;
  /** Of the last run; null when all was well. */
  readonly problem: ReportProblem | null;
}

type ZoneOf = (name: string) => TimeZone | undefined;

/** The first time later than `at` at which the schedule is due; undefined for a zone that is unknown. */
export function nextRunAfter(
  schedule: ReportSchedule,
  zoneOf: ZoneOf,
  at: EpochMs,
): EpochMs | undefined {
  return runsIn(schedule, zoneOf, at, at + longestMs).find((run) => run > at);
}

/** The last time from `from` to `to`, both included, at which the schedule is due. */
export function lastRunIn(
  schedule: ReportSchedule,
  zoneOf: ZoneOf,
  from: EpochMs,
  to: EpochMs,
): EpochMs | undefined {
  return runsIn(schedule, zoneOf, from, to).findLast((run) => run >= from && run <= to);
}

/** A month, and a local day more on both sides. */
const longestMs = 33 * dayMs;
const spareMs = 2 * dayMs;

/**
 * Rising, with some around the range. A local time that the clock skips is the moment of the jump; one
 * that it shows twice is the first.
 */
function runsIn(
  schedule: ReportSchedule,
  zoneOf: ZoneOf,
  from: EpochMs,
  to: EpochMs,
): readonly EpochMs[] {
  const zone = zoneOf(schedule.timeZone);
  if (zone === undefined) return [];
  const pieces = zone.pieces(from - 2 * spareMs, to + 2 * spareMs);
  const first = localDayOf(from - spareMs + offsetAt(zone, from - spareMs));
  const last = localDayOf(to + spareMs + offsetAt(zone, to + spareMs));
  const runs: EpochMs[] = [];
  for (let day = first; day <= last; day += dayMs) {
    if (!isDueOn(schedule, day)) continue;
    const run = momentOfLocal(pieces, day + localTimeMs(schedule.at));
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

function isDueOn({ every, weekday, day: wanted = 1 }: ReportSchedule, day: number): boolean {
  if (every === 'DAILY') return true;
  if (every === 'WEEKLY') return weekdays[weekdayOf(day)] === weekday;
  const date = new Date(day);
  const daysOfMonth = new Date(
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0),
  ).getUTCDate();
  return date.getUTCDate() === Math.min(wanted, daysOfMonth);
}
