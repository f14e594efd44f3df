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
  CONTAINS: part('contains', 'The text contains the value, in any case'),
  STARTS_WITH: part('startsWith', 'The text starts with the value, in any case'),
  ENDS_WITH: part('endsWith', 'The text ends with the value, in any case'),
} as const satisfies Readonly<Record<string, Predicate>>;
