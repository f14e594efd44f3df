// ISO-8601 durations such as PT15M, P1D, P1M or P1DT12H, with the error and its position.
import { dayMs, hourMs, minuteMs } from './instant.ts';

/**
 * A duration in the three units that cannot be converted into each other: days and months vary in
 * length.
 */
export interface IsoDuration {
  /** Years are twelve months. */
  readonly months: number;
  /** Weeks are seven days. */
  readonly days: number;
  /** Hours, minutes and seconds. */
  readonly ms: number;
}

type ParsedDuration = { readonly duration: IsoDuration } | { readonly reason: string };

interface Unit {
  readonly letter: string;
  readonly field: keyof IsoDuration;
  readonly factor: number;
}

// In the order in which they may follow each other.
const dateUnits: readonly Unit[] = [
  { letter: 'Y', field: 'months', factor: 12 },
  { letter: 'M', field: 'months', factor: 1 },
  { letter: 'W', field: 'days', factor: 7 },
  { letter: 'D', field: 'days', factor: 1 },
];
const timeUnits: readonly Unit[] = [
  { letter: 'H', field: 'ms', factor: hourMs },
  { letter: 'M', field: 'ms', factor: minuteMs },
  { letter: 'S', field: 'ms', factor: 1_000 },
];

const textLengthMax = 64;
const digitsMax = 9;
const component = /(\d+)(?:[.,](\d+))?([A-Z])/y;

/**
 * The milliseconds of a duration of fixed length within the limits, which are durations too; else
 * the reason why it cannot be used.
 */
export function fixedDurationMs(
  text: string,
  { min, max }: { readonly min: string; readonly max: string },
): number | string {
  const read = parseIsoDuration(text);
  if ('reason' in read) return read.reason;
  const { months } = read.duration;
  if (months > 0) return 'months and years are not supported because their length varies; use days';
  const ms = checkedDurationMs(text);
  if (ms < checkedDurationMs(min) || ms > checkedDurationMs(max))
    return `must be from ${min} to ${max}`;
  return ms;
}

/** The milliseconds of a duration that `fixedDurationMs` accepted. Throws for others. */
export function checkedDurationMs(text: string): number {
  const read = parseIsoDuration(text);
  if ('reason' in read) throw new Error(`Unexpected duration: ${read.reason}`);
  return read.duration.days * dayMs + read.duration.ms;
}

/** Reads a duration; the reason says what is wrong and where, counting characters from 1. */
export function parseIsoDuration(text: string): ParsedDuration {
  if (text.length > textLengthMax)
    return { reason: `a duration must be at most ${textLengthMax} characters` };
  const upper = text.toUpperCase();
  if (upper[0] !== 'P') return { reason: 'a duration must start with P, for example PT1H or P1D' };
  const total = { months: 0, days: 0, ms: 0 };
  let units = dateUnits;
  let at = 1;
  let inTime = false;
  while (at < upper.length) {
    if (upper[at] === 'T' && !inTime) {
      inTime = true;
      units = timeUnits;
      at++;
      if (at === upper.length) return { reason: 'expected hours, minutes, or seconds after T' };
      continue;
    }
    component.lastIndex = at;
    const match = component.exec(upper);
    if (match === null) return { reason: `expected a number and a unit at character ${at + 1}` };
    const [all, whole = '', fraction, letter] = match;
    const row = units.findIndex((unit) => unit.letter === letter);
    const unit = units[row];
    if (unit === undefined)
      return { reason: `${expected(units, inTime)} expected at character ${at + all.length}` };
    if (fraction !== undefined && (letter !== 'S' || fraction.length > 3)) {
      return {
        reason: `only seconds may have a fraction, of up to three digits (character ${at + 1})`,
      };
    }
    if (whole.length > digitsMax)
      return { reason: `the number at character ${at + 1} is too large` };
    total[unit.field] += Number(whole) * unit.factor + Number((fraction ?? '').padEnd(3, '0'));
    units = units.slice(row + 1);
    at += all.length;
  }
  if (at === 1) return { reason: 'expected a number and a unit after P' };
  if (total.months + total.days + total.ms === 0)
    return { reason: 'a duration must be longer than zero' };
  return { duration: total };
}

function expected(units: readonly Unit[], inTime: boolean): string {
  const letters = units.map((unit) => unit.letter).join(', ');
  if (letters === '') return inTime ? 'the end is' : 'T or the end is';
  return units.length === 1 ? `${letters} is` : `one of ${letters} is`;
}
