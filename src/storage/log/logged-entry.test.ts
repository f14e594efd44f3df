// Logged entries: a store that keeps objects gets the data as it was sent.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { ShapeInterner, LeafValues } from './data-shape.ts';
import { dataOfRows } from './logged-entry.ts';

test('the data of all rows is read from one array of values', () => {
  const sent: JsonObject[] = [
    { a: 1, in: { b: 'x' }, on: true },
    { a: null, list: [1, { c: 2 }], empty: {} },
    { a: 2, in: { b: 'y' }, on: false },
  ];
  const interner = new ShapeInterner();
  const values = new LeafValues();
  const shapes = sent.map((data) => interner.shapeOf(data, values, undefined));
  expect([...dataOfRows({ samples: [], shapes, values })]).toEqual(sent);
});
