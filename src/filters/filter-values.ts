// The values of a filter as the field's type wants them: texts folded, dates as epoch milliseconds (interface 2.9, contract 35).
import { isInstant, parseInstant } from '../model/instant.ts';
import type { FilterType } from '../model/filter-type.ts';
import type { FilterValue } from './predicate.ts';

const textValueLengthMax = 1_000;

/** The form in which texts are compared: predicates ignore case, and databases differ in what they take for a letter. */
export function fold(text: string): string {
  return text.toLowerCase().toWellFormed();
}

/** Texts stand in the order of their bytes in UTF-8, as databases compare them. */
function compareValues(one: FilterValue, other: FilterValue): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

export function inOrder(one: FilterValue, other: FilterValue): [FilterValue, FilterValue] {
  return compareValues(one, other) <= 0 ? [one, other] : [other, one];
}

type Converted = { readonly value: FilterValue } | { readonly reason: string };

/** One value of a filter for a field of the type, or why it cannot be one. */
export function valueFor(type: FilterType, sent: unknown): Converted {
  if (sent === null || sent === undefined)
    return { reason: 'must not be null; IS_NULL asks whether a field is not set' };
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
  if (typeof sent !== 'string' && typeof sent !== 'number') return { reason: 'must be a text' };
  const text = String(sent);
  if (text.length > textValueLengthMax)
    return { reason: `is longer than ${textValueLengthMax} characters` };
  if (text.includes('\0')) return { reason: 'holds the character U+0000, which no text here does' };
  return { value: fold(text) };
}

function numberOf(sent: unknown): Converted {
  const number = typeof sent === 'string' && sent.trim() !== '' ? Number(sent) : sent;
  return typeof number === 'number' && Number.isFinite(number)
    ? { value: number }
    : { reason: 'must be a number' };
}

function dateOf(sent: unknown): Converted {
  const reason = 'must be an ISO-8601 date-time or epoch milliseconds';
  if (typeof sent === 'string') {
    const ms = parseInstant(sent) ?? (/^-?\d+$/.test(sent) ? Number(sent) : undefined);
    return ms === undefined || !isInstant(ms) ? { reason } : { value: ms };
  }
  return typeof sent === 'number' && Number.isInteger(sent) && isInstant(sent)
    ? { value: sent }
    : { reason };
}

function booleanOf(sent: unknown): Converted {
  if (sent === true || sent === 'true') return { value: 1 };
  if (sent === false || sent === 'false') return { value: 0 };
  return { reason: 'must be true or false' };
}
