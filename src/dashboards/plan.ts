// Plan of a dashboard: the requests that its tiles need, as few as possible.
import type { Static } from 'typebox';
import type { latestSamplesBody } from '../contract/sample-queries.ts';
import type { manySeriesBody } from '../contract/series-queries.ts';
import { parseIsoDuration } from '../model/iso-duration.ts';
import { type Bucket, bucketsFor, type Interval, isoInterval, isShowable } from './buckets.ts';
import { expectedOf, orderOf, type TileSeries, topicOf, valueOf } from './configuration.ts';
import { comparedTiles } from './earlier.ts';
import { kinds } from './kinds.ts';
import { type BoundSeries, type BoundTile, type Source, sourceKey } from './variables.ts';

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

type ManySeriesBody = Static<typeof manySeriesBody>;
type WantedSeries = ManySeriesBody['series'][number];
type LatestBody = Omit<Static<typeof latestSamplesBody>, 'expression'> & {
  readonly expression?: ReturnType<typeof fieldFilter>;
};

/** A series of one device; that of a tag, place, or custom field is one of these for each device. */
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
  /** As the tile names it; undefined for nothing better than the name of the device. */
  readonly label: string | undefined;
  /** One of several devices, which the label does not tell apart. */
  readonly isOfMany: boolean;
  readonly unit: string;
  readonly color: string | undefined;
  readonly axis: 'LEFT' | 'RIGHT';
  /** How it is drawn; undefined for the usual way of the tile. */
  readonly style: TileSeries['style'] | undefined;
  /** As the tile names it; empty for the bucket that all tiles share. */
  readonly bucketInterval: string;
}

/** Devices of sources by `sourceKey`; a source that is a device needs no entry. */
export type SourceDevices = ReadonlyMap<string, readonly string[]>;

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

/** Sources of many devices that tiles name: their devices are asked for first. */
export function groupsOf(tiles: readonly BoundTile[]): readonly Source[] {
  const all = tiles.flatMap((tile) => sourcesOf(tile)).filter(({ kind }) => kind !== 'DEVICE');
  const byKey = new Map(all.map((source) => [sourceKey(source), source]));
  return [...byKey].toSorted(([a], [b]) => Number(a > b) - Number(a < b)).map(([, one]) => one);
}

function sourcesOf({ series, sources }: BoundTile): readonly Source[] {
  return [...sources, ...series.map(({ source }) => source)];
}

function devicesOfSource(source: Source, devices: SourceDevices): readonly string[] {
  return source.kind === 'DEVICE' ? [source.id] : (devices.get(sourceKey(source)) ?? []);
}

/** Every device that tiles name or that a source of them has, once, in a stable order. */
export function devicesOf(tiles: readonly BoundTile[], devices: SourceDevices): readonly string[] {
  const ids = tiles.flatMap((tile) =>
    sourcesOf(tile).flatMap((source) => devicesOfSource(source, devices)),
  );
  return [...new Set(ids)].toSorted((a, b) => Number(a > b) - Number(a < b));
}

export function deviceSeriesOf(
  series: BoundSeries,
  devices: SourceDevices,
  bucketInterval = '',
): DeviceSeries[] {
  const { source, isOfMany, accumulator, label, unit, color, axis, style } = series;
  return devicesOfSource(source, devices).map((deviceId) => ({
    deviceId,
    topic: topicOf(series),
    dataKey: valueOf(series),
    isFormula: series.dataKey === undefined,
    accumulator: accumulator ?? 'AVG',
    order: orderOf(series),
    expected: expectedOf(series),
    // That of a tag or place names all of its devices.
    label: source.kind === 'DEVICE' ? (label ?? undefined) : undefined,
    isOfMany,
    unit: unit ?? '',
    color: color ?? undefined,
    axis: axis ?? 'LEFT',
    style: style ?? undefined,
    bucketInterval,
  }));
}

/** The series of a tile, with those of many devices as one for each. */
export function tileSeriesOf(tile: BoundTile, devices: SourceDevices): readonly DeviceSeries[] {
  const bucketInterval = tile.bucketInterval ?? '';
  return tile.series.flatMap((series) => deviceSeriesOf(series, devices, bucketInterval));
}

/**
 * What a series is called in its tile: by its label, or one of several devices by the name of the
 * device, with the value where the tile has several.
 */
export function seriesName(
  { label, isOfMany, dataKey }: DeviceSeries,
  deviceName: string | undefined,
  tileSeries: readonly DeviceSeries[],
): string {
  const value = label ?? dataKey;
  if (!isOfMany) return label ?? deviceName ?? dataKey;
  const hasSeveral = tileSeries.some((other) => other.dataKey !== dataKey);
  return hasSeveral ? `${deviceName ?? ''} · ${value}` : (deviceName ?? value);
}

/** Another key of the same device and topic. */
export function seriesOfDevice(series: DeviceSeries, dataKey: string): DeviceSeries {
  return { ...series, dataKey, isFormula: false, order: {}, expected: undefined };
}

/** Bars are added up from finer buckets, so that all tiles share one request. */
export function accumulatorsOf(tile: BoundTile, accumulator: string): readonly string[] {
  if (tile.kind === 'value') return ['AVG', 'LAST'];
  if (tile.kind === 'bar') return accumulator === 'AVG' ? ['AVG', 'COUNT'] : [accumulator];
  if (tile.kind === 'heatmap') return [accumulator];
  if (tile.kind === 'devices') return ['AVG'];
  if (tile.kind === 'map') return ['LAST'];
  return accumulator === 'AVG' ? ['AVG', 'MIN', 'MAX'] : [accumulator];
}

