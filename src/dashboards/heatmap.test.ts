// Heatmap: hours are those of the clock.
import { expect, test } from 'vitest';
import { heatmapOf, shareOf } from './distribution.ts';

const hours = ['2026-01-01T22:00:00Z', '2026-01-01T23:00:00Z', '2026-01-03T05:00:00Z'];

test('contract 39: each value is a cell of its day and hour in the zone', () => {
  const found = heatmapOf(hours, [1, 3, 2], (seconds) => seconds + 3_600);
  expect(found?.cells.map(({ day, hour, value }) => [day, hour, value])).toEqual([
    [0, 23, 1],
    [1, 0, 3],
    [2, 6, 2],
  ]);
  expect(found).toMatchObject({ days: 3, least: 1, greatest: 3 });
  expect(found && [1, 2, 3].map((value) => shareOf(found, value))).toEqual([0, 0.5, 1]);
});

test('hours without a value have no cell, and no value at all no heatmap', () => {
  expect(heatmapOf(hours, [null, 3], (seconds) => seconds)?.cells).toHaveLength(1);
  expect(heatmapOf(hours, [], (seconds) => seconds)).toBeUndefined();
});
