// Same data: what is the same measurement, whatever the order of its keys.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { DataSet, sameSampleData } from './data-shape.ts';

const parsed = (text: string) => JSON.parse(text) as JsonObject;

test.each<[string, JsonObject, JsonObject, boolean]>([
  ['the order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ['another value inside', { a: { b: 1 } }, { a: { b: 2 } }, false],
  ['one key more', { a: 1 }, { a: 1, b: null }, false],
  ['one key less', { a: 1, b: null }, { a: 1 }, false],
  ['another key', { a: 1 }, { b: 1 }, false],
  ['an inherited name', {}, parsed('{"toString":null}'), false],
  [
    'a key that would set the prototype',
    parsed('{"__proto__":1}'),
    parsed('{"__proto__":1}'),
    true,
  ],
  ['another value of it', parsed('{"__proto__":1}'), parsed('{"__proto__":2}'), false],
  ['it and none', parsed('{"__proto__":{}}'), {}, false],
  ['the order of a list', { a: [1, 2] }, { a: [2, 1] }, false],
  ['a list and an object', { a: [] }, { a: {} }, false],
  ['null and an object', { a: null }, { a: {} }, false],
  ['a negative zero', { a: -0 }, { a: 0 }, true],
  ['what becomes null', { a: Number.NaN }, { a: null }, true],
])('%s', (_, one, other, isSame) => {
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(sameSampleData(a, b)).toBe(isSame);
    const set = new DataSet();
    set.add(a);
    expect(set.has(b)).toBe(isSame);
  }
});