/** Tiles whose values over time are read in buckets. */
const drawn: ReadonlySet<BoundTile['kind']> = new Set(['value', 'line', 'bar', 'heatmap']);

export const isDrawnOverTime = ({ kind }: Pick<BoundTile, 'kind'>): boolean => drawn.has(kind);

/** Devices of a column that shows the course of its values. */
const sparksMax = 100;
/** Devices whose track a map draws. */
export const tracksMax = 20;
const positionKeys = ['latitude', 'longitude'] as const;

/** Series that a tile reads in buckets, at most so many of one that draws all of them. */
function seriesInBuckets(
  tile: BoundTile,
  devices: SourceDevices,
  linesOfTile: number,
): readonly DeviceSeries[] {
  if (isDrawnOverTime(tile)) return tileSeriesOf(tile, devices).slice(0, linesOfTile);
  if (tile.kind === 'devices')
    return tile.series
      .filter(({ isSpark }) => isSpark === true)
      .flatMap((series) => deviceSeriesOf(series, devices).slice(0, sparksMax));
  if (tile.kind !== 'map' || tile.track !== true) return [];
  const tracked = tileSeriesOf(tile, devices).slice(0, tracksMax);
  return tracked.flatMap((one) => positionKeys.map((key) => seriesOfDevice(one, key)));
}

interface SeriesName {
  readonly deviceId?: string | null | undefined;
  readonly topic?: string | null | undefined;
  readonly dataKey?: string | null | undefined;
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
  tiles: readonly BoundTile[],
  devices: SourceDevices,
  most = seriesPerRequest,
  linesOfTile = linesMax,
): readonly (readonly WantedSeries[])[] {
  const wanted = new Map<string, { series: WantedSeries; names: Set<string> }>();
  for (const tile of tiles)
    for (const one of seriesInBuckets(tile, devices, linesOfTile)) {
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

/**
 * Tiles share their requests with all tiles that name the same bucket. Of each tile, as many series
 * are read as it shows.
 */
export function seriesPlan(
  tiles: readonly BoundTile[],
  devices: SourceDevices,
  interval: Interval,
  linesOfTile = linesMax,
): readonly SeriesRequest[] {
  const groups = Map.groupBy(tiles, (tile) => tile.bucketInterval ?? '');
  return [...groups].flatMap(([bucketInterval, alike]) => {
    const own = ownBucket(bucketInterval, interval);
    const most = own === undefined ? seriesPerRequest : seriesWithin(own, interval);
    const requests = seriesRequests(alike, devices, most, linesOfTile);
    const bucket = own ?? sharedBucket(requests, interval);
    return requests.map((series) => ({
      bucketInterval,
      bucket,
      series,
      order: orderOf(series[0] ?? {}),
    }));
  });
}

/** The part of the requests that an earlier period is read for: series of tiles that draw it. */
export function earlierPlan(
  requests: readonly SeriesRequest[],
  tiles: readonly BoundTile[],
  devices: SourceDevices,
): readonly SeriesRequest[] {
  const wanted = new Set(
    comparedTiles(tiles).flatMap((tile) =>
      tileSeriesOf(tile, devices).slice(0, linesMax).map(seriesKey),
    ),
  );
  return requests.flatMap(({ series, ...request }) => {
    const { bucketInterval, order } = request;
    const compared = series.filter(({ deviceId, topic, dataKey, expression }) => {
      const read = { deviceId, topic, dataKey: dataKey ?? expression };
      return wanted.has(seriesKey({ ...read, bucketInterval, order }));
    });
    return compared.length === 0 ? [] : [{ ...request, series: compared }];
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
export function latestBodies(tiles: readonly BoundTile[]): readonly LatestBody[] {
  const shown = tiles.filter(({ kind }) => kinds[kind].isNewest === true);
  const named = shown.flatMap((tile) =>
    sourcesOf(tile).flatMap(({ kind, id }) => (kind === 'DEVICE' ? id : [])),
  );
  const narrowed = keysOf(shown);
  return chunks([...new Set(named)], devicesPerRequest).map((deviceIds) => ({
    deviceIds: [...deviceIds],
    size: devicesPerRequest,
    ...narrowed,
  }));
}

/** What filters need of custom fields: their workspace, and their names by id. */
export interface CustomFields {
  readonly workspaceId: string;
  readonly fieldNames: ReadonlyMap<string, string>;
}

/**
 * The newest samples of the devices of a tag, place, or custom field, which also say which devices
 * these are.
 */
export function groupBody(
  tiles: readonly BoundTile[],
  source: Source,
  size: number,
  { workspaceId, fieldNames }: CustomFields,
): LatestBody {
  const read = { size, ...keysOf(tiles) };
  if (source.kind === 'TAG') return { tagId: source.id, ...read };
  if (source.kind === 'WORKSPACE') return { workspaceId, ...read };
  if (source.kind === 'PLACE') return { placeId: source.id, ...read };
  const value = 'value' in source ? source.value : '';
  const expression = fieldFilter(fieldNames.get(source.id) ?? source.id, value);
  return { workspaceId, expression, ...read };
}

function fieldFilter(customFieldName: string, value: string) {
  return {
    field: 'customFields',
    predicate: 'EQUALS' as const,
    customFieldName,
    values: [value],
  };
}

function keysOf(tiles: readonly BoundTile[]): { readonly keys?: string[] } {
  const places = tiles.some(({ kind }) => kind === 'map') ? ['latitude', 'longitude'] : [];
  const named = tiles.flatMap(({ series, marks }) =>
    [...series, ...(marks ?? [])].flatMap(({ dataKey }) => dataKey ?? []),
  );
  const keys = [...new Set([...named, ...places])];
  return keys.length === 0 || keys.length > keysMax ? {} : { keys };
}

function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size));
}
