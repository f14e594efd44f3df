// IN: The field equals one of the values; texts in any case.
import { scalar, someValues, type Predicate } from '../predicate.ts';

export const isIn: Predicate = {
  values: someValues,
  types: scalar,
  meaning: 'The field equals one of the values; texts in any case',
  question: (values) => ({ ask: 'any', test: { test: 'oneOf', values } }),
};
