// Scalar values of Sparkplug B as JSON: integers of all sizes, numbers and times.
import { formatInstant, isInstant } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { isEpochMs, timestampFault } from '../../model/timestamp.ts';
import type { IntegerType } from './data-types.ts';

/** Called for a value that is stored in another form, or as null. */
export type NoteFault = (fault: string) => void;

/** Negative integers come as those of 32 or 64 bits without a sign. */
export function integerValue(
  value: number | bigint,
  { bits, isSigned }: IntegerType,
  fault: NoteFault,
): Json {
  if (typeof value === 'number') {
    if (bits === 64) return value;
    const shift = 32 - bits;
    return isSigned ? (value << shift) >> shift : (value << shift) >>> shift;
  }
  return exact(isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value), fault);
}

/** A string where a number would not be exact. */
function exact(whole: bigint, fault: NoteFault): Json {
  const number = Number(whole);
  if (Number.isSafeInteger(number)) return number;
  fault('the integer exceeds the safe range and was stored as a string');
  return String(whole);
}

export function finiteValue(value: number, fault: NoteFault): Json {
  if (Number.isFinite(value)) return value;
  fault(`${value} is not a finite number and was stored as null`);
  return null;
}

export function timeValue(value: number | bigint, fault: NoteFault): Json {
  const at = numberOf(value);
  if (isInstant(at)) return formatInstant(at);
  fault(`time ${value} is out of range and was stored as null`);
  return null;
}

/** The time of a message or a metric; undefined for what is no time in milliseconds (contract 42). */
export function sentTimeOf(value: number | bigint | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = numberOf(value);
  return isEpochMs(at) ? at : undefined;
}

/** Why `sentTimeOf` took nothing of a value. */
export function sentTimeFault(value: number | bigint): string {
  return `its time ${value} ${timestampFault(numberOf(value)).reason}`;
}

/** Times before 1970 come as 64 bits without a sign. */
function numberOf(value: number | bigint): number {
  return typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
}
