// NOT_EQUALS: The field does not equal the value, or is not set.
import { oneValue, scalar, type Predicate } from '../predicate.ts';

export const notEquals: Predicate = {
  values: oneValue,
  types: scalar,
  meaning: 'The field does not equal the value, or is not set',
  question: (values) => ({ ask: 'none', test: { test: 'oneOf', values } }),
};
