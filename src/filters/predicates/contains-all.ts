// CONTAINS_ALL: The list holds every one of the values.
import { someValues, type Predicate } from '../predicate.ts';

export const containsAll: Predicate = {
  values: someValues,
  types: ['LIST'],
  meaning: 'The list holds every one of the values',
  question: (values) => ({
    ask: 'each',
    tests: values.map((value) => ({ test: 'oneOf', values: [value] })),
  }),
};
