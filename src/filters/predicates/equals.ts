// EQUALS: The field equals the value; texts in any case.
import { oneValue, scalar, type Predicate } from '../predicate.ts';

export const equals: Predicate = {
  values: oneValue,
  types: scalar,
  meaning: 'The field equals the value; texts in any case',
  question: (values) => ({ ask: 'any', test: { test: 'oneOf', values } }),
};
