// Layout of dashboards: after every move, tiles stay on the grid, whole and apart.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  arranged,
  type Box,
  columns,
  freePlace,
  overlaps,
  type Placed,
  stepped,
} from './layout.ts';

const box = fc.record({
  x: fc.integer({ min: -3, max: 14 }),
  y: fc.integer({ min: -3, max: 30 }),
  width: fc.integer({ min: 0, max: 15 }),
  height: fc.integer({ min: 0, max: 8 }),
});
const layouts = fc
  .array(box, { minLength: 1, maxLength: 12 })
  .map((boxes) => arranged(boxes.map((one, n): Placed => ({ ...one, id: `t${n}` }))));

function check(tiles: readonly Placed[]): void {
  for (const [n, tile] of tiles.entries()) {
    expect(tile.x).toBeGreaterThanOrEqual(0);
    expect(tile.y).toBeGreaterThanOrEqual(0);
    expect(tile.width).toBeGreaterThan(0);
    expect(tile.x + tile.width).toBeLessThanOrEqual(columns);
    for (const other of tiles.slice(n + 1)) expect(overlaps(tile, other)).toBe(false);
  }
}

describe('property', () => {
  test('a move or a new size leaves all tiles on the grid, apart and in the list', () => {
    fc.assert(
      fc.property(layouts, fc.nat(), box, (tiles, at, wanted) => {
        const id = tiles[at % tiles.length]?.id ?? '';
        const after = arranged(tiles, id, wanted);
        check(after);
        expect(after.map((tile) => tile.id)).toEqual(tiles.map((tile) => tile.id));
      }),
      { numRuns: 300 },
    );
  });

  test('what is arranged stays as it is', () => {
    fc.assert(
      fc.property(layouts, (tiles) => {
        check(tiles);
        expect(arranged(tiles)).toEqual(tiles);
      }),
    );
  });

  test('a new tile finds a place where nothing is', () => {
    fc.assert(
      fc.property(layouts, fc.integer({ min: 1, max: 12 }), (tiles, width) => {
        const place = freePlace(tiles, [width, 2]);
        check([...tiles, { ...place, id: 'new' }]);
      }),
    );
  });
});

describe('steps of the keyboard', () => {
  const at = (id: string, x: number, y: number, width = 6): Placed => {
    return { id, x, y, width, height: 2 };
  };
  const tiles = [at('a', 0, 0), at('b', 0, 2), at('c', 6, 0)];
  const walk = (id: string, ...steps: readonly Partial<Box>[]) => {
    let wanted: Box = tiles.find((tile) => tile.id === id) ?? at('', 0, 0);
    for (const step of steps) wanted = stepped(tiles, id, wanted, step);
    return arranged(tiles, id, wanted).map((tile) => [tile.id, tile.x, tile.y].join(' '));
  };

  test.each([
    ['down: it changes places with the next', 'a', [{ y: 1 }], ['a 0 2', 'b 0 0', 'c 6 0']],
    ['up: the same', 'b', [{ y: -1 }], ['a 0 2', 'b 0 0', 'c 6 0']],
    ['past the end nothing changes', 'b', [{ y: 1 }], ['a 0 0', 'b 0 2', 'c 6 0']],
    ['down and up again', 'a', [{ y: 1 }, { y: -1 }], ['a 0 0', 'b 0 2', 'c 6 0']],
    ['to the right: the other gives way', 'a', [{ x: 1 }], ['a 1 0', 'b 0 2', 'c 6 2']],
    ['past the right edge nothing changes', 'c', [{ x: 1 }], ['a 0 0', 'b 0 2', 'c 6 0']],
  ] as const)('%s', (_, id, steps, expected) => {
    expect(walk(id, ...steps)).toEqual(expected);
  });

  test('a tile grows to the edge and no further', () => {
    let wanted: Box = at('c', 6, 0, 5);
    for (let n = 0; n < 4; n++) wanted = stepped(tiles, 'c', wanted, { width: 1 });
    expect(wanted.width).toBe(6);
  });
});
