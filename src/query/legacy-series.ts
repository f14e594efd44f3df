// The two older forms of time series that clients in the field still send (contract 21).
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { refuseUnreadable } from '../store/unreadable.ts';
import type { ReadingStore } from './reading-store.ts';
import type { QueriedDevice } from './accumulation.ts';
import { dataValue } from '../model/data-value.ts';
import { parseBound } from './interval.ts';
import type { QueryParts } from './kpi.ts';
import { rangeOf, sampleLimitMax, type TimestampBounds, topicOf } from './sample-query.ts';
import { deviceSeries } from './time-series.ts';

export interface RawSeriesBody {
  readonly topic: string;
  readonly dataKey: string;
  readonly timestamp?: TimestampBounds | null;
}

/** Every value of the key among the newest `sampleLimitMax` samples of the range, oldest first as charts need them. */
export async function rawSeries(
  deviceId: string,
  { topic, dataKey, timestamp }: RawSeriesBody,
  store: Pick<ReadingStore, 'samples'>,
): Promise<{ readonly dataPoints: [Json, string][]; readonly key: string }> {
  const range = { deviceId, ...topicOf(topic), ...rangeOf(timestamp) };
  const newestFirst = await store.samples({ ...range, limit: sampleLimitMax, skip: 0, unreadable: refuseUnreadable });
  const dataPoints: [Json, string][] = [];
  for (const sample of newestFirst.toReversed()) {
    const value = dataValue(sample.data, dataKey);
    if (value !== undefined && value !== null) dataPoints.push([value, formatInstant(sample.timestamp)]);
  }
  return { dataPoints, key: dataKey };
}

export interface AggregationBody {
  readonly data: { readonly key: string; readonly topic: string };
  /** In either order. */
  readonly timestamp: { readonly from: string; readonly to: string };
  readonly bucket: { readonly interval: string; readonly aggregation: string };
  readonly timeZone?: string | null;
}

/** The older form of a raw time series; its callers mix up `from` and `to`, so their order does not count. */
export async function aggregationSeries(
  device: QueriedDevice,
  { data, timestamp, bucket, timeZone = null }: AggregationBody,
  now: EpochMs,
  parts: QueryParts,
): Promise<{
  readonly data: { readonly dataPoints: (number | null)[]; readonly timestamps: string[] };
}> {
  const one = parseBound('timestamp.from', timestamp.from);
  const other = parseBound('timestamp.to', timestamp.to);
  if (one === other) throw problem('badInterval', { reason: 'from and to are the same moment' });
  const interval = { from: formatInstant(Math.min(one, other)), to: formatInstant(Math.max(one, other)) };
  const body = {
    topic: data.topic,
    dataKey: data.key,
    accumulator: bucket.aggregation,
    interval,
    bucketInterval: bucket.interval,
    timeZone,
  };
  const { dataPoints, timestamps } = await deviceSeries(device, 'raw', body, now, parts);
  return { data: { dataPoints, timestamps } };
}
