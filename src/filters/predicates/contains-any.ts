// CONTAINS_ANY: The list holds at least one of the values.
import { someValues, type Predicate } from '../predicate.ts';

export const containsAny: Predicate = {
  values: someValues,
  types: ['LIST'],
  meaning: 'The list holds at least one of the values',
  question: (values) => ({ ask: 'any', test: { test: 'oneOf', values } }),
};
