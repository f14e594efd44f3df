// Line values: numbers, flags and timestamps of InfluxDB line protocol, from their characters.
import { type EpochMs, isInstant } from '../../model/instant.ts';

/** An integer that a number cannot hold exactly is a string. */
export type FieldValue = number | boolean | string;

const flags: ReadonlyMap<string, boolean> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
]);
const floatPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const integerPattern = /^([+-]?\d+)([iu])$/;
/** Leading zeros included. */
const digitsMax = 100;
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const uint64 = { min: 0n, max: 2n ** 64n - 1n };

/** The value of a field that is not a string; undefined when it is not valid. */
export function fieldValueOf(text: string): FieldValue | undefined {
  if (floatPattern.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const [, digits, kind] = integerPattern.exec(text) ?? [];
  if (digits === undefined) return flags.get(text);
  const value = Number(digits);
  if (Number.isSafeInteger(value) && (kind === 'i' || value >= 0)) return value + 0;
  // Reading a number of any length takes a time that grows faster than the length.
  if (digits.length > digitsMax) return undefined;
  const exact = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  const { min, max } = kind === 'i' ? int64 : uint64;
  return exact < min || exact > max ? undefined : String(exact);
}

/** By precision: the milliseconds of a unit, or the digits to drop. */
const precisions: ReadonlyMap<string, { readonly drop: number; readonly ms: number }> = new Map([
  ['n', { drop: 6, ms: 1 }],
  ['ns', { drop: 6, ms: 1 }],
  ['u', { drop: 3, ms: 1 }],
  ['us', { drop: 3, ms: 1 }],
  ['µ', { drop: 3, ms: 1 }],
  ['ms', { drop: 0, ms: 1 }],
  ['s', { drop: 0, ms: 1_000 }],
  ['m', { drop: 0, ms: 60_000 }],
  ['h', { drop: 0, ms: 3_600_000 }],
]);

export type ReadTime = (text: string) => EpochMs | undefined;

const timePattern = /^-?\d{1,19}$/;

/** Reads timestamps of the precision; undefined for a precision that does not exist. */
export function timeReader(precision: string): ReadTime | undefined {
  const unit = precisions.get(precision);
  if (unit === undefined) return undefined;
  const { drop, ms } = unit;
  return (text) => {
    if (!timePattern.test(text)) return undefined;
    const value = drop === 0 ? Number(text) * ms : wholeUnits(text, drop);
    return isInstant(value) ? value + 0 : undefined;
  };
}

/** Without the last digits, rounded down. Times in nanoseconds have more digits than a number. */
function wholeUnits(text: string, drop: number): number {
  const whole = Number(text.slice(0, -drop));
  if (!text.startsWith('-')) return whole;
  const isRounded = /[1-9]/.test(text.slice(-drop));
  // Of a short one the sign is left, or nothing.
  return (Number.isNaN(whole) ? 0 : whole) - Number(isRounded);
}
