// Save to a dashboard: a line tile gets a free place and a free id.
import { expect, test } from 'vitest';
import { withLines } from './save-line.ts';

const lines = { title: 'Temperature', series: [{ deviceId: '02a', dataKey: 'temperature' }] };

test('each further tile has its own id and overlaps none', () => {
  const tiles = withLines(withLines(withLines([], lines), lines), lines);
  expect(tiles.map(({ id, kind, x, y }) => [id, kind, x, y])).toEqual([
    ['tile-1', 'line', 0, 0],
    ['tile-2', 'line', 6, 0],
    ['tile-3', 'line', 0, 5],
  ]);
  expect(tiles[2]).toMatchObject(lines);
});
