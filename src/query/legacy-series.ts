// The two older forms of time series that clients in the field still send (contract 21).
import { dataValue } from '../model/sample.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { parseBound } from '../model/timestamp.ts';
import { problem } from '../model/problem.ts';
import { refuseUnreadable, type ReportedRange } from '../storage/samples/reported-reads.ts';
import type { OrderBody, QueriedDevice, ReadingStore } from './accumulation.ts';
import type { DeviceQueries } from './device-queries.ts';
import { rangeOf, type TimestampBounds, topicOf } from './sample-query.ts';
import type { Json } from '../model/json.ts';

/** More points than these are thinned (contract 36). */
const valuePointsMax = 250_000;

interface ValueSeries {
  readonly points: readonly SeriesPoint[];
  /** Whether points were omitted. */
  readonly thinned: boolean;
}

/**
 * Every value of the key in the range, oldest first as charts need them; of more than `pointsMax`
 * those that a chart needs most. Samples are read in batches, a second time when there are too many
 * points; ends early when the signal is aborted.
 */
export async function rawSeries(
  deviceId: string,
  {
    topic,
    dataKey,
    timestamp,
  }: {
    readonly topic: string;
    readonly dataKey: string;
    readonly timestamp?: TimestampBounds | null;
  },
  store: ReadingStore,
  {
    signal,
    pointsMax = valuePointsMax,
  }: {
    readonly signal?: AbortSignal | undefined;
    /** The most points of an answer. */
    readonly pointsMax?: number;
  } = {},
): Promise<ValueSeries> {
  const range = {
    deviceId,
    ...topicOf(topic),
    ...rangeOf(timestamp),
    unreadable: refuseUnreadable,
  };
  const source = { range, dataKey, store, signal };
  const points: SeriesPoint[] = [];
  let total = 0;
  await eachPoint(source, (point) => {
    if (total++ < pointsMax) points.push(point);
  });
  if (total <= pointsMax) return { points, thinned: false };
  points.length = 0;
  const thinner = new Thinning(total, pointsMax);
  await eachPoint(source, thinner.add);
  return { points: thinner.kept(), thinned: true };
}

async function eachPoint(
  {
    range,
    dataKey,
    store,
    signal,
  }: {
    readonly range: ReportedRange;
    readonly dataKey: string;
    readonly store: ReadingStore;
    readonly signal: AbortSignal | undefined;
  },
  take: (point: SeriesPoint) => void,
): Promise<void> {
  for await (const samples of store.exportSamples(range)) {
    if (signal?.aborted === true) return;
    for (const { data, timestamp } of samples) {
      const value = dataValue(data, dataKey);
      if (value !== undefined && value !== null) take({ value, at: timestamp });
    }
  }
}

/** The answer as JSON text, piece by piece. */
export function* seriesText({ points }: ValueSeries, dataKey: string): Generator<string> {
  yield '{"dataPoints":[';
  for (let from = 0; from < points.length; from += pointsAPiece) {
    const piece = points
      .slice(from, from + pointsAPiece)
      .map(({ value, at }) => [value, formatInstant(at)]);
    const text = JSON.stringify(piece);
    yield (from === 0 ? '' : ',') + text.slice(1, -1);
  }
  yield `],"key":${JSON.stringify(dataKey)}}`;
}

const pointsAPiece = 5_000;

/**
 * The older form of a raw time series; its callers mix up `from` and `to`, so their order does not
 * count.
 */
export async function aggregationSeries(
  device: QueriedDevice,
  {
    data,
    timestamp,
    bucket,
    timeZone = null,
    ...order
  }: OrderBody & {
    readonly data: { readonly key: string; readonly topic: string };
    /** In either order. */
    readonly timestamp: { readonly from: string; readonly to: string };
    readonly bucket: { readonly interval: string; readonly aggregation: string };
    readonly timeZone?: string | null;
  },
  now: EpochMs,
  queries: DeviceQueries,
): Promise<{
  readonly data: { readonly dataPoints: (number | null)[]; readonly timestamps: string[] };
}> {
  const one = parseBound('timestamp.from', timestamp.from);
  const other = parseBound('timestamp.to', timestamp.to);
  if (one === other) throw problem('badInterval', { reason: 'from and to must differ' });
  const interval = {
    from: formatInstant(Math.min(one, other)),
    to: formatInstant(Math.max(one, other)),
  };
  const body = {
    topic: data.topic,
    dataKey: data.key,
    accumulator: bucket.aggregation,
    interval,
    bucketInterval: bucket.interval,
    timeZone,
    ...order,
  };
  const { dataPoints, starts } = await queries.seriesOf(device, { source: 'raw', body, now });
  return { data: { dataPoints, timestamps: starts.map(formatInstant) } };
}

// Thinning a long series to fewer points that look the same on a chart: largest triangle three buckets (contract 36).

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
