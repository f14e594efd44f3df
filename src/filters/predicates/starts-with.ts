// STARTS_WITH: The text starts with the value, in any case.
import { oneValue, type Predicate } from '../predicate.ts';

export const startsWith: Predicate = {
  values: oneValue,
  types: ['STRING'],
  meaning: 'The text starts with the value, in any case',
  question: ([text]) => ({ ask: 'any', test: { test: 'startsWith', text: String(text) } }),
};
