// BETWEEN: The field lies between the two values or equals one of them, whatever their order.
import { comparable, type Predicate, twoValues } from '../predicate.ts';
import { inOrder } from '../filter-values.ts';

export const between: Predicate = {
  values: twoValues,
  types: comparable,
  meaning: 'The field lies between the two values or equals one of them, whatever their order',
  question: ([one, other]) => {
    const [least, greatest] = inOrder(one!, other!);
    return { ask: 'any', test: { test: 'between', least, greatest } };
  },
};
