// Every leaf of the data of a sample is one row, and no other.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { depthMax, type ValueRow, valueRows } from './sample-lines.ts';

/** The members of a row that have a value. */
const shown = (row: ValueRow) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

test.each<[string, JsonObject, object[]]>([
  ['a number', { a: 1 }, [{ key: 'a', number: 1 }]],
  ['false', { a: false }, [{ key: 'a', boolean: false }]],
  ['an empty string', { a: '' }, [{ key: 'a', text: '' }]],
  ['null', { a: null }, [{ key: 'a', json: 'null' }]],
  ['an empty object', { a: {} }, [{ key: 'a', json: '{}' }]],
  ['an array', { a: [{ b: 1 }] }, [{ key: 'a', json: '[{"b":1}]' }]],
  ['a member', { a: { b: { c: 1 } } }, [{ key: 'a.b.c', number: 1 }]],
  ['a place', { p: { latitude: 1, longitude: 2 } }, [{ key: 'p', latitude: 1, longitude: 2 }]],
  [
    'a place with more',
    { p: { latitude: 1, longitude: 2, altitude: 'high', fix: true } },
    [
      { key: 'p', latitude: 1, longitude: 2 },
      { key: 'p.fix', boolean: true },
      { key: 'p.altitude', text: 'high' },
    ],
  ],
  ['half a place', { p: { latitude: 1 } }, [{ key: 'p.latitude', number: 1 }]],
])('%s', (_, data, rows) => {
  expect(valueRows(data).map(shown)).toEqual(rows);
});

test('what is nested too deep is JSON', () => {
  let data: JsonObject = { leaf: 1 };
  for (let i = 0; i <= depthMax + 3; i++) data = { a: data };
  const [row] = valueRows(data);
  expect(row?.key.split('.')).toHaveLength(depthMax + 1);
  expect(row?.json).toContain('leaf');
});

test('each row has a key and one value', () => {
  const data = fc.object({ maxDepth: 4, withNullPrototype: false, values: [fc.jsonValue()] });
  fc.assert(
    fc.property(data, (value) => {
      const rows = valueRows(JSON.parse(JSON.stringify(value)) as JsonObject);
      for (const { key, altitude: _, longitude: __, ...values } of rows) {
        expect(typeof key).toBe('string');
        expect(Object.values(values).filter((each) => each !== null)).toHaveLength(1);
      }
    }),
  );
});
