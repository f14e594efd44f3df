// Plan of a dashboard: the requests that its tiles need, as few as possible.
import type { Static } from 'typebox';
import type { latestSamplesBody } from '../contract/sample-queries.ts';
import type { manySeriesBody } from '../contract/series-queries.ts';
import { parseIsoDuration } from '../model/iso-duration.ts';
import { barSeconds } from './bars.ts';
import {
  type Bucket,
  bucketFor,
  bucketLengths,
  bucketsFor,
  type Interval,
  isoInterval,
  isShowable,
} from './buckets.ts';
import {
  expectedOf,
  kinds,
  pointsNamed,
  type TileSeries,
  topicOf,
  valueOf,
} from './configuration.ts';
import {
  type BoundCalculation,
  type BoundSeries,
  type BoundTile,
  type Source,
  sourceKey,
} from './variables.ts';

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
type WantedCalculation = NonNullable<ManySeriesBody['calculations']>[number];
type LatestBody = Omit<Static<typeof latestSamplesBody>, 'expression'> & {
  readonly expression?: ReturnType<typeof fieldFilter>;
};

/**
 * A series of one device, or of devices that are combined, or a calculation of such series; a series of a tag,
 * place, or custom field that combines nothing is one of these for each device.
 */
export interface DeviceSeries {
  /** Names its answer among those of the dashboard. */
  readonly key: string;
  /** Of the tiles that it shares its requests with. */
  readonly group: string;
  /** Service ID; empty for a calculation and for combined devices. */
  readonly deviceId: string;
  /** The devices that are combined, and how. */
  readonly combined: Combined | undefined;
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
  /** Its name in the calculations of the tile. */
  readonly ref: string | undefined;
  /** Only read by calculations. */
  readonly isHidden: boolean;
  /** Its answer is one value, of the whole range. */
  readonly isOfRange: boolean;
}

interface Combined {
  readonly devices: NonNullable<WantedSeries['devices']>;
  readonly across: NonNullable<WantedSeries['across']>;
}

/** Devices of sources by `sourceKey`; a source that is a device needs no entry. */
export type SourceDevices = ReadonlyMap<string, readonly string[]>;

/** Lines in one chart: more cannot be distinguished. */
export const linesMax = 12;
/** Far below the limits of one answer: 1,000 series and 100,000 points. */
const seriesPerRequest = 300;
const pointsMax = 90_000;
/** Devices that one series combines at most, and their points in one answer. */
const combinedDevicesMax = 1_000;
const combinedPointsMax = 1_000_000;
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

/** Without those whose devices the platform combines itself. */
function sourcesOf({ series, sources }: BoundTile): readonly Source[] {
  return [...sources, ...series.flatMap(({ source, across }) => (across ? [] : source))];
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
  group = '',
): DeviceSeries[] {
  const { source, isOfMany, accumulator, label, unit, color, axis, style, ref, hidden } = series;
  const combined = combinedIn(series);
  const deviceIds = combined === undefined ? devicesOfSource(source, devices) : [''];
  return deviceIds.map((deviceId) => {
    const read = {
      deviceId,
      combined,
      topic: topicOf(series),
      dataKey: valueOf(series),
      order: orderOf(series),
      group,
    };
    return {
      ...read,
      key: seriesKey(read),
      isFormula: series.dataKey === undefined,
      accumulator: accumulator ?? 'AVG',
      expected: expectedOf(series),
      // That of a tag or place names all of its devices.
      label: source.kind === 'DEVICE' || combined ? (label ?? undefined) : undefined,
      isOfMany,
      unit: unit ?? '',
      color: color ?? undefined,
      axis: axis ?? 'LEFT',
      style: style ?? undefined,
      ref: ref ?? undefined,
      isHidden: hidden === true,
      isOfRange: false,
    };
  });
}

function combinedIn({ source, across }: BoundSeries): Combined | undefined {
  if (!across) return undefined;
  return {
    across,
    devices: source.kind === 'PLACE' ? { placeId: source.id } : { tagId: source.id },
  };
}

const seriesKey = ({
  deviceId,
  topic,
  dataKey,
  group,
  order,
}: Pick<DeviceSeries, 'deviceId' | 'topic' | 'dataKey' | 'group' | 'order'>): string =>
  JSON.stringify([deviceId, topic, dataKey, group, order]);

/** Whether values are calculated from those of several series or devices, for exactly the buckets that are shown. */
export function isComputed({ calculations, series }: BoundTile): boolean {
  return calculations.length > 0 || series.some(({ across }) => Boolean(across));
}

