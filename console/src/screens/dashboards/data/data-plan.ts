// Data plan: what all tiles of a dashboard need, in as few requests as possible.
import { parseIsoDuration } from '../../../../../src/model/iso-duration.ts';
import type { components } from '../../../../generated/interface-types.ts';
import {
  type Bucket,
  bucketsFor,
  type Interval,
  isoInterval,
  isShowable,
} from '../../device/data/time-range.ts';
import {
  expectedOf,
  orderOf,
  seriesOf,
  type Tile,
  type TileSeries,
  topicOf,
  valueOf,
} from '../dashboard-model.ts';

// Tile buckets: the length of bucket that a tile names, when a chart of the range can show it.

const daySeconds = 86_400;
/** About so long; the platform answers those of the calendar. */
const monthDays = 30;

/** Undefined for what is not an ISO-8601 duration, which another client may have stored. */
export function bucketOf(iso: string): Bucket | undefined {
  const parsed = parseIsoDuration(iso);
  if (!('duration' in parsed)) return undefined;
  const { months, days, ms } = parsed.duration;
  return { iso, seconds: (months * monthDays + days) * daySeconds + ms / 1_000 };
}

/** The bucket that a tile names; undefined when it names none, or one too short for the range. */
function ownBucket(iso: string, interval: Interval): Bucket | undefined {
  const named = bucketOf(iso);
  return named !== undefined && isShowable(named, interval) ? named : undefined;
}

type ManySeriesBody = components['schemas']['ManySeriesBody'];
type WantedSeries = ManySeriesBody['series'][number];
type LatestBody = components['schemas']['LatestSamplesBody'];

/** A series of one device; that of a tag is one of these for each device. */
export interface DeviceSeries {
  readonly deviceId: string;
  readonly topic: string;
  /** The text of the formula, if it is one. */
  readonly dataKey: string;
  readonly isFormula: boolean;
  readonly accumulator: string;
  /** As the tile names them; series with other options are other series. */
  readonly order: ReturnType<typeof orderOf>;
  /** Sensitivity of the expected range that is drawn. */
  readonly expected: ReturnType<typeof expectedOf>;
  readonly label: string | undefined;
  readonly unit: string;
  readonly color: string | undefined;
  /** As the tile names it; empty for the bucket that all tiles share. */
  readonly bucketInterval: string;
}

export type TagDevices = ReadonlyMap<string, readonly string[]>;

/** Lines in one chart: more cannot be distinguished. */
export const linesMax = 12;
/** Far below the limits of one answer: 1,000 series and 100,000 points. */
const seriesPerRequest = 300;
const pointsMax = 90_000;
/** Of one series in all tiles: AVG, MIN, MAX, LAST, COUNT, SUM and FIRST. */
const accumulatorsMost = 7;
const devicesPerRequest = 1_000;
/** More are not narrowed: all data is asked for. */
const keysMax = 50;

/** Tags that tiles name, whose devices are asked for first. */
export function tagsOf(tiles: readonly Tile[]): readonly string[] {
  const ids = tiles.flatMap((tile) => seriesOf(tile).flatMap(({ tagId }) => tagId ?? []));
  return [...new Set(ids)].toSorted((a, b) => Number(a > b) - Number(a < b));
}

export function deviceSeriesOf(
  series: TileSeries,
  tagDevices: TagDevices,
  bucketInterval = '',
): DeviceSeries[] {
  const { deviceId, tagId, accumulator, label, unit, color } = series;
  const ids =
    deviceId === null || deviceId === undefined ? tagDevices.get(tagId ?? '') : [deviceId];
  return (ids ?? []).map((id) => ({
    deviceId: id,
    topic: topicOf(series),
    dataKey: valueOf(series),
    isFormula: series.dataKey === undefined,
    accumulator: accumulator ?? 'AVG',
    order: orderOf(series),
    expected: expectedOf(series),
    label: deviceId === null || deviceId === undefined ? undefined : (label ?? undefined),
    unit: unit ?? '',
    color: color ?? undefined,
    bucketInterval,
  }));
}

/** The series of a tile, with those of tags as one for each device. */
export function tileSeriesOf(tile: Tile, tagDevices: TagDevices): readonly DeviceSeries[] {
  const bucketInterval = tile.bucketInterval ?? '';
  return seriesOf(tile).flatMap((series) => deviceSeriesOf(series, tagDevices, bucketInterval));
}

/** Another key of the same device and topic. */
export function seriesOfDevice(series: DeviceSeries, dataKey: string): DeviceSeries {
  return { ...series, dataKey, isFormula: false, order: {}, expected: undefined };
}

/** Bars are added up from finer buckets, so that all tiles share one request. */
function accumulatorsOf(tile: Tile, accumulator: string): readonly string[] {
  if (tile.kind === 'value') return ['AVG', 'LAST'];
  if (tile.kind === 'bar') return accumulator === 'AVG' ? ['AVG', 'COUNT'] : [accumulator];
  return accumulator === 'AVG' ? ['AVG', 'MIN', 'MAX'] : [accumulator];
}

const drawn: ReadonlySet<Tile['kind']> = new Set(['value', 'line', 'bar']);
const newest: ReadonlySet<Tile['kind']> = new Set(['value', 'state', 'table', 'map']);

interface SeriesName {
  readonly deviceId?: string;
  readonly topic?: string;
  readonly dataKey?: string;
  readonly bucketInterval: string;
  readonly order: ReturnType<typeof orderOf>;
}

