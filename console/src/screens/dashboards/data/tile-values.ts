// Tile values: what a tile shows of the data of its dashboard.
import type { LiveSample } from '../../../api/stream.ts';
import { valueAt } from '../../device/data/data-keys.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { type DeviceSeries, groupOf, tileSeriesOf } from '../../../../../src/dashboards/plan.ts';
import { type DashboardData, liveKey } from './use-dashboard-data.ts';

export interface NewestValue {
  readonly value: unknown;
  /** Undefined for a value of the whole range. */
  readonly timestamp: string | undefined;
}

export function shownSeries(tile: BoundTile, data: DashboardData): readonly DeviceSeries[] {
  return tileSeriesOf(tile, data.devices);
}

/** The bucket of the tile's series, and whether its bars are these buckets. */
export function bucketShown(tile: BoundTile, data: DashboardData) {
  const { bucket, isOwn = false } = data.buckets.get(groupOf(tile)) ?? data.buckets.get('') ?? {};
  return { bucket, isOwn };
}

/** The newest sample that has the key; a live one before the one that was asked for. */
export function newestValue(series: DeviceSeries, data: DashboardData): NewestValue | undefined {
  const { deviceId, topic, dataKey } = series;
  if (series.isFormula) return lastOfSeries(series, data);
  const live = data.live.get(liveKey(deviceId, topic)) ?? [];
  const has = ({ data: values }: Pick<LiveSample, 'data'>) =>
    (valueAt(values, dataKey) ?? null) !== null;
  const asked = data.latest.get(deviceId)?.find((one) => one.topic === topic && has(one));
  const arrived = live.findLast(has);
  const sample = [arrived, asked]
    .filter((one) => one !== undefined)
    .toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))[0];
  if (sample !== undefined)
    return { value: valueAt(sample.data, dataKey), timestamp: sample.timestamp };
  const last = data.lastValues.get(deviceId)?.[dataKey];
  if (last?.topic === topic) return last;
  return lastOfSeries(series, data);
}

/** The newest sample can lack the key. */
function lastOfSeries(series: DeviceSeries, data: DashboardData): NewestValue | undefined {
  const found = data.series.get(series.key);
  const values = found?.dataPoints['LAST'] ?? found?.dataPoints['VALUE'] ?? [];
  const at = values.findLastIndex((value) => value !== null);
  const timestamp = found?.timestamps[at];
  if (timestamp === undefined) return undefined;
  return { value: values[at], timestamp: series.isOfRange ? undefined : timestamp };
}

/** The covered share of the buckets of some series; undefined for accumulators without it. */
export function coverageOf(
  shown: readonly DeviceSeries[],
  data: DashboardData,
): number | undefined {
  const shares = shown.flatMap(
    (one) => data.series.get(one.key)?.coverage?.[one.accumulator] ?? [],
  );
  if (shares.length === 0) return undefined;
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

const liveAccumulators = new Set(['AVG', 'MIN', 'MAX', 'LAST']);

/** Live values after the end of the series, by epoch seconds. */
export function livePoints(series: DeviceSeries, data: DashboardData): ReadonlyMap<number, number> {
  const points = new Map<number, number>();
  if (data.isFixed || series.isFormula || !liveAccumulators.has(series.accumulator)) return points;
  for (const sample of data.live.get(liveKey(series.deviceId, series.topic)) ?? []) {
    const time = Date.parse(sample.timestamp);
    const value = valueAt(sample.data, series.dataKey);
    if (time >= data.seriesEndMs && typeof value === 'number') points.set(time / 1_000, value);
  }
  return points;
}

/** Fewer points for a line in the space of a word. */
export function sparkOf(series: DeviceSeries, data: DashboardData): readonly (number | null)[] {
  const values = data.series.get(series.key)?.dataPoints['AVG'] ?? [];
  const known = values.filter((value) => value !== null);
  const step = Math.max(1, Math.ceil(known.length / sparkPoints));
  return known.filter((_, at) => at % step === 0);
}

const sparkPoints = 120;