/**
 * What tiles share their requests by: the bucket that they name. A tile that computes has requests of
 * its own, because the names of its series and its bucket are its own.
 */
export function groupOf(tile: BoundTile): string {
  return isComputed(tile) ? `tile ${tile.id}` : (tile.bucketInterval ?? '');
}

/** The series of a tile, with those of many devices as one for each, also hidden ones. */
function readSeriesOf(tile: BoundTile, devices: SourceDevices): readonly DeviceSeries[] {
  const group = groupOf(tile);
  const all = tile.series.flatMap((series) => deviceSeriesOf(series, devices, group));
  if (!isComputed(tile)) return all;
  // One data key may have several names.
  const isOfRange = isComputedOnce(tile);
  return all.map((one, at) => ({ ...one, key: JSON.stringify([group, at]), isOfRange }));
}

/**
 * What a tile shows: its series, with those of many devices as one for each, then its calculations. A tile of one
 * value shows the calculation of its series.
 */
export function tileSeriesOf(tile: BoundTile, devices: SourceDevices): readonly DeviceSeries[] {
  const calculations = tile.calculations.map((one, at) => calculationOf(tile, one, at));
  if (calculations.length > 0 && kinds[tile.kind].series === 'ONE') return calculations;
  const shown = readSeriesOf(tile, devices).filter(({ isHidden }) => !isHidden);
  return [...shown, ...calculations];
}

/** No name of a series is this. */
const calculationName = (at: number): string => `=${at}`;

function calculationOf(
  tile: BoundTile,
  { as, expression, unit, color, axis, style }: BoundCalculation,
  at: number,
): DeviceSeries {
  const group = groupOf(tile);
  return {
    key: JSON.stringify([group, calculationName(at)]),
    group,
    deviceId: '',
    combined: undefined,
    topic: '',
    dataKey: expression,
    isFormula: true,
    accumulator: calculated,
    order: {},
    expected: undefined,
    label: as,
    isOfMany: false,
    unit: unit ?? '',
    color: color ?? undefined,
    axis: axis ?? 'LEFT',
    style: style ?? undefined,
    ref: undefined,
    isHidden: false,
    isOfRange: isComputedOnce(tile),
  };
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
  const one = { ...series, dataKey, isFormula: false, order: {}, expected: undefined };
  return { ...one, key: seriesKey(one) };
}

/** What answers name the points of a calculation. */
const calculated = 'VALUE';

/** Bars are added up from finer buckets, so that all tiles share one request. */
export function accumulatorsOf(
  tile: BoundTile,
  { accumulator, combined }: Pick<DeviceSeries, 'accumulator' | 'combined'>,
): readonly string[] {
  if (accumulator === calculated) return [calculated];
  if (isComputedOnce(tile)) return ['LAST'];
  // The minimum of many devices has no meaning beside their sum.
  if (combined !== undefined) return [accumulator];
  if (tile.kind === 'value') return ['AVG', 'LAST'];
  if (tile.kind === 'bar') return accumulator === 'AVG' ? ['AVG', 'COUNT'] : [accumulator];
  if (tile.kind === 'heatmap') return [accumulator];
  if (tile.kind === 'devices') return ['AVG'];
  if (lastOnly.has(tile.kind)) return ['LAST'];
  return accumulator === 'AVG' ? ['AVG', 'MIN', 'MAX'] : [accumulator];
}

/** Tiles that show the last value of a formula, or of a track. */
const lastOnly: ReadonlySet<BoundTile['kind']> = new Set(['map', 'gauge', 'state', 'table']);

/** Tiles whose values over time are read in buckets. */
const drawn: ReadonlySet<BoundTile['kind']> = new Set(['value', 'line', 'bar', 'heatmap']);

export const isDrawnOverTime = ({ kind }: Pick<BoundTile, 'kind'>): boolean => drawn.has(kind);

/** Whether it computes with the last values of the range, each of whatever time. */
function isComputedOnce(tile: BoundTile): boolean {
  return isComputed(tile) && kinds[tile.kind].isDrawn !== true;
}

/** Whether its values, or some, are of the range and not only the newest ones. */
export function isReadOverTime(tile: BoundTile): boolean {
  return isDrawnOverTime(tile) || isComputed(tile) || tile.series.some(isFormula);
}

const isFormula = ({ dataKey, expression }: BoundSeries): boolean =>
  dataKey === undefined && typeof expression === 'string';

