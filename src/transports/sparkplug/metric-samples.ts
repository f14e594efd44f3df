// Metric samples: readings of one device become samples; those of one instant are one sample.
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Reading } from './metric-readings.ts';
import type { SparkplugTopic } from './sparkplug-topic.ts';

export interface MetricSample {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly meta: JsonObject | undefined;
}

interface Building {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly units: Record<string, Json>;
  readonly properties: Record<string, Json>;
}

/** In the order of their times. Readings without a key are not data. */
export function samplesOfReadings(readings: readonly Reading[]): MetricSample[] {
  const samples: Building[] = [];
  const byTime = new Map<EpochMs, Building>();
  for (const { key, timestamp, value, unit, properties } of readings) {
    if (key === undefined) continue;
    let sample = byTime.get(timestamp);
    // A second value of the same key and time is another sample: nothing is overwritten.
    if (sample === undefined || Object.hasOwn(sample.data, key)) {
      sample = { timestamp, data: {}, units: {}, properties: {} };
      byTime.set(timestamp, sample);
      samples.push(sample);
    }
    sample.data[key] = value;
    if (unit !== undefined) sample.units[key] = unit;
    if (properties !== undefined) sample.properties[key] = properties;
  }
  return samples
    .map(({ timestamp, data, ...about }) => ({ timestamp, data, meta: metaOf(about) }))
    .sort((one, other) => one.timestamp - other.timestamp);
}

function metaOf({ units, properties }: Pick<Building, 'units' | 'properties'>) {
  const meta: Record<string, Json> = {};
  if (Object.keys(units).length > 0) meta['units'] = units;
  if (Object.keys(properties).length > 0) meta['properties'] = properties;
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** The message as decoders and lists of raw uplinks get it. */
export function messageBody(
  { type, group, edge, device }: SparkplugTopic,
  timestamp: EpochMs | undefined,
  readings: readonly Reading[],
): JsonObject {
  return {
    type,
    group,
    edge,
    ...(device !== undefined && { device }),
    ...(timestamp !== undefined && { timestamp }),
    metrics: readings.map(({ name, type: dataType, timestamp: at, value, ...about }) => ({
      name,
      type: dataType,
      timestamp: at,
      value,
      ...(about.properties !== undefined && { properties: about.properties }),
      ...(about.isHistorical && { isHistorical: true }),
      ...(about.isTransient && { isTransient: true }),
    })),
  };
}
