// CONTAINS_NONE: The list holds none of the values, or is empty.
import { someValues, type Predicate } from '../predicate.ts';

export const containsNone: Predicate = {
  values: someValues,
  types: ['LIST'],
  meaning: 'The list holds none of the values, or is empty',
  question: (values) => ({ ask: 'none', test: { test: 'oneOf', values } }),
};
