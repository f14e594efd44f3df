// List predicates: which of the values a list contains (interface 2.9).
import { type Predicate, someValues } from '../predicate.ts';

const listed = { values: someValues, types: ['LIST'] } as const;

export const listPredicates = {
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
