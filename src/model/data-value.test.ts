// Data values: data keys by their exact name, then as paths.
import { expect, test } from 'vitest';
import { dataValue } from './sample.ts';

test.each([
  [{ a: 1 }, 'a', 1],
  [{ 'a.b': 1, a: { b: 2 } }, 'a.b', 1],
  [{ a: { b: { c: 3 } } }, 'a.b.c', 3],
  [{ a: { 'b.c': 4 } }, 'a.b.c', 4],
  [{ 'a.b': { c: 5 } }, 'a.b.c', 5],
  [{ a: { x: 1 }, 'a.b': { c: 6 } }, 'a.b.c', 6],
  [{ a: null }, 'a', null],
  [{ a: 1 }, 'a.b', undefined],
  [{}, 'constructor', undefined],
  [{ a: {} }, 'a.constructor', undefined],
  [{ a: { '': 1 } }, 'a.', 1],
  [{ '': { a: 2 } }, '.a', 2],
])('contract 35: in %j the key %s is %j', (data, key, value) =>
  expect(dataValue(data, key)).toEqual(value),
);

test.each([
  [{ a: [1, 2] }, 'a.1', 2],
  [{ a: [{ b: [{ c: 3 }] }] }, 'a.0.b.0.c', 3],
  [{ a: [{ 'b.c': 4 }] }, 'a.0.b.c', 4],
  [{ 'a.0': 5, a: [6] }, 'a.0', 5],
  [{ a: [{ x: 1 }], 'a.0': { b: 7 } }, 'a.0.b', 7],
  [{ a: [null] }, 'a.0', null],
  [{ a: [1] }, 'a.1', undefined],
  [{ a: [1] }, 'a.length', undefined],
  [{ a: [1] }, 'a.-1', undefined],
  [{ a: [1] }, 'a.', undefined],
  [{ a: [[1, 2]] }, 'a.0.1', 2],
])('review behaviour 30: in %j the key %s is %j', (data, key, value) =>
  expect(dataValue(data, key)).toEqual(value),
);
