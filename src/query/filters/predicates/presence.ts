// Presence predicates: whether a field has a value at all (interface 2.9).
import { filterTypes } from '../../../model/filter-type.ts';
import { noValue, type Predicate } from '../predicate.ts';

export const presencePredicates = {
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
