// Address of the device list: filters survive it, mistakes in it are dropped, and bodies say what it means.
import { describe, expect, test } from 'vitest';
import { columnKey, columnKeysOf, readColumnKey, standardColumns } from './columns/column-order.ts';
import {
  decodeFilter,
  type FilterExpression,
  type FilterLeaf,
  readDeviceSearch,
} from './device-search.ts';
import { encodeFilter, listBody } from './device-list.ts';

const leaf: FilterLeaf = {
  field: 'tags.name',
  predicate: 'CONTAINS_ANY',
  values: ['Basel', 'Zürich ☀'],
};
const never: FilterLeaf = { field: 'onlineState', predicate: 'EQUALS', values: ['UNKNOWN'] };

describe('a filter in the address', () => {
  const group: FilterExpression = { operator: 'OR', expressions: [leaf, never] };
  test.each<[string, FilterExpression]>([
    ['one condition', leaf],
    ['a group', group],
    ['groups in a group', { operator: 'AND', expressions: [group, leaf] }],
    ['no condition', { operator: 'AND', expressions: [] }],
  ])('%s comes back as it was', (_title, expression) => {
    const encoded = encodeFilter(expression);
    expect(encoded).toMatch(/^[\w-]+$/);
    expect(decodeFilter(encoded)).toEqual(expression);
  });

  test.each([
    ['not base64', '%%%'],
    ['not JSON', btoa('{')],
    ['not an expression', btoa('{"field":1}')],
    ['a group of other things', btoa('{"expressions":[null]}')],
  ])('%s is dropped', (_title, filter) => {
    expect(decodeFilter(filter)).toBeUndefined();
    expect(readDeviceSearch({ filter })).toEqual({});
  });
});

test('an address keeps what the list knows and drops the rest', () => {
  const search = { q: 'room', state: 'silent', sort: '-seen', cols: 'type' };
  expect(readDeviceSearch({ ...search, page: 2 })).toEqual(search);
  expect(readDeviceSearch({ q: true, state: 'lost', sort: 'size', cols: '' })).toEqual({});
  expect(readDeviceSearch({ q: 2024 })).toEqual({ q: '2024' });
});

test('state and filter become one expression', () => {
  expect(listBody('w', {})).toEqual({ workspaceIds: ['w'] });
  expect(listBody('w', { state: 'never' }).expression).toEqual(never);
  const both = listBody('w', { q: 'a', state: 'never', filter: encodeFilter(leaf) });
  const expression = { operator: 'AND', expressions: [never, leaf] };
  expect(both).toEqual({ workspaceIds: ['w'], search: 'a', expression });
});

describe('keys of columns', () => {
  test.each([
    { kind: 'standard', name: 'seen' },
    { kind: 'field', name: 'Room, floor: 2' },
    { kind: 'value', topic: 'a:b,c', key: 'position.lat' },
  ] as const)('%o comes back', (column) => {
    const key = columnKey(column);
    expect(key).not.toContain(',');
    expect(readColumnKey(key)).toEqual(column);
  });

  test('an unknown column is skipped', () => {
    expect(columnKeysOf({ cols: 'type,size,field:,value:a,%,battery' })).toEqual([
      'type',
      'battery',
    ]);
    expect(columnKeysOf({})).toEqual(standardColumns);
  });
});
