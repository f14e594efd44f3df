// GREATER_THAN: The field is greater than the value.
import { comparable, oneValue, type Predicate } from '../predicate.ts';

export const greaterThan: Predicate = {
  values: oneValue,
  types: comparable,
  meaning: 'The field is greater than the value',
  question: ([value]) => ({ ask: 'any', test: { test: 'greater', value: value! } }),
};
