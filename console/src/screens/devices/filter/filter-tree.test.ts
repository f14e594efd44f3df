// Filter tree: conditions are replaced, removed and pruned where they are, and the rest stays.
import { describe, expect, test } from 'vitest';
import type { FilterGroup, FilterLeaf } from '../device-search.ts';
import { expressionAt, leafPaths, leafWith, pruned, replacedAt, rootOf } from './filter.ts';

const leaf = (value: string): FilterLeaf => ({
  field: 'name',
  predicate: 'EQUALS',
  values: [value],
});
const [a, b, c, d] = [leaf('a'), leaf('b'), leaf('c'), leaf('')];
const or: FilterGroup = { operator: 'OR', expressions: [b, c] };
const tree: FilterGroup = { operator: 'AND', expressions: [a, or, d] };

test('an expression of one condition becomes a group', () => {
  expect(rootOf(a)).toEqual({ operator: 'AND', expressions: [a] });
  expect(rootOf(tree)).toBe(tree);
  expect(rootOf(undefined).expressions).toEqual([]);
});

describe('at a path', () => {
  test('all conditions are found', () => {
    expect(leafPaths(tree)).toEqual([[0], [1, 0], [1, 1], [2]]);
    expect(leafPaths(tree).map((path) => expressionAt(tree, path))).toEqual([a, b, c, d]);
    expect(expressionAt(tree, [0, 1])).toBeUndefined();
  });

  test('a condition is replaced', () => {
    expect(replacedAt(tree, [1, 0], a).expressions[1]).toEqual({ ...or, expressions: [a, c] });
  });

  test('a condition and a group are removed', () => {
    expect(replacedAt(tree, [1, 1], undefined).expressions[1]).toEqual({ ...or, expressions: [b] });
    expect(replacedAt(tree, [1], undefined).expressions).toEqual([a, d]);
    expect(replacedAt(tree, [], undefined).expressions).toEqual([]);
  });
});

test('conditions without values and groups without conditions are left away', () => {
  const isComplete = ({ values = [] }: FilterLeaf) => values[0] !== '';
  expect(pruned(tree, isComplete)).toEqual({ ...tree, expressions: [a, or] });
  const empty: FilterGroup = { operator: 'OR', expressions: [d, { ...or, expressions: [] }] };
  expect(pruned(empty, isComplete)).toBeUndefined();
});

test('values of a custom field have their own name', () => {
  const field: FilterLeaf = {
    field: 'customFields',
    customFieldName: 'Floor',
    predicate: 'EQUALS',
  };
  expect(leafWith(field, ['3'])).toEqual({ ...field, stringValues: ['3'] });
  expect(leafWith(a, ['b'])).toEqual(b);
});