export const seriesKey = ({ deviceId, topic, dataKey, bucketInterval, order }: SeriesName) =>
  JSON.stringify([deviceId, topic, dataKey, bucketInterval, orderName(order)]);

/** Empty without any option. */
const orderName = (order: ReturnType<typeof orderOf>): string =>
  Object.keys(order).length === 0 ? '' : JSON.stringify(order);

/** Each series once, with the accumulators of all tiles that show it, in requests of a bounded size. */
export function seriesRequests(
  tiles: readonly Tile[],
  tagDevices: TagDevices,
  most = seriesPerRequest,
): readonly (readonly WantedSeries[])[] {
  const wanted = new Map<string, { series: WantedSeries; names: Set<string> }>();
  for (const tile of tiles.filter(({ kind }) => drawn.has(kind)))
    for (const one of tileSeriesOf(tile, tagDevices).slice(0, linesMax)) {
      const { deviceId, topic, dataKey, isFormula, accumulator, order } = one;
      const read = isFormula ? { expression: dataKey } : { dataKey };
      const series = { deviceId, topic, ...read, ...order, accumulators: [] };
      const key = seriesKey(one);
      const entry = wanted.get(key) ?? { series, names: new Set() };
      for (const name of accumulatorsOf(tile, accumulator)) entry.names.add(name);
      wanted.set(key, entry);
    }
  const all = [...wanted.values()].map(({ series, names }) => {
    return { ...series, accumulators: [...names] as WantedSeries['accumulators'] };
  });
  // Answers do not say the options, so that all series of a request have the same.
  const alike = Map.groupBy(all, (series) => orderName(orderOf(series)));
  return [...alike.values()].flatMap((group) => chunks(group, most));
}

export interface SeriesRequest {
  readonly bucketInterval: string;
  readonly order: ReturnType<typeof orderOf>;
  readonly bucket: Bucket;
  readonly series: readonly WantedSeries[];
}

/** Tiles share their requests with all tiles that name the same bucket. */
export function seriesPlan(
  tiles: readonly Tile[],
  tagDevices: TagDevices,
  interval: Interval,
): readonly SeriesRequest[] {
  const groups = Map.groupBy(tiles, (tile) => tile.bucketInterval ?? '');
  return [...groups].flatMap(([bucketInterval, alike]) => {
    const own = ownBucket(bucketInterval, interval);
    const most = own === undefined ? seriesPerRequest : seriesWithin(own, interval);
    const requests = seriesRequests(alike, tagDevices, most);
    const bucket = own ?? sharedBucket(requests, interval);
    return requests.map((series) => ({
      bucketInterval,
      bucket,
      series,
      order: orderOf(series[0] ?? {}),
    }));
  });
}

/** Series of one request that keep to the limit of points, with as many accumulators as a tile needs. */
function seriesWithin({ seconds }: Bucket, { fromMs, toMs }: Interval): number {
  const buckets = (toMs - fromMs) / 1_000 / seconds + 2;
  return Math.max(
    1,
    Math.min(seriesPerRequest, Math.floor(pointsMax / buckets / accumulatorsMost)),
  );
}

/** The shortest bucket with which every request keeps to the limit of points. */
export function sharedBucket(
  requests: readonly (readonly WantedSeries[])[],
  interval: Interval,
): Bucket {
  const seconds = (interval.toMs - interval.fromMs) / 1_000;
  const lines = Math.max(
    1,
    ...requests.map((list) => list.reduce((sum, { accumulators }) => sum + accumulators.length, 0)),
  );
  const usable = bucketsFor(interval);
  const found = usable.find((bucket) => (seconds / bucket.seconds + 2) * lines <= pointsMax);
  return found ?? usable.at(-1) ?? { iso: 'P1W', seconds: 604_800 };
}

export function seriesBody(
  series: readonly WantedSeries[],
  { interval, bucket, zone }: SeriesFrame,
): ManySeriesBody {
  return {
    series: [...series],
    interval: isoInterval(interval),
    bucketInterval: bucket.iso,
    timeZone: zone,
  };
}

export interface SeriesFrame {
  readonly interval: Interval;
  readonly bucket: Bucket;
  readonly zone: string;
}

/** The newest samples of every device that a tile names itself. */
export function latestBodies(tiles: readonly Tile[]): readonly LatestBody[] {
  const shown = tiles.filter(({ kind }) => newest.has(kind));
  const named = shown.flatMap((tile) => seriesOf(tile).flatMap(({ deviceId }) => deviceId ?? []));
  const narrowed = keysOf(shown);
  return chunks([...new Set(named)], devicesPerRequest).map((deviceIds) => ({
    deviceIds: [...deviceIds],
    size: devicesPerRequest,
    ...narrowed,
  }));
}

/** The newest samples of the devices of a tag, which also say which devices these are. */
export function tagBody(tiles: readonly Tile[], tagId: string, size: number): LatestBody {
  return { tagId, size, ...keysOf(tiles) };
}

function keysOf(tiles: readonly Tile[]): { readonly keys?: string[] } {
  const places = tiles.some(({ kind }) => kind === 'map') ? ['latitude', 'longitude'] : [];
  const named = tiles.flatMap((tile) => seriesOf(tile).flatMap(({ dataKey }) => dataKey ?? []));
  const keys = [...new Set([...named, ...places])];
  return keys.length === 0 || keys.length > keysMax ? {} : { keys };
}

function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size));
}
