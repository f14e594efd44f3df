// Uplink metrics: the known values of the last uplink of a device (interface 2.3 and 2.11, contract 4).
import type { EpochMs } from './instant.ts';

export interface UplinkMetrics {
  readonly uplinkId: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Bytes of the payload as received. */
  readonly uplinkSize: number;
  /** Time of receipt. */
  readonly timestamp: EpochMs;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly locationRadius?: number;
  readonly port?: number;
  readonly frameCountUp?: number;
  readonly frameCountDown?: number;
  readonly rssi?: number;
  readonly snr?: number;
  readonly sf?: number;
  readonly txPower?: number;
  readonly numberOfGateways?: number;
  readonly esp?: number;
  /** 1 bad, 2 medium, 3 good. */
  readonly sqi?: number;
  /** When the device told `sqi`. */
  readonly sqiTimestamp?: EpochMs;
  /** Percent, 0 to 100. */
  readonly batteryLevel?: number;
  /** When the device told `batteryLevel`. */
  readonly batteryTimestamp?: EpochMs;
}

/** What a network tells of an uplink beyond its payload. */
export type RadioMetrics = Partial<Omit<UplinkMetrics, 'uplinkId' | 'deviceId' | 'timestamp'>>;

/**
 * The metrics with battery level and signal quality as the device told them last, and when
 * (contract 36).
 */
export function withLastKnown(
  metrics: UplinkMetrics,
  earlier: UplinkMetrics | undefined,
): UplinkMetrics {
  // Most devices report neither.
  if (!isReporting(metrics) && (earlier === undefined || !isReporting(earlier))) return metrics;
  return { ...metrics, ...(earlier && reportedBy(earlier)), ...reportedBy(metrics) };
}

function isReporting({ sqi, batteryLevel }: UplinkMetrics): boolean {
  return sqi !== undefined || batteryLevel !== undefined;
}

/** From which percentage on a battery is good or medium; below it is low (contract 4). */
export const batteryPercents = { good: 70, medium: 40 } as const;

/** The metrics that are numbers; filters and templates name them. */
export const metricFields = [
  'uplinkSize',
  'latitude',
  'longitude',
  'locationRadius',
  'port',
  'frameCountUp',
  'frameCountDown',
  'rssi',
  'snr',
  'sf',
  'txPower',
  'numberOfGateways',
  'esp',
  'sqi',
  'batteryLevel',
] as const satisfies readonly (keyof UplinkMetrics)[];
export type MetricField = (typeof metricFields)[number];

function reportedBy({
  sqi,
  sqiTimestamp,
  batteryLevel,
  batteryTimestamp,
  timestamp,
}: UplinkMetrics) {
  return {
    ...(sqi !== undefined && { sqi, sqiTimestamp: sqiTimestamp ?? timestamp }),
    ...(batteryLevel !== undefined && {
      batteryLevel,
      batteryTimestamp: batteryTimestamp ?? timestamp,
    }),
  };
}
