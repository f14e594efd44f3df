// BEFORE: The date lies before the value.
import { oneValue, type Predicate } from '../predicate.ts';

export const before: Predicate = {
  values: oneValue,
  types: ['DATE'],
  meaning: 'The date lies before the value',
  question: ([value]) => ({ ask: 'any', test: { test: 'less', value: value! } }),
};
