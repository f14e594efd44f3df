// Thinning a long series to fewer points that look the same on a chart: largest triangle three buckets (contract 36).
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';

export interface SeriesPoint {
  readonly value: Json;
  readonly at: EpochMs;
}

/**
 * Keeps the first and the last of `total` points, and of each bucket between them the one that
 * spans the largest triangle with the point kept before and the average of the next bucket. Only
 * two buckets are in memory. `wanted` is at least 3 and at most `total`.
 */
export class Thinning {
  readonly #total: number;
  readonly #wanted: number;
  readonly #kept: SeriesPoint[] = [];
  readonly #pointsABucket: number;
  #count = 0;
  #current: SeriesPoint[] = [];
  #next: SeriesPoint[] = [];
  #currentBucket = 1;

  constructor(total: number, wanted: number) {
    this.#total = total;
    this.#wanted = wanted;
    this.#pointsABucket = (total - 2) / (wanted - 2);
  }

  /** Takes the points in the order of time. */
  readonly add = (point: SeriesPoint): void => {
    const bucket = this.#bucketOf(this.#count++);
    if (this.#kept.length === 0) {
      this.#kept.push(point);
      return;
    }
    while (bucket > this.#currentBucket + 1) this.#close();
    (bucket === this.#currentBucket ? this.#current : this.#next).push(point);
  };

  /** Ends; the points that stay, at most as many as wanted. */
  kept(): readonly SeriesPoint[] {
    this.#close();
    const last = this.#current.at(-1);
    if (last !== undefined) this.#kept.push(last);
    return this.#kept;
  }

  #bucketOf(place: number) {
    return place >= this.#total - 1
      ? this.#wanted - 1
      : Math.min(this.#wanted - 2, 1 + Math.floor((place - 1) / this.#pointsABucket));
  }

  #close() {
    const before = this.#kept.at(-1);
    if (before !== undefined)
      this.#kept.push(
        ...largest(before, this.#current, this.#next.length > 0 ? this.#next : this.#current),
      );
    this.#current = this.#next;
    this.#next = [];
    this.#currentBucket++;
  }
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
