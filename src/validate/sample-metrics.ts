// Uplink metrics that a device reports as measured values (interface 2.3).
import type { JsonObject } from '../model/json.ts';
import type { UplinkMetrics } from '../model/uplink-metrics.ts';

export type SampleMetrics = Pick<UplinkMetrics, 'sqi' | 'batteryLevel' | 'latitude' | 'longitude'>;

const noMetrics: SampleMetrics = Object.freeze({});

/**
 * Position (`latitude` and `longitude` in degrees), signal quality (1, 2 or 3; of `sqi`, `signalQuality`, `signalQualityIndicator` the first with
 * such a value) and battery level (0 to 100 percent). Values outside or of another type are
 * measured values like any other, and no metrics.
 */
export function sampleMetrics(data: JsonObject): SampleMetrics {
  const metrics = signalAndBattery(data);
  const { latitude, longitude } = data;
  if (!isDegrees(latitude, 90) || !isDegrees(longitude, 180)) return metrics;
  return { ...metrics, latitude, longitude };
}

function isDegrees(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= -max && value <= max;
}

function signalAndBattery(data: JsonObject): SampleMetrics {
  const sqi =
    quality(data.sqi) ?? quality(data.signalQuality) ?? quality(data.signalQualityIndicator);
  const level = data.batteryLevel;
  const batteryLevel = typeof level === 'number' && level >= 0 && level <= 100 ? level : undefined;
  // Literals, because every sample is asked.
  if (sqi === undefined) return batteryLevel === undefined ? noMetrics : { batteryLevel };
  return batteryLevel === undefined ? { sqi } : { sqi, batteryLevel };
}

function quality(value: unknown): number | undefined {
  if (value === 1 || value === 2 || value === 3) return value;
  return undefined;
}
