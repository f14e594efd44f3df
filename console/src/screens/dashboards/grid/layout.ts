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

/**
 * Keeps the order of the list; `wanted` is where one of the tiles should be. It gets this place, or
 * rises to what is above it; tiles in the way go below it, and the others close the hole it leaves.
 */
export function arranged<T extends Placed>(tiles: readonly T[], id?: string, wanted?: Box): T[] {
  const moved = tiles.find((tile) => tile.id === id);
  if (moved === undefined || wanted === undefined) return inPlacesOf(stacked(tiles), tiles);
  const target: Placed = { ...fitted(wanted), id: moved.id };
  const others: Placed[] = tiles.filter((tile) => tile !== moved);
  const order = inReadingOrder(stacked(withRoom(others, moved, target)));
  const isAfter = (tile: Box) => tile.y >= target.y || overlaps(tile, target);
  const before = order.filter((tile) => !isAfter(tile));
  return inPlacesOf(stackedInOrder([...before, target, ...order.filter(isAfter)]), tiles);
}

/** The tiles but one; the others close the hole that it leaves. */
export function without<T extends Placed>(tiles: readonly T[], id: string): T[] {
  const others = tiles.filter((tile) => tile.id !== id);
  const removed = boxIn(tiles, id);
  return inPlacesOf(stacked(removed === undefined ? others : closed(others, removed)), others);
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

/** Every tile as far up as those that come before it in the order of reading let it. */
function stacked(tiles: readonly Placed[]): Placed[] {
  return stackedInOrder(inReadingOrder(tiles.map((tile) => ({ ...tile, ...fitted(tile) }))));
}

function stackedInOrder(order: readonly Placed[]): Placed[] {
  const done: Placed[] = [];
  for (const tile of order) {
    const above = done.filter((other) => areInOneColumn(other, tile)).map(bottomOf);
    done.push({ ...tile, y: Math.max(0, ...above) });
  }
  return done;
}

/** In the order of `list`. */
function inPlacesOf<T extends Placed>(places: readonly Placed[], list: readonly T[]): T[] {
  return list.map((tile) => ({ ...tile, ...boxIn(places, tile.id) }));
}

/** Tiles beside the one that moves or changes its size follow it, or go to the side. */
function withRoom(others: readonly Placed[], from: Box, to: Box): readonly Placed[] {
  if (from.x === to.x && from.y === to.y)
    return slid(others, to.width - from.width, to, (tile) => isRightOf(tile, from));
  if (!areInOneRow(from, to)) return closed(others, from, to);
  if (to.x >= from.x)
    return slid(others, -from.width, to, (tile) => isRightOf(tile, from) && tile.x < rightOf(to));
  return slid(others, from.width, to, (tile) => isRightOf(from, tile) && rightOf(tile) > to.x);
}

/** Tiles rise into the hole, then the rows close up where one left or a tile has risen. */
function closed(others: readonly Placed[], hole: Box, kept?: Box): readonly Placed[] {
  const places = stacked(others);
  const risen = others.filter(({ id, y }) => (boxIn(places, id)?.y ?? y) < y);
  return [hole, ...risen].reduce<readonly Placed[]>(
    (list, left) => slid(list, -left.width, kept, (tile) => isRightOf(tile, left)),
    places,
  );
}

/** Moves tiles to the side, each where it fits in beside all others and the one that is `kept` free. */
function slid(
  tiles: readonly Placed[],
  by: number,
  kept: Box | undefined,
  isMeant: (tile: Box) => boolean,
): readonly Placed[] {
  const order = tiles.filter(isMeant).toSorted((a, b) => (a.x - b.x) * -Math.sign(by));
  let list = tiles;
  for (const tile of order) {
    const place = { ...tile, x: tile.x + by };
    const isFree =
      isSame(fitted(place), place) &&
      !list.some((other) => other.id !== tile.id && overlaps(other, place)) &&
      (kept === undefined || !overlaps(kept, place));
    if (isFree) list = list.map((other) => (other.id === tile.id ? place : other));
  }
  return list;
}

/** Beside it in one row, and not across its right edge. */
function isRightOf(tile: Box, other: Box): boolean {
  return areInOneRow(tile, other) && tile.x >= rightOf(other);
}

function areInOneRow(a: Box, b: Box): boolean {
  return overlaps({ ...a, x: 0, width: 1 }, { ...b, x: 0, width: 1 });
}

function areInOneColumn(a: Box, b: Box): boolean {
  return overlaps({ ...a, y: 0, height: 1 }, { ...b, y: 0, height: 1 });
}

function rightOf({ x, width }: Box): number {
  return x + width;
}

function bottomOf({ y, height }: Box): number {
  return y + height;
}

function isSame(a: Box, b: Box): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
