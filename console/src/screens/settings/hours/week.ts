// Week of working hours: periods in minutes of a day, and the countries with holidays (contract 3).
import { type Weekday, weekdays } from '../../../../../src/model/workspace.ts';
import type { Workspace } from '../settings-frame.tsx';

/** Minutes of the day; a period that ends before it begins reaches into the next day. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export type Week = Readonly<Record<Weekday, readonly Period[]>>;

export const dayMinutes = 1_440;
/** Steps of bars; numbers may be any minute. */
export const stepMinutes = 15;
const newMinutes = 240;
const newFrom = 480;

type WorkingHours = NonNullable<Workspace['settings']['workingHours']>;

export function weekOf(hours: WorkingHours | null): Week {
  const periods = (day: Weekday): readonly Period[] =>
    (hours?.days[day] ?? []).map(({ from, to }) => ({
      from: minutesOf(from) ?? 0,
      to: minutesOf(to) ?? dayMinutes,
    }));
  return Object.fromEntries(weekdays.map((day) => [day, periods(day)])) as Week;
}

export function workingDaysOf(week: Week): WorkingHours['days'] {
  const days = weekdays
    .filter((day) => week[day].length > 0)
    .map((day) => [
      day,
      week[day].map(({ from, to }) => ({ from: clockOf(from), to: clockOf(to) })),
    ]);
  return Object.fromEntries(days) as WorkingHours['days'];
}

/** `480` -> `08:00`; the end of the day is `24:00`. */
export function clockOf(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Reads `8`, `8:00`, `0800` and `24:00`; undefined for what is not a time of the day. */
export function minutesOf(text: string): number | undefined {
  const [, hours, minutes = '0'] = /^\s*(\d{1,2})(?:[:.h]?(\d{2}))?\s*$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= dayMinutes ? total : undefined;
}

/** Minutes that a period lasts. */
export function lengthOf({ from, to }: Period): number {
  return to > from ? to - from : to + dayMinutes - from;
}

/** Moves one end by a step or more; the ends keep at least a step between them. */
export function withEnd(period: Period, end: 'from' | 'to', minutes: number): Period {
  const snapped = Math.round(minutes / stepMinutes) * stepMinutes;
  if (end === 'from') return { ...period, from: clamped(snapped, 0, period.to - stepMinutes) };
  return { ...period, to: clamped(snapped, period.from + stepMinutes, dayMinutes) };
}

/** Moves the period as a whole, within its day. */
export function movedTo(period: Period, from: number): Period {
  const length = lengthOf(period);
  const snapped = Math.round(from / stepMinutes) * stepMinutes;
  const start = clamped(snapped, 0, dayMinutes - length);
  return { from: start, to: start + length };
}

/** A day with one more period, behind the last; as it is when none fits. */
export function withAnother(periods: readonly Period[]): readonly Period[] {
  const last = periods.at(-1);
  if (last === undefined) return [{ from: newFrom, to: newFrom + 2 * newMinutes }];
  const from = Math.min(last.to + 60, dayMinutes - stepMinutes);
  if (last.to <= last.from || from <= last.to) return periods;
  return [...periods, { from, to: Math.min(from + newMinutes, dayMinutes) }];
}

/** Hours of the week. */
export function totalHours(week: Week): number {
  const minutes = weekdays.flatMap((day) => week[day]).reduce((sum, one) => sum + lengthOf(one), 0);
  return Math.round(minutes / 6) / 10;
}

function clamped(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

// Holiday countries: those whose public holidays the platform knows, by their code of ISO 3166.

export const holidayCountries: readonly string[] = `
  AD AE AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL
  BM BN BO BQ BR BS BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV
  CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FO FR GA GB GD
  GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU IC ID IE IL
  IM IN IR IS IT JE JM JP KE KM KN KR KY KZ LC LI LK LR LS LT LU LV LY MA
  MC MD ME MF MG MK ML MQ MR MS MT MU MW MX MY MZ NA NC NE NF NG NI NL NO
  NZ PA PE PF PH PK PL PM PR PT PY RE RO RS RU RW SA SC SD SE SG SH SI SJ
  SK SL SM SN SO SR SS ST SV SX SZ TC TD TG TH TN TO TR TT TW TZ UA UG US
  UY UZ VA VC VE VG VI VN VU WF XK YT ZA ZM ZW
`
  .trim()
  .split(/\s+/);
