// Line plot: names of marks that are close to each other.
import { expect, test } from 'vitest';
import { labelRows } from './line-plot.ts';

test('review console: names of marks that are close stand below each other', () => {
  const spans = [
    [0, 40],
    [10, 60],
    [45, 90],
    [50, 70],
  ] as const;
  expect(labelRows(spans)).toEqual([0, 1, 0, 2]);
});

test('names with room stay in the first row', () => {
  expect(
    labelRows([
      [0, 40],
      [40, 80],
      [200, 240],
    ]),
  ).toEqual([0, 0, 0]);
});
