// Column order: columns with widths survive the address, and mistakes in it are dropped.
import { expect, test } from 'vitest';
import {
  colsOf,
  columnsOf,
  movedColumn,
  resizedColumn,
  standardColumns,
  withColumns,
} from './column-order.ts';

const columns = [{ key: 'type' }, { key: 'field:a%40b', widthPx: 150 }, { key: 'seen' }];

test('columns and widths come back from the address', () => {
  expect(colsOf(columns)).toBe('type,field:a%40b@150,seen');
  expect(columnsOf({ cols: 'type,field:a%40b@150,seen' })).toEqual(columns);
});

test.each([
  ['unknown and double ones', 'size,type,type,%', [{ key: 'type' }]],
  [
    'widths out of bounds',
    'type@1,seen@9999',
    [
      { key: 'type', widthPx: 60 },
      { key: 'seen', widthPx: 600 },
    ],
  ],
  ['widths that are no number', 'type@x', [{ key: 'type' }]],
  ['none', '', []],
])('%s', (_title, cols, expected) => expect(columnsOf({ cols })).toEqual(expected));

test('the usual columns are not in the address', () => {
  const usual = standardColumns.map((key) => ({ key }));
  expect(columnsOf({})).toEqual(usual);
  expect(withColumns({ q: 'a', cols: 'type' }, usual)).toEqual({ q: 'a' });
});

test('columns are moved within their number and sized within limits', () => {
  const keys = (moved: ReturnType<typeof movedColumn>) => moved.map(({ key }) => key);
  expect(keys(movedColumn(columns, 0, 2))).toEqual(['field:a%40b', 'seen', 'type']);
  expect(movedColumn(columns, 0, 3)).toBe(columns);
  expect(movedColumn(columns, 0, -1)).toBe(columns);
  expect(resizedColumn(columns, 'type', 7)[0]).toEqual({ key: 'type', widthPx: 60 });
  expect(resizedColumn(columns, 'field:a%40b', undefined)[1]).toEqual({ key: 'field:a%40b' });
});
