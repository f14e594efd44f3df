// Data keys of a schema: their order, paths and units, and their values in a sample.
import { expect, test } from 'vitest';
import { dataKeysOf, topicsOf, valueAt } from './data-keys.ts';

const schemas = {
  climate: { properties: {} },
  default: {
    properties: {
      battery: { title: 'battery', type: 'number', inferred: true },
      temperature: { title: 'Temperature', type: 'number', unit: '°C', inferred: false },
      position: {
        inferred: false,
        properties: {
          latitude: { title: 'latitude', type: ['integer', 'number'], inferred: true },
        },
      },
      list: { type: 'array', inferred: true },
      state: { title: 'state', type: 'string', inferred: true },
    },
  },
};

test('the default topic is first', () => {
  expect(topicsOf(schemas)).toEqual(['default', 'climate']);
});

test('declared keys are first, keys of objects have a path, arrays are omitted', () => {
  const one = (key: string, more: object) => ({
    topic: 'default',
    key,
    title: key,
    unit: '',
    isNumber: true,
    isInferred: true,
    ...more,
  });
  expect(dataKeysOf(schemas, 'default')).toEqual([
    one('temperature', { title: 'Temperature', unit: '°C', isInferred: false }),
    one('battery', {}),
    one('position.latitude', {}),
    one('state', { isNumber: false }),
  ]);
  expect(dataKeysOf(schemas, 'unknown')).toEqual([]);
});

test.each([
  ['a', { a: 1 }, 1],
  ['a.b', { 'a.b': 2, a: { b: 3 } }, 2],
  ['a.b', { a: { b: 3 } }, 3],
  ['a.b', { a: 5 }, undefined],
  ['a.b', { a: null }, undefined],
  ['constructor', {}, undefined],
])('the value of %s', (key, data, value) => {
  expect(valueAt(data, key)).toBe(value);
});
