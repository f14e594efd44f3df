// Timestamps of readings: ISO-8601, or epoch milliseconds as a number, by one rule for every way in (contract 42).
import { type EpochMs, isInstant, parseInstant } from './instant.ts';
import type { Json } from './json.ts';
import { type Problem, problem } from './problem.ts';

/** Numbers have 12 to 14 digits: 1973 to 5138. */
const epochMsMin = 1e11;
const epochMsMax = 1e14;
const shownLengthMax = 100;

/** Whether the number is taken as epoch milliseconds. */
export function isEpochMs(value: number): boolean {
  return value >= epochMsMin && value < epochMsMax;
}

/** Undefined for what is no timestamp. Digits behind the milliseconds are cut off. */
export function timestampOf(sent: Json): EpochMs | undefined {
  if (typeof sent === 'number') return isEpochMs(sent) ? Math.floor(sent) : undefined;
  if (typeof sent !== 'string') return undefined;
  const instant = parseInstant(sent);
  return instant !== undefined && isInstant(instant) ? instant : undefined;
}

/** The same for a parameter or a header, where a number is text. */
export function timestampOfText(text: string): EpochMs | undefined {
  return timestampOf(/^\d+$/.test(text) ? Number(text) : text);
}

/** Why `timestampOf` took nothing. */
export function timestampRefusal(sent: Json): Problem {
  return problem('timestampInvalid', timestampFault(sent));
}

/** The details of that refusal. */
export function timestampFault(sent: Json): { readonly value: string; readonly reason: string } {
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const value = text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax)}…`;
  const isQuoted = typeof sent === 'string' && timestampOfText(sent) !== undefined;
  return { value, reason: isQuoted ? 'is text: send milliseconds as a number' : reasonOf(text) };
}

function reasonOf(text: string): string {
  if (!/^-?\d+(?:\.\d*)?(?:e[+-]?\d+)?$/i.test(text)) return 'is not an ISO-8601 date-time';
  const finer = Math.abs(Number(text)) < epochMsMin ? 'seconds' : 'microseconds or nanoseconds';
  return `is a number of other than 12 to 14 digits: ${finer}? send milliseconds`;
}

// Time bounds of requests: ISO-8601 texts to milliseconds (contract decisions).

/**
 * Reads one bound; digits beyond milliseconds are cut off, as they are for samples. Throws 400
 * with `bound` as its name.
 */
export function parseBound(bound: string, value: string): EpochMs {
  const moment = parseInstant(value);
  if (moment === undefined) throw problem('badBound', { bound, value: value.slice(0, 100) });
  return moment;
}

/** As `parseBound`; undefined without a value. */
export function parseOptionalBound(bound: string, value: string | undefined): EpochMs | undefined {
  return value === undefined ? undefined : parseBound(bound, value);
}
