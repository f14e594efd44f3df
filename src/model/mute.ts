// Mutes: when alarms of a workspace tell nobody, once or every week (contract 39.4).
import { type Alarm, type AlarmSeverity, severityRank } from './alarm.ts';
import { dayMs, type EpochMs } from './instant.ts';
import {
  localDayOf,
  localTimeMs,
  momentOfLocal,
  offsetAt,
  type TimeZone,
  type Weekday,
  weekdayOf,
  weekdays,
  type ZonePiece,
} from './time-zone.ts';
import type { AuditFields } from './record.ts';

type MuteTimes = Pick<Mute, 'active' | 'once' | 'weekly'>;

export const muteLimits = {
  /** Mutes of a workspace that are not over. */
  perWorkspaceMax: 1_000,
  onceMsMax: 366 * dayMs,
  idsMax: 1_000,
  /** A mute that is over is removed after this time. */
  keptMs: 30 * dayMs,
} as const;

/** An alarm is meant when one of the lists names it, its rule, its device or a group of its device. */
export type MutedWhat =
  | { readonly all: true }
  | {
      readonly ruleIds?: readonly string[];
      readonly deviceIds?: readonly string[];
      readonly tagIds?: readonly string[];
      /** The places and what is below them. */
      readonly placeIds?: readonly string[];
      readonly alarmKeys?: readonly string[];
    };

/** Local times of a day as `HH:mm`; a window that does not end after its start ends on the next day. */
export interface WeeklyMute {
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
}

export interface Mute extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  /** Why; `reason` in answers. */
  readonly description: string | null;
  readonly what: MutedWhat;
  /** Only alarms that are less severe. */
  readonly severityBelow: AlarmSeverity | null;
  readonly once: { readonly from: EpochMs; readonly to: EpochMs } | null;
  readonly weekly: WeeklyMute | null;
  readonly active: boolean;
  /** When open alarms are looked at next, because the mute begins or has changed; null for never. */
  readonly nextAt: EpochMs | null;
}

/** Half-open. */
interface MuteWindow {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/**
 * The windows of the mute that touch `from` to `to`, in order of their start. In a week with a clock
 * change, a window begins when the clock first shows its start and ends when it last shows its end:
 * a night of 25 hours is one night.
 */
function muteWindows(
  { active, once, weekly }: MuteTimes,
  zoneOf: (name: string) => TimeZone | undefined,
  from: EpochMs,
  to: EpochMs,
): readonly MuteWindow[] {
  if (!active) return [];
  const windows = once === null ? weeklyWindows(weekly, zoneOf, from, to) : [once];
  return windows.filter((window) => window.from <= to && window.to > from);
}

/** The most that one local day is longer than another, and a window over midnight. */
const reachMs = 3 * dayMs;

function weeklyWindows(
  weekly: WeeklyMute | null,
  zoneOf: (name: string) => TimeZone | undefined,
  from: EpochMs,
  to: EpochMs,
): readonly MuteWindow[] {
  const zone = weekly === null ? undefined : zoneOf(weekly.timeZone);
  if (weekly === null || zone === undefined) return [];
  const pieces = zone.pieces(from - 2 * reachMs, to + 2 * reachMs);
  const days = new Set(weekly.days.map((day) => weekdays.indexOf(day)));
  const [start, end] = [localTimeMs(weekly.from), localTimeMs(weekly.to)];
  const length = end > start ? end - start : end - start + dayMs;
  const windows: MuteWindow[] = [];
  const first = localDayOf(from - reachMs + offsetAt(zone, from - reachMs));
  const last = localDayOf(to + reachMs + offsetAt(zone, to + reachMs));
  for (let day = first; day <= last; day += dayMs) {
    if (!days.has(weekdayOf(day))) continue;
    const begins = momentOfLocal(pieces, day + start);
    const ends = lastMomentBeforeLocal(pieces, day + start + length);
    if (begins !== undefined && ends !== undefined && begins < ends)
      windows.push({ from: begins, to: ends });
  }
  return windows;
}

/** The window that contains the moment and ends last. */
export function muteWindowAt(
  mute: MuteTimes,
  zoneOf: (name: string) => TimeZone | undefined,
  at: EpochMs,
): MuteWindow | undefined {
  const windows = muteWindows(mute, zoneOf, at, at).filter(({ from }) => from <= at);
  return windows.toSorted((a, b) => b.to - a.to)[0];
}

/** When the mute begins next, later than the moment; null for never. */
export function nextMuteStart(
  mute: MuteTimes,
  zoneOf: (name: string) => TimeZone | undefined,
  at: EpochMs,
): EpochMs | null {
  if (mute.once !== null) return mute.active && mute.once.from > at ? mute.once.from : null;
  const windows = muteWindows(mute, zoneOf, at, at + 9 * dayMs);
  const starts = windows.map(({ from }) => from).filter((from) => from > at);
  return starts.length === 0 ? null : Math.min(...starts);
}

/** Whether the mute means the alarm, at whatever time; `groups` are tags and places of its device. */
export function mutes(
  { what, severityBelow }: Mute,
  { severity, rule, device, key }: Alarm,
  groups: ReadonlySet<string>,
): boolean {
  if (severityBelow !== null && severityRank(severity) >= severityRank(severityBelow)) return false;
  if ('all' in what) return true;
  const { ruleIds, deviceIds, tagIds = [], placeIds = [], alarmKeys } = what;
  return (
    ruleIds?.includes(rule.id) === true ||
    (device !== null && deviceIds?.includes(device.id) === true) ||
    alarmKeys?.includes(key) === true ||
    [...tagIds, ...placeIds].some((id) => groups.has(id))
  );
}

/**
 * The moment behind the last one at which the zone's clock shows less than the given local time. Of
 * a time that comes twice in autumn it is the second coming; one that is skipped in spring is the
 * moment of the jump. `pieces` must end behind that moment; undefined when all of them show more.
 */
function lastMomentBeforeLocal(pieces: readonly ZonePiece[], localMs: number): EpochMs | undefined {
  const last = pieces.findLast(({ start, offsetMs }) => start + offsetMs < localMs);
  return last && Math.min(last.end, localMs - last.offsetMs);
}