/** Devices of a column that shows the course of its values. */
const sparksMax = 100;
/** Devices whose track a map draws. */
export const tracksMax = 20;
/** Formulas of a list of newest values. */
const formulasMax = 200;
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
  if (kinds[tile.kind].isCalculated === true)
    return tileSeriesOf(tile, devices)
      .filter((one) => one.isFormula)
      .slice(0, formulasMax);
  if (tile.kind !== 'map' || tile.track !== true) return [];
  const tracked = tileSeriesOf(tile, devices).slice(0, tracksMax);
  return tracked.flatMap((one) => positionKeys.map((key) => seriesOfDevice(one, key)));
}

/** What one request asks for, before its bucket is known. */
interface Wanted {
  readonly series: readonly WantedSeries[];
  readonly calculations?: readonly WantedCalculation[];
  /** The key of each series by its `ref`, and of each calculation by its name. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Each series once, with the accumulators of all tiles that show it, in requests of a bounded size. */
export function seriesRequests(
  tiles: readonly BoundTile[],
  devices: SourceDevices,
  most = seriesPerRequest,
  linesOfTile = linesMax,
): readonly Wanted[] {
  const wanted = new Map<string, { one: DeviceSeries; names: Set<string> }>();
  for (const tile of tiles)
    for (const one of seriesInBuckets(tile, devices, linesOfTile)) {
      const entry = wanted.get(one.key) ?? { one, names: new Set() };
      for (const name of accumulatorsOf(tile, one)) entry.names.add(name);
      wanted.set(one.key, entry);
    }
  return chunks([...wanted.values()], most).map((list) => ({
    series: list.map(({ one, names }, at) => wantedSeries(one, `s${at}`, [...names])),
    keys: new Map(list.map(({ one }, at) => [`s${at}`, one.key])),
  }));
}

function wantedSeries(
  { deviceId, combined, topic, dataKey, isFormula, order }: DeviceSeries,
  ref: string,
  accumulators: readonly string[],
): WantedSeries {
  return {
    ...(combined ?? { deviceId }),
    topic,
    ...(isFormula ? { expression: dataKey } : { dataKey }),
    ...order,
    ref,
    accumulators: accumulators as WantedSeries['accumulators'],
  };
}

/**
 * The request of a tile that computes: the series that it shows and those with a `ref`. A
 * calculation of a series that is not read, as that of a variable without a value, is left out.
 */
function computedRequests(
  tile: BoundTile,
  devices: SourceDevices,
  linesOfTile: number,
): readonly Wanted[] {
  const all = readSeriesOf(tile, devices);
  const isOnce = isComputedOnce(tile);
  const isRead = (one: DeviceSeries) => one.isFormula || one.combined !== undefined;
  const drawn = all.filter((one) => !one.isHidden && (!isOnce || isRead(one)));
  const shown = new Set(drawn.slice(0, isOnce ? formulasMax : linesOfTile));
  const read = all.filter((one) => one.ref !== undefined || shown.has(one));
  if (read.length === 0) return [];
  const known = new Set(read.flatMap(({ ref }) => ref ?? []));
  const keys = new Map<string, string>();
  const calculations = tile.calculations.flatMap(({ expression, refs }, at) => {
    if (!refs.every((ref) => known.has(ref))) return [];
    keys.set(calculationName(at), calculationOf(tile, { as: '', expression, refs }, at).key);
    return [{ as: calculationName(at), expression }];
  });
  const named = tile.calculations.flatMap(({ expression }) => pointsNamed(expression));
  let count = 0;
  const freeName = (): string => {
    const name = `s${count++}`;
    return known.has(name) ? freeName() : name;
  };
  const series = read.map((one) => {
    const own = one.isHidden && !isOnce ? [one.accumulator] : accumulatorsOf(tile, one);
    const ofRef = named.flatMap(({ ref, accumulator }) => (ref === one.ref ? accumulator : []));
    const ref = one.ref ?? freeName();
    keys.set(ref, one.key);
    const wanted = wantedSeries(one, ref, [...new Set([...own, ...ofRef])]);
    return one.isHidden ? { ...wanted, hidden: true } : wanted;
  });
  return [{ series, calculations, keys }];
}

export interface SeriesRequest extends Wanted {
  readonly group: string;
  readonly bucket: Bucket;
  /** Bars show each bucket, because the tiles name it or because their values cannot be added up. */
  readonly isOwn: boolean;
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
  const groups = Map.groupBy(tiles, groupOf);
  return [...groups].flatMap(([group, alike]) => {
    const [first] = alike;
    if (first === undefined) return [];
    const named = ownBucket(first.bucketInterval ?? '', interval);
    const isOwnRequest = isComputed(first);
    const most = named === undefined ? seriesPerRequest : seriesWithin(named, interval);
    const requests = isOwnRequest
      ? computedRequests(first, devices, linesOfTile)
      : seriesRequests(alike, devices, most, linesOfTile);
    const lists = requests.map(({ series }) => series);
    const bars =
      isOwnRequest && first.kind === 'bar'
        ? barBucket(interval, tileSeriesOf(first, devices).length)
        : undefined;
    const own = [named, bars].find(
      (one) => one !== undefined && lists.every((list) => isWithin(list, one, interval)),
    );
    const bucket = isComputedOnce(first)
      ? wholeRange(interval)
      : (own ?? sharedBucket(lists, interval));
    const isOwn = own !== undefined || bars !== undefined;
    return requests.map((wanted) => ({ ...wanted, group, bucket, isOwn }));
  });
}

/** One bucket for the range, read again as often as a chart of it. */
function wholeRange(interval: Interval): Bucket {
  return { ...bucketFor(interval), iso: 'P100Y' };
}

/** The shortest bucket that gives few enough bars: computed values cannot be added up from finer ones. */
function barBucket(interval: Interval, seriesCount: number): Bucket | undefined {
  const least = barSeconds((interval.toMs - interval.fromMs) / 1_000, 1, seriesCount);
  return bucketLengths.find(({ seconds }) => seconds >= least) ?? bucketLengths.at(-1);
}

/** What was answered, by the keys of the series. */
export function answersByKey<T extends { readonly ref?: string; readonly as?: string }>(
  { keys }: Pick<SeriesRequest, 'keys'>,
  answered: readonly T[],
): readonly (readonly [key: string, answer: T])[] {
  return answered.flatMap((one) => {
    const key = keys.get(one.ref ?? one.as ?? '');
    return key === undefined ? [] : [[key, one] as const];
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
      tileSeriesOf(tile, devices)
        .slice(0, linesMax)
        .map(({ key }) => key),
    ),
  );
  return requests.flatMap((request) => {
    const { series, calculations, keys } = request;
    // Calculations read all series of their tile.
    if (calculations !== undefined)
      return [...keys.values()].some((key) => wanted.has(key)) ? [request] : [];
    const compared = series.filter(({ ref }) => wanted.has(keys.get(ref ?? '') ?? ''));
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
  const usable = bucketsFor(interval);
  const found = usable.find((bucket) => requests.every((list) => isWithin(list, bucket, interval)));
  return found ?? usable.at(-1) ?? { iso: 'P1W', seconds: 604_800 };
}

/** Whether the answer keeps to the limit of points. */
function isWithin(
  list: readonly WantedSeries[],
  bucket: Bucket,
  { fromMs, toMs }: Interval,
): boolean {
  const linesOf = (some: readonly WantedSeries[]) =>
    some.reduce((sum, { accumulators }) => sum + accumulators.length, 0);
  const buckets = (toMs - fromMs) / 1_000 / bucket.seconds + 2;
  const combinedLines = linesOf(list.filter(({ devices }) => devices));
  return (
    buckets * linesOf(list) <= pointsMax &&
    buckets * combinedLines * combinedDevicesMax <= combinedPointsMax
  );
}

export function seriesBody(
  { series, calculations, bucket }: SeriesRequest,
  interval: Interval,
  zone: string,
): ManySeriesBody {
  return {
    series: [...series],
    interval: isoInterval(interval),
    bucketInterval: bucket.iso,
    timeZone: zone,
    ...(calculations && calculations.length > 0 && { calculations: [...calculations] }),
  };
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

/** Devices whose custom field, by name or id, has the value. */
export function fieldFilter(customFieldName: string, value: string) {
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
    [...series.filter(({ across }) => !across), ...(marks ?? [])].flatMap(
      ({ dataKey }) => dataKey ?? [],
    ),
  );
  const keys = [...new Set([...named, ...places])];
  return keys.length === 0 || keys.length > keysMax ? {} : { keys };
}

function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size));
}

/** Tiles that draw an earlier period too. */
function comparedTiles(tiles: readonly BoundTile[]): readonly BoundTile[] {
  return tiles.filter(({ kind }) => kind === 'line');
}

type Order = Pick<TileSeries, 'interpolation' | 'maxGap' | 'per' | 'state' | 'resets'>;

/** How values in the order of time are summed up, where the tile says it. */
function orderOf({ interpolation, maxGap, per, state, resets }: Order) {
  return {
    ...(interpolation && { interpolation }),
    ...(maxGap && { maxGap }),
    ...(per && { per }),
    ...(state !== null && state !== undefined && { state }),
    ...(resets && { resets }),
  };
}
