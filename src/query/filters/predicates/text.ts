// Text predicates: parts of a string, in any case (interface 2.9).
import { firstOf, oneValue, type Predicate } from '../predicate.ts';

function part(test: 'contains' | 'startsWith' | 'endsWith', meaning: string): Predicate {
  return {
    values: oneValue,
    types: ['STRING'],
    meaning,
    question: (values) => ({ ask: 'any', test: { test, text: String(firstOf(values)) } }),
  };
}

export const textPredicates = {
  CONTAINS: part('contains', 'The string contains the value (case-insensitive)'),
  STARTS_WITH: part('startsWith', 'The string starts with the value (case-insensitive)'),
  ENDS_WITH: part('endsWith', 'The string ends with the value (case-insensitive)'),
} as const satisfies Readonly<Record<string, Predicate>>;
