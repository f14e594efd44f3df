// The shape of a predicate, and the small language of questions that predicates ask of a field (interface 2.9).
import type { FilterType } from '../model/filter-type.ts';

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

/** A scalar field has one value or, when it is null, none; a list field has as many as it has elements. */
export type Question =
  /** Does any value pass? */
  | { readonly ask: 'any'; readonly test: ValueTest }
  /** Does no value pass? */
  | { readonly ask: 'none'; readonly test: ValueTest }
  /** Is each of the tests passed by some value? */
  | { readonly ask: 'each'; readonly tests: readonly ValueTest[] }
  | { readonly ask: 'present' }
  | { readonly ask: 'absent' };

export interface Predicate {
  /** How many values a filter with it carries. */
  readonly values: { readonly min: number; readonly max: number };
  readonly types: readonly FilterType[];
  /** One sentence for those who build a filter. */
  readonly meaning: string;
  /** The question, given as many values as `values` says, all of one type. */
  readonly question: (values: readonly FilterValue[]) => Question;
}

/** How many values a filter may carry where its predicate takes any number. */
export const valuesPerFilterMax = 1_000;

export const noValue = { min: 0, max: 0 } as const;
export const oneValue = { min: 1, max: 1 } as const;
export const twoValues = { min: 2, max: 2 } as const;
export const someValues = { min: 1, max: valuesPerFilterMax } as const;

export const comparable: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE'];
export const scalar: readonly FilterType[] = ['STRING', 'NUMBER', 'DATE', 'BOOLEAN', 'ENUM'];
