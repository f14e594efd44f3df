// Templates: with any devices, the tiles fit on the grid and name only these devices.
import { expect, test } from 'vitest';
import { columns, overlaps } from './grid/layout.ts';
import { seriesOf } from '../../../../src/dashboards/configuration.ts';
import { type MeasuringDevice, templateNames, tilesOf } from './dashboard-list.tsx';

const device = (id: string, ...keys: readonly string[]): MeasuringDevice => ({
  id,
  name: `Room ${id}`,
  keys: keys.map((key) => ({ topic: 'default', key, title: key.toUpperCase(), unit: '' })),
});
const workspaces: readonly (readonly MeasuringDevice[])[] = [
  [],
  [device('1')],
  [device('1', 'a')],
  [device('1', 'a'), device('2'), device('3', 'a', 'b', 'c', 'd', 'e', 'f', 'g')],
  Array.from({ length: 40 }, (_, n) => device(`${n}`, 'temperature', 'co2')),
];

test.each(templateNames)('%s', (template) => {
  for (const devices of workspaces) {
    const tiles = tilesOf(template, devices);
    const ids = new Set(devices.map(({ id }) => id));
    for (const [n, tile] of tiles.entries()) {
      expect(tile.x + tile.width).toBeLessThanOrEqual(columns);
      for (const other of tiles.slice(n + 1)) expect(overlaps(tile, other)).toBe(false);
      if (tile.kind !== 'text') expect(seriesOf(tile)).not.toEqual([]);
      for (const series of seriesOf(tile)) expect(ids).toContain(series.deviceId);
    }
    expect(new Set(tiles.map(({ id }) => id)).size).toBe(tiles.length);
  }
});

test('devices are compared by the number that most of them have', () => {
  const devices = [device('1', 'x'), device('2', 'a', 'b'), device('3', 'b'), device('4', 'b')];
  const [line] = tilesOf('compare', devices);
  expect(line?.series?.map(({ deviceId, dataKey }) => `${deviceId} ${dataKey}`)).toEqual([
    '2 b',
    '3 b',
    '4 b',
  ]);
});

test('the device in depth is the one that measures most', () => {
  const tiles = tilesOf('device', [device('1', 'x'), device('2', 'a', 'b')]);
  expect(new Set(tiles.flatMap((tile) => seriesOf(tile)).map((one) => one.deviceId))).toEqual(
    new Set(['2']),
  );
});
