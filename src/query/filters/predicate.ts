// Predicate: its shape, and the tests that it makes of a field's values (interface 2.9).
import type { FilterType } from '../../model/filter-type.ts';

/** Texts are folded (`filter-values.ts`), dates are epoch milliseconds, booleans 0 and 1. */
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

export interface Predicate {
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

export const noValue = { min: 0, max: 0 } as const;
export const oneValue = { min: 1, max: 1 } as const;
export const twoValues = { min: 2, max: 2 } as const;
export const someValues = { min: 1, max: valuesPerFilterMax } as const;

export const comparable: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE'];
export const scalar: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE', 'BOOLEAN', 'ENUM'];

/**
 * The first value. Throws when there is none, because the reader of expressions counts them before.
 */
export function firstOf([value]: readonly FilterValue[]): FilterValue {
  if (value === undefined) throw new Error('A predicate got too few values');
  return value;
}
