// GREATER_THAN_OR_EQUALS: The field is greater than the value or equals it.
import { comparable, oneValue, type Predicate } from '../predicate.ts';

export const greaterThanOrEquals: Predicate = {
  values: oneValue,
  types: comparable,
  meaning: 'The field is greater than the value or equals it',
  question: ([value]) => ({ ask: 'any', test: { test: 'greaterOrEqual', value: value! } }),
};
