// CONTAINS: The text contains the value, in any case.
import { oneValue, type Predicate } from '../predicate.ts';

export const contains: Predicate = {
  values: oneValue,
  types: ['STRING'],
  meaning: 'The text contains the value, in any case',
  question: ([text]) => ({ ask: 'any', test: { test: 'contains', text: String(text) } }),
};
