// LESS_THAN: The field is less than the value.
import { comparable, oneValue, type Predicate } from '../predicate.ts';

export const lessThan: Predicate = {
  values: oneValue,
  types: comparable,
  meaning: 'The field is less than the value',
  question: ([value]) => ({ ask: 'any', test: { test: 'less', value: value! } }),
};
