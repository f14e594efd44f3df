// Layout of dashboards: after every move, tiles stay on the grid, whole and apart.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  arranged,
  type Box,
  boxIn,
  columns,
  fitted,
  freePlace,
  overlaps,
  type Placed,
  stepped,
  without,
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

function isAbove(upper: Box, lower: Box): boolean {
  const inRow = { y: 0, height: 1 };
  return upper.y < lower.y && overlaps({ ...upper, ...inRow }, { ...lower, ...inRow });
}

function restsOn(tile: Placed, tiles: readonly Placed[]): boolean {
  return tile.y === 0 || tiles.some((other) => isAbove(other, tile) && bottomOf(other) === tile.y);
}

const bottomOf = ({ y, height }: Box) => y + height;

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

  test('review console M12: no tile has a gap above it', () => {
    fc.assert(
      fc.property(layouts, fc.nat(), box, (tiles, at, wanted) => {
        const id = tiles[at % tiles.length]?.id ?? '';
        for (const after of [arranged(tiles, id, wanted), without(tiles, id)]) {
          check(after);
          for (const tile of after) expect(restsOn(tile, after)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('review console M12: a tile goes where it is dropped, or up to what is above', () => {
    fc.assert(
      fc.property(layouts, fc.nat(), box, (tiles, at, wanted) => {
        const id = tiles[at % tiles.length]?.id ?? '';
        const { y, ...dropped } = fitted(wanted);
        const after = arranged(tiles, id, wanted).find((tile) => tile.id === id);
        expect(after).toMatchObject(dropped);
        expect(after?.y).toBeLessThanOrEqual(y);
      }),
      { numRuns: 300 },
    );
  });

  test('review console M12: of two other tiles in a column, the upper one stays the upper one', () => {
    fc.assert(
      fc.property(layouts, fc.nat(), box, (tiles, at, wanted) => {
        const id = tiles[at % tiles.length]?.id ?? '';
        for (const after of [arranged(tiles, id, wanted), without(tiles, id)])
          for (const one of tiles)
            for (const other of tiles) {
              const [a, b] = [boxIn(after, one.id), boxIn(after, other.id)];
              if (one.id === id || other.id === id || a === undefined || b === undefined) continue;
              if (isAbove(one, other)) expect(isAbove(b, a)).toBe(false);
            }
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

describe('review console M12: a tile that moves leaves no hole beside it', () => {
  /** Letters of the tiles, cell by cell; a point is an empty cell. */
  const drawn = (tiles: readonly Placed[]) => {
    const rows = Math.max(...tiles.map(bottomOf));
    return Array.from({ length: rows }, (_, y) =>
      Array.from({ length: columns }, (_, x) => {
        const cell = { x, y, width: 1, height: 1 };
        return tiles.find((tile) => overlaps(tile, cell))?.id ?? '.';
      }).join(''),
    );
  };
  const read = (...rows: readonly string[]): Placed[] => {
    const ids = new Set(rows.join('').replaceAll('.', ''));
    return [...ids].map((id) => {
      const y = rows.findIndex((row) => row.includes(id));
      const x = rows[y]?.indexOf(id) ?? 0;
      const width = (rows[y]?.lastIndexOf(id) ?? 0) - x + 1;
      return { id, x, y, width, height: rows.filter((row) => row.includes(id)).length };
    });
  };
  const four = ['aaabbbcccddd', 'eeeeeeeeeeee'];
  const two = ['aaaaaabbbbbb'];
  const stack = ['aaaaaabbbbbb', 'aaaaaacccccc'];

  test.each([
    ['the next one takes its place', four, 'a', { x: 3 }, ['bbbaaacccddd', 'eeeeeeeeeeee']],
    ['all up to its new place follow', four, 'a', { x: 9 }, ['bbbcccdddaaa', 'eeeeeeeeeeee']],
    ['to the left as well', four, 'd', { x: 0 }, ['dddaaabbbccc', 'eeeeeeeeeeee']],
    ['into another row', four, 'b', { y: 1 }, ['aaacccddd...', '...bbb......', 'eeeeeeeeeeee']],
    ['two change places', two, 'a', { x: 6 }, ['bbbbbbaaaaaa']],
    [
      'a stack takes the place of a tall one',
      stack,
      'a',
      { x: 6 },
      ['bbbbbbaaaaaa', 'ccccccaaaaaa'],
    ],
    [
      'what is below rises',
      ['aaabbb', 'ccc...', 'ddd...'],
      'a',
      { y: 2 },
      ['cccbbb', 'ddd...', 'aaa...'],
    ],
    [
      'the row of what has risen closes too',
      ['aaabbb', 'cccddd'],
      'a',
      { x: 6, y: 1 },
      ['cccbbbaaa', 'ddd'],
    ],
    ['a narrower one lets the next follow', two, 'a', { width: 4 }, ['aaaabbbbbb..']],
    [
      'a wider one pushes to the side where there is room',
      ['aaabbb...ccc'],
      'a',
      { width: 5 },
      ['aaaaabbb.ccc'],
    ],
    [
      'a wider one pushes down where there is none',
      two,
      'a',
      { width: 7 },
      ['aaaaaaa.....', '......bbbbbb'],
    ],
  ] as const)('%s', (_, before, id, change, expected) => {
    const tiles = read(...before);
    const wanted = { ...(boxIn(tiles, id) ?? tiles[0]), ...change } as Box;
    const after = arranged(tiles, id, wanted);
    expect(drawn(after)).toEqual(expected.map((row) => row.padEnd(columns, '.')));
  });

  test.each([
    ['the row closes', four, 'b', ['aaacccddd...', 'eeeeeeeeeeee']],
    ['what is below rises', ['aaaaaabbb', 'cccccc...'], 'a', ['ccccccbbb']],
  ] as const)('removed: %s', (_, before, id, expected) => {
    const after = drawn(without(read(...before), id));
    expect(after).toEqual(expected.map((row) => row.padEnd(columns, '.')));
  });
});
