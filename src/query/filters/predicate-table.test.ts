// Predicate table: the order in which the filter options endpoint lists the predicates.
import { expect, test } from 'vitest';
import { predicateNames, predicatesOf } from './predicates.ts';

test('the predicates are listed by family, the dates before and after behind the texts', () => {
  expect(predicateNames).toEqual([
    'EQUALS',
    'NOT_EQUALS',
    'IN',
    'NOT_IN',
    'LESS_THAN',
    'LESS_THAN_OR_EQUALS',
    'GREATER_THAN',
    'GREATER_THAN_OR_EQUALS',
    'BETWEEN',
    'CONTAINS_ALL',
    'CONTAINS_NONE',
    'CONTAINS_ANY',
    'CONTAINS',
    'STARTS_WITH',
    'ENDS_WITH',
    'BEFORE',
    'AFTER',
    'IS_NULL',
    'IS_NOT_NULL',
  ]);
});

test('the predicates of a type are in the order of the table', () => {
  expect(predicatesOf(['DATE']).slice(-5)).toEqual([
    'BETWEEN',
    'BEFORE',
    'AFTER',
    'IS_NULL',
    'IS_NOT_NULL',
  ]);
});
