// Clusters: devices that would overlap are one circle with their number.
import { type WorldPoint, worldPx } from './view.ts';

export const mapStates = ['online', 'silent', 'never'] as const;
/** A `place` is that of a device whose state the reader cannot know. */
export type MapState = (typeof mapStates)[number] | 'place';

export interface MapPoint {
  readonly id: string;
  readonly name: string;
  readonly at: WorldPoint;
  readonly state: MapState;
}

export interface Cluster {
  /** The middle of its devices. */
  readonly at: WorldPoint;
  readonly points: readonly MapPoint[];
  readonly counts: Readonly<Record<MapState, number>>;
}

/** Side of a square in which devices become one. */
const cellPx = 46;

/**
 * Squares are those of whole zoom steps, so that dragging and slow zooming change nothing. Reads
 * each point once.
 */
export function clustersOf(points: readonly MapPoint[], zoom: number): readonly Cluster[] {
  const cells = worldPx(Math.round(zoom)) / cellPx;
  const groups = new Map<number, MapPoint[]>();
  for (const point of points) {
    const key = Math.floor(point.at.x * cells) * 2 ** 26 + Math.floor(point.at.y * cells);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [point]);
    else group.push(point);
  }
  return Array.from(groups.values(), clusterOf);
}

function clusterOf(points: readonly MapPoint[]): Cluster {
  let [x, y] = [0, 0];
  const counts = { online: 0, silent: 0, never: 0, place: 0 };
  for (const point of points) {
    x += point.at.x;
    y += point.at.y;
    counts[point.state] += 1;
  }
  return { at: { x: x / points.length, y: y / points.length }, points, counts };
}
