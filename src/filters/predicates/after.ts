// AFTER: The date lies after the value.
import { oneValue, type Predicate } from '../predicate.ts';

export const after: Predicate = {
  values: oneValue,
  types: ['DATE'],
  meaning: 'The date lies after the value',
  question: ([value]) => ({ ask: 'any', test: { test: 'greater', value: value! } }),
};
