// NOT_IN: The field equals none of the values, or is not set.
import { scalar, someValues, type Predicate } from '../predicate.ts';

export const isNotIn: Predicate = {
  values: someValues,
  types: scalar,
  meaning: 'The field equals none of the values, or is not set',
  question: (values) => ({ ask: 'none', test: { test: 'oneOf', values } }),
};
