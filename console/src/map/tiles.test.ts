// Tiles in view: they cover the map without gaps, and a missing tile is a part of one above it.
import { expect, test } from 'vitest';
import { partsFor, tilesInView } from './street-map.ts';
import { worldOf } from './view.ts';

const size = { width: 800, height: 600 };

test.each([
  ['the world', { center: { x: 0.5, y: 0.42 }, zoom: 1.7 }],
  ['a city', { center: worldOf({ longitude: 7.5886, latitude: 47.5596 }), zoom: 12.4 }],
  ['a house', { center: worldOf({ longitude: 7.5886, latitude: 47.5596 }), zoom: 19 }],
  ['a corner of the world', { center: { x: 0, y: 0 }, zoom: 6 }],
])('%s is covered by tiles of a readable size, and by no other', (_, view) => {
  const placed = tilesInView(view, size);
  const side = placed[0]?.side ?? 0;
  expect(side).toBeGreaterThanOrEqual(256 / Math.SQRT2);
  expect(side).toBeLessThanOrEqual(256 * Math.SQRT2);
  expect(new Set(placed.map(({ tile }) => JSON.stringify(tile))).size).toBe(placed.length);
  for (const { tile, x, y } of placed) {
    expect([x + side > -1, y + side > -1, x < size.width + 1, y < size.height + 1]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    for (const at of [tile.x, tile.y]) {
      expect(at).toBeGreaterThanOrEqual(0);
      expect(at).toBeLessThan(2 ** tile.z);
    }
  }
  const isMiddleCovered = placed.some(
    ({ x, y }) => x <= 401 && x + side >= 399 && y <= 301 && y + side >= 299,
  );
  expect(isMiddleCovered).toBe(true);
});

test('the tile in the middle is asked for first', () => {
  const view = { center: { x: 0.5001, y: 0.5001 }, zoom: 4 };
  expect(tilesInView(view, size)[0]?.tile).toEqual({ z: 4, x: 8, y: 8 });
});

test('tiles above one show its ground in their parts', () => {
  expect(partsFor({ z: 3, x: 5, y: 2 })).toEqual([
    { tile: { z: 3, x: 5, y: 2 }, x: 0, y: 0, side: 256 },
    { tile: { z: 2, x: 2, y: 1 }, x: 128, y: 0, side: 128 },
    { tile: { z: 1, x: 1, y: 0 }, x: 64, y: 128, side: 64 },
    { tile: { z: 0, x: 0, y: 0 }, x: 160, y: 64, side: 32 },
  ]);
});
