// Layout: tiles on 12 columns never overlap, and close up towards the top when one is moved.

export const columns = 12;
const rowsMax = 1_000;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Placed extends Box {
  readonly id: string;
}

export type Step = Partial<Box>;

/** The box within the grid, with a size that fits into it. */
export function fitted({ x, y, width, height }: Box): Box {
  const fittedWidth = clamp(width, 1, columns);
  return {
    x: clamp(x, 0, columns - fittedWidth),
    y: clamp(y, 0, rowsMax - 1),
    width: fittedWidth,
    height: clamp(height, 1, rowsMax),
  };
}

/** Keeps the order of the list; `wanted` is where one of the tiles should be. */
export function arranged<T extends Placed>(tiles: readonly T[], id?: string, wanted?: Box): T[] {
  const moved = tiles.find((tile) => tile.id === id);
  const target = moved === undefined || wanted === undefined ? undefined : fitted(wanted);
  const isDown = target !== undefined && moved !== undefined && target.y > moved.y;
  const wishes = tiles.map((tile) => {
    if (tile !== moved || target === undefined) return { tile, box: tile, rank: tile.y };
    // A tile that goes down comes after the one whose row it reaches, one that goes up before it.
    return { tile, box: target, rank: target.y + (isDown ? 0.5 : -0.5) };
  });
  const order = wishes.toSorted((a, b) => a.rank - b.rank || a.box.x - b.box.x);
  const done: Box[] = [];
  const boxes = new Map<T, Box>();
  for (const { tile, box } of order) {
    const placed = risen(fitted(box), done);
    done.push(placed);
    boxes.set(tile, placed);
  }
  return tiles.map((tile) => ({ ...tile, ...boxes.get(tile) }));
}

/**
 * One step of the keyboard: the box to want so that the tile really changes its place. Past the
 * end nothing changes and the box stays.
 */
export function stepped<T extends Placed>(
  tiles: readonly T[],
  id: string,
  wanted: Box,
  { x = 0, y = 0, width = 0, height = 0 }: Step,
): Box {
  const before = boxIn(arranged(tiles, id, wanted), id);
  const lowest = tiles.reduce((end, tile) => Math.max(end, tile.y + tile.height), 0);
  let next = wanted;
  do {
    next = {
      x: next.x + x,
      y: next.y + y,
      width: next.width + width,
      height: next.height + height,
    };
    const fit = fitted(next);
    if (!isSame(fit, next) || next.y > lowest) return wanted;
    const after = boxIn(arranged(tiles, id, next), id);
    if (before !== undefined && after !== undefined && !isSame(before, after)) return next;
  } while (y !== 0);
  return next;
}

/** First place for a tile of this size: in the first row that has room for it. */
export function freePlace(tiles: readonly Box[], [width, height]: readonly [number, number]): Box {
  const lowest = tiles.reduce((end, tile) => Math.max(end, tile.y + tile.height), 0);
  for (let y = 0; y < lowest; y++)
    for (let x = 0; x + width <= columns; x++) {
      const box = { x, y, width, height };
      if (!tiles.some((tile) => overlaps(tile, box))) return box;
    }
  return { x: 0, y: lowest, width, height };
}

/** In the order in which they are read: by row, then by column. */
export function inReadingOrder<T extends Box>(tiles: readonly T[]): T[] {
  return tiles.toSorted((a, b) => a.y - b.y || a.x - b.x);
}

export function boxIn(tiles: readonly Placed[], id: string): Box | undefined {
  return tiles.find((tile) => tile.id === id);
}

export function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** As far up as nothing is in the way; below what it would overlap. */
function risen(box: Box, others: readonly Box[]): Box {
  const inColumn = others.filter((other) =>
    overlaps({ ...other, y: box.y }, { ...box, height: 1 }),
  );
  let { y } = box;
  for (;;) {
    const blocking = inColumn.find((other) => overlaps(other, { ...box, y }));
    if (blocking === undefined) break;
    y = blocking.y + blocking.height;
  }
  const above = inColumn.filter((other) => other.y + other.height <= y);
  const floor = above.reduce((end, other) => Math.max(end, other.y + other.height), 0);
  return { ...box, y: floor };
}

function isSame(a: Box, b: Box): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
