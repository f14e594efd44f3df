// Comparison predicates: equality and order (interface 2.9).
import type { FilterType } from '../../../model/filter-type.ts';
import { inOrder } from '../filter-values.ts';
import {
  comparable,
  type FilterValue,
  firstOf,
  oneValue,
  type Predicate,
  type Question,
  scalar,
  someValues,
  twoValues,
  type ValueTest,
} from '../predicate.ts';

function equality(ask: 'any' | 'none', values: Predicate['values'], meaning: string): Predicate {
  const question = (sent: readonly FilterValue[]): Question => ({
    ask,
    test: { test: 'oneOf', values: sent },
  });
  return { values, types: scalar, meaning, question };
}

type Order = Extract<ValueTest, { readonly value: unknown }>['test'];

/** A predicate that compares the field with one value. */
export function order(test: Order, types: readonly FilterType[], meaning: string): Predicate {
  const question = (sent: readonly FilterValue[]): Question => ({
    ask: 'any',
    test: { test, value: firstOf(sent) },
  });
  return { values: oneValue, types, meaning, question };
}

export const comparisonPredicates = {
  EQUALS: equality('any', oneValue, 'The field equals the value (case-insensitive for strings)'),
  NOT_EQUALS: equality('none', oneValue, 'The field does not equal the value, or is not set'),
  IN: equality('any', someValues, 'The field equals one of the values; texts in any case'),
  NOT_IN: equality('none', someValues, 'The field equals none of the values, or is not set'),
  LESS_THAN: order('less', comparable, 'The field is less than the value'),
  LESS_THAN_OR_EQUALS: order(
    'lessOrEqual',
    comparable,
    'The field is less than the value or equals it',
  ),
  GREATER_THAN: order('greater', comparable, 'The field is greater than the value'),
  GREATER_THAN_OR_EQUALS: order(
    'greaterOrEqual',
    comparable,
    'The field is greater than the value or equals it',
  ),
  BETWEEN: {
    values: twoValues,
    types: comparable,
    meaning: 'The field is between the two values, inclusive, in either order',
    question: (values) => {
      const [least, greatest] = inOrder(firstOf(values), firstOf(values.slice(1)));
      return { ask: 'any', test: { test: 'between', least, greatest } };
    },
  },
} as const satisfies Readonly<Record<string, Predicate>>;
