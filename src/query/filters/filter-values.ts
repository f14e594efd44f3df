// Filter values in the form of the field's type: texts folded, dates as epoch milliseconds (interface 2.9, contract 35).
import { isInstant, parseInstant } from '../../model/instant.ts';
import type { FilterType } from '../../model/filter-type.ts';
import type { FilterValue } from './predicate.ts';

const textValueLengthMax = 1_000;

/**
 * The form in which texts are compared. Predicates ignore case, and databases differ in what they
 * treat as a letter.
 */
export function fold(text: string): string {
  return text.toLowerCase().toWellFormed();
}

/** Texts sort by their bytes in UTF-8, as in the databases. */
function compareValues(left: FilterValue, right: FilterValue): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}

export function inOrder(left: FilterValue, right: FilterValue): [FilterValue, FilterValue] {
  return compareValues(left, right) <= 0 ? [left, right] : [right, left];
}

type Converted = { readonly value: FilterValue } | { readonly reason: string };

/** One value of a filter for a field of the type, or why it is not valid. */
export function valueFor(type: FilterType, sent: unknown): Converted {
  if (sent === null || sent === undefined)
    return { reason: 'must not be null; use IS_NULL to match devices without a value' };
  switch (type) {
    case 'NUMBER':
      return numberOf(sent);
    case 'DATE':
      return dateOf(sent);
    case 'BOOLEAN':
      return booleanOf(sent);
    default:
      return textOf(sent);
  }
}

function textOf(sent: unknown): Converted {
  if (typeof sent !== 'string' && typeof sent !== 'number') return { reason: 'must be a string' };
  const text = String(sent);
  if (text.length > textValueLengthMax)
    return { reason: `must be at most ${textValueLengthMax} characters` };
  if (text.includes('\0')) return { reason: 'must not contain U+0000' };
  return { value: fold(text) };
}

function numberOf(sent: unknown): Converted {
  const isText = typeof sent === 'string' && sent.trim() !== '';
  const number = isText ? Number(sent) : sent;
  if (typeof number === 'number' && Number.isFinite(number)) return { value: number };
  return { reason: 'must be a number' };
}

function dateOf(sent: unknown): Converted {
  const ms = typeof sent === 'string' ? epochMsOf(sent) : sent;
  if (typeof ms === 'number' && Number.isInteger(ms) && isInstant(ms)) return { value: ms };
  return { reason: 'must be an ISO-8601 date-time or epoch milliseconds' };
}

function epochMsOf(sent: string): number | undefined {
  const ms = parseInstant(sent);
  if (ms !== undefined || !/^-?\d+$/.test(sent)) return ms;
  return Number(sent);
}

function booleanOf(sent: unknown): Converted {
  if (sent === true || sent === 'true') return { value: 1 };
  if (sent === false || sent === 'false') return { value: 0 };
  return { reason: 'must be true or false' };
}
