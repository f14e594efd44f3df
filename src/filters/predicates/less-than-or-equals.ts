// LESS_THAN_OR_EQUALS: The field is less than the value or equals it.
import { comparable, oneValue, type Predicate } from '../predicate.ts';

export const lessThanOrEquals: Predicate = {
  values: oneValue,
  types: comparable,
  meaning: 'The field is less than the value or equals it',
  question: ([value]) => ({ ask: 'any', test: { test: 'lessOrEqual', value: value! } }),
};
