// Thinning a long series to fewer points that look the same on a chart: largest triangle three buckets (contract 36).
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';

export interface SeriesPoint {
  readonly value: Json;
  readonly at: EpochMs;
}

export interface Thinning {
  /** Takes the points in the order of time. */
  readonly add: (point: SeriesPoint) => void;
  /** Ends; the points that stay, at most as many as wanted. */
  readonly kept: () => readonly SeriesPoint[];
}

/**
 * Keeps the first and the last of `total` points, and of each bucket between them the one that
 * spans the largest triangle with the point kept before and the average of the next bucket. Only
 * two buckets are in memory. `wanted` is at least 3 and at most `total`.
 */
export function createThinning(total: number, wanted: number): Thinning {
  const kept: SeriesPoint[] = [];
  const pointsABucket = (total - 2) / (wanted - 2);
  let count = 0;
  let current: SeriesPoint[] = [];
  let next: SeriesPoint[] = [];
  let currentBucket = 1;

  const bucketOf = (place: number) =>
    place >= total - 1
      ? wanted - 1
      : Math.min(wanted - 2, 1 + Math.floor((place - 1) / pointsABucket));
  const close = () => {
    const before = kept.at(-1);
    if (before !== undefined)
      kept.push(...largest(before, current, next.length > 0 ? next : current));
    current = next;
    next = [];
    currentBucket++;
  };

  return {
    add(point) {
      const bucket = bucketOf(count++);
      if (kept.length === 0) {
        kept.push(point);
        return;
      }
      while (bucket > currentBucket + 1) close();
      (bucket === currentBucket ? current : next).push(point);
    },
    kept() {
      close();
      const last = current.at(-1);
      if (last !== undefined) kept.push(last);
      return kept;
    },
  };
}

function largest(
  before: SeriesPoint,
  points: readonly SeriesPoint[],
  following: readonly SeriesPoint[],
): SeriesPoint[] {
  const at = mean(following, (point) => point.at);
  const level = mean(following, levelOf);
  let [found] = points;
  let size = -1;
  for (const point of points) {
    const area = Math.abs(
      (before.at - at) * (levelOf(point) - levelOf(before)) -
        (before.at - point.at) * (level - levelOf(before)),
    );
    if (area > size) [found, size] = [point, area];
  }
  if (found === undefined) return [];
  return [found];
}

function mean(points: readonly SeriesPoint[], of: (point: SeriesPoint) => number): number {
  let sum = 0;
  for (const point of points) sum += of(point);
  return sum / points.length;
}

/** Where a chart draws the value; what is neither number nor boolean is drawn on the axis. */
function levelOf({ value }: SeriesPoint): number {
  return typeof value === 'number' ? value : Number(value === true);
}
