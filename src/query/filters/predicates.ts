// Predicates of the filter language: one table by name, and the values and tests that it is made of (interface 2.9).
import { type FilterType, filterTypes } from '../../model/device.ts';
import { isInstant, parseInstant } from '../../model/instant.ts';

// Predicate: its shape, and the tests that it makes of a field's values (interface 2.9).

/** Texts are folded (`fold`), dates are epoch milliseconds, booleans 0 and 1. */
export type FilterValue = string | number;

/** A test of one value; null never passes one. */
export type ValueTest =
  | { readonly test: 'oneOf'; readonly values: readonly FilterValue[] }
  | {
      readonly test: 'less' | 'lessOrEqual' | 'greater' | 'greaterOrEqual';
      readonly value: FilterValue;
    }
  | { readonly test: 'between'; readonly least: FilterValue; readonly greatest: FilterValue }
  | { readonly test: 'contains' | 'startsWith' | 'endsWith'; readonly text: string };

/** A scalar field has one value, or none when it is null. A list field has one for each element. */
export type Question =
  /** Does any value pass? */
  | { readonly ask: 'any'; readonly test: ValueTest }
  /** Does no value pass? */
  | { readonly ask: 'none'; readonly test: ValueTest }
  /** Does each of the tests have a value that passes it? */
  | { readonly ask: 'each'; readonly tests: readonly ValueTest[] }
  | { readonly ask: 'present' }
  | { readonly ask: 'absent' };

interface Predicate {
  /** The number of values that a filter with this predicate has. */
  readonly values: { readonly min: number; readonly max: number };
  readonly types: readonly FilterType[];
  /** One sentence for the authors of filters. */
  readonly meaning: string;
  /** Takes as many values as `values` says, all of one type. */
  readonly question: (values: readonly FilterValue[]) => Question;
}

/** The limit of values where a predicate takes any number. */
const valuesPerFilterMax = 1_000;

const noValue = { min: 0, max: 0 } as const;
const oneValue = { min: 1, max: 1 } as const;
const twoValues = { min: 2, max: 2 } as const;
const someValues = { min: 1, max: valuesPerFilterMax } as const;

const comparable: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE'];
const scalar: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE', 'BOOLEAN', 'ENUM'];

/**
 * The first value. Throws when there is none, because the reader of expressions counts them before.
 */
function firstOf([value]: readonly FilterValue[]): FilterValue {
  if (value === undefined) throw new Error('A predicate got too few values');
  return value;
}

// Comparison predicates: equality and order (interface 2.9).

function equality(ask: 'any' | 'none', values: Predicate['values'], meaning: string): Predicate {
  const question = (sent: readonly FilterValue[]): Question => ({
    ask,
    test: { test: 'oneOf', values: sent },
  });
  return { values, types: scalar, meaning, question };
}

type Order = Extract<ValueTest, { readonly value: unknown }>['test'];

/** A predicate that compares the field with one value. */
function order(test: Order, types: readonly FilterType[], meaning: string): Predicate {
  const question = (sent: readonly FilterValue[]): Question => ({
    ask: 'any',
    test: { test, value: firstOf(sent) },
  });
  return { values: oneValue, types, meaning, question };
}

const comparisonPredicates = {
  EQUALS: equality('any', oneValue, 'The field equals the value (case-insensitive for strings)'),
  NOT_EQUALS: equality('none', oneValue, 'The field does not equal the value, or is not set'),
  IN: equality('any', someValues, 'The field equals one of the values; texts in any case'),
  NOT_IN: equality('none', someValues, 'The field equals none of the values, or is not set'),
  LESS_THAN: order('less', comparable, 'The field is less than the value'),
  LESS_THAN_OR_EQUALS: order(
    'lessOrEqual',
    comparable,
    'The field is less than the value or equals it',
  ),
  GREATER_THAN: order('greater', comparable, 'The field is greater than the value'),
  GREATER_THAN_OR_EQUALS: order(
    'greaterOrEqual',
    comparable,
    'The field is greater than the value or equals it',
  ),
  BETWEEN: {
    values: twoValues,
    types: comparable,
    meaning: 'The field is between the two values, inclusive, in either order',
    question: (values) => {
      const [least, greatest] = inOrder(firstOf(values), firstOf(values.slice(1)));
      return { ask: 'any', test: { test: 'between', least, greatest } };
    },
  },
} as const satisfies Readonly<Record<string, Predicate>>;

// List predicates: which of the values a list contains (interface 2.9).

const listed = { values: someValues, types: ['LIST'] } as const;

const listPredicates = {
  CONTAINS_ALL: {
    ...listed,
    meaning: 'The list contains all of the values',
    question: (values) => ({
      ask: 'each',
      tests: values.map((value) => ({ test: 'oneOf', values: [value] })),
    }),
  },
  CONTAINS_NONE: {
    ...listed,
    meaning: 'The list contains none of the values, or is empty',
    question: (values) => ({ ask: 'none', test: { test: 'oneOf', values } }),
  },
  CONTAINS_ANY: {
    ...listed,
    meaning: 'The list contains at least one of the values',
    question: (values) => ({ ask: 'any', test: { test: 'oneOf', values } }),
  },
} as const satisfies Readonly<Record<string, Predicate>>;

// Text predicates: parts of a string, in any case (interface 2.9).

function part(test: 'contains' | 'startsWith' | 'endsWith', meaning: string): Predicate {
  return {
    values: oneValue,
    types: ['STRING'],
    meaning,
    question: (values) => ({ ask: 'any', test: { test, text: String(firstOf(values)) } }),
  };
}

const textPredicates = {
  CONTAINS: part('contains', 'The string contains the value (case-insensitive)'),
  STARTS_WITH: part('startsWith', 'The string starts with the value (case-insensitive)'),
  ENDS_WITH: part('endsWith', 'The string ends with the value (case-insensitive)'),
} as const satisfies Readonly<Record<string, Predicate>>;

// Date predicates: dates before and after another one (interface 2.9).

const datePredicates = {
  BEFORE: order('less', ['DATE'], 'The date is before the value'),
  AFTER: order('greater', ['DATE'], 'The date is after the value'),
} as const satisfies Readonly<Record<string, Predicate>>;

// Presence predicates: whether a field has a value at all (interface 2.9).

const presencePredicates = {
  IS_NULL: {
    values: noValue,
    types: filterTypes,
    meaning: 'The field is not set, the list is empty',
    question: () => ({ ask: 'absent' }),
  },
  IS_NOT_NULL: {
    values: noValue,
    types: filterTypes,
    meaning: 'The field is set, the list is not empty',
    question: () => ({ ask: 'present' }),
  },
} as const satisfies Readonly<Record<string, Predicate>>;

/** The filter options endpoint lists them in this order. */
export const predicates = {
  ...comparisonPredicates,
  ...listPredicates,
  ...textPredicates,
  ...datePredicates,
  ...presencePredicates,
} as const satisfies Readonly<Record<string, Predicate>>;

export type PredicateName = keyof typeof predicates;
export const predicateNames = Object.keys(predicates) as readonly PredicateName[];

/** The predicates that work on a field of these types. */
export function predicatesOf(types: readonly FilterType[]): PredicateName[] {
  return predicateNames.filter((name) => {
    const takes: readonly FilterType[] = predicates[name].types;
    return takes.some((type) => types.includes(type));
  });
}

// Filter values in the form of the field's type: texts folded, dates as epoch milliseconds (interface 2.9, contract 35).

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

function inOrder(left: FilterValue, right: FilterValue): [FilterValue, FilterValue] {
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
