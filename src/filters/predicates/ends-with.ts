// ENDS_WITH: The text ends with the value, in any case.
import { oneValue, type Predicate } from '../predicate.ts';

export const endsWith: Predicate = {
  values: oneValue,
  types: ['STRING'],
  meaning: 'The text ends with the value, in any case',
  question: ([text]) => ({ ask: 'any', test: { test: 'endsWith', text: String(text) } }),
};
