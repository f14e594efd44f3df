// Tiles in view: which tiles of a street map a view needs, and where they are on the screen.
import type { TileName } from '../../../src/model/map-tiles.ts';
import { screenOf, type Size, tilePx, type View, worldAt, worldPx } from './view.ts';

/** What tile servers commonly have; closer views enlarge these. */
const zoomMax = 19;
/** A tile that is not there yet is replaced by a part of one that covers it. */
const ancestorsMax = 5;

export interface PlacedTile {
  readonly tile: TileName;
  /** Upper left corner and side on the screen, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** From the middle outwards, which is the order in which they are asked for. */
export function tilesInView(view: View, size: Size): readonly PlacedTile[] {
  const z = Math.max(0, Math.min(zoomMax, Math.round(view.zoom)));
  const count = 2 ** z;
  const side = worldPx(view.zoom) / count;
  const from = worldAt(view, size, { x: 0, y: 0 });
  const to = worldAt(view, size, { x: size.width, y: size.height });
  const inside = (value: number) => Math.max(0, Math.min(count - 1, Math.floor(value * count)));
  const placed: PlacedTile[] = [];
  for (let y = inside(from.y); y <= inside(to.y); y++)
    for (let x = inside(from.x); x <= inside(to.x); x++) {
      const corner = screenOf(view, size, { x: x / count, y: y / count });
      placed.push({ tile: { z, x, y }, ...corner, side });
    }
  const distance = ({ x, y }: PlacedTile) =>
    Math.hypot(x + side / 2 - size.width / 2, y + side / 2 - size.height / 2);
  return placed.toSorted((a, b) => distance(a) - distance(b));
}

export interface TilePart {
  readonly tile: TileName;
  /** Upper left corner and side of the part, in pixels of the tile. */
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** The tile, then the parts of the tiles above it that show the same ground. */
export function partsFor({ z, x, y }: TileName): readonly TilePart[] {
  const levels = Math.min(ancestorsMax, z) + 1;
  return Array.from({ length: levels }, (_, up) => {
    const across = 2 ** up;
    const side = tilePx / across;
    const tile = { z: z - up, x: Math.floor(x / across), y: Math.floor(y / across) };
    return { tile, x: (x % across) * side, y: (y % across) * side, side };
  });
}
