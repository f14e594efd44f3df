// Uplink metrics: the last known values of a device, and those of one uplink (interface 2.3, 2.11, contract 4, 37).
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
  /** The message says that the device is no longer connected. */
  readonly isGone?: true;
}

/** The last known metrics of a device; the other members are those of the last uplink. */
export interface DeviceMetrics extends UplinkMetrics {
  /**
   * When the metrics were reported that an earlier uplink than the last one had; `sqi` and
   * `batteryLevel` have their own members.
   */
  readonly knownAt?: Readonly<Partial<Record<KnownField, EpochMs>>>;
}

/** What a network tells of an uplink beyond its payload. */
export type RadioMetrics = Partial<Omit<UplinkMetrics, 'uplinkId' | 'deviceId' | 'timestamp'>>;

/**
 * The metrics, and of those that are absent the last known values with their times (contract 36,
 * 37). A position without a radius does not get that of an earlier position.
 */
export function withLastKnown(
  metrics: DeviceMetrics,
  earlier: DeviceMetrics | undefined,
): DeviceMetrics {
  const known: Changeable<DeviceMetrics> = { ...metrics, ...reportedBy(metrics) };
  if (earlier === undefined) return known;
  const knownAt: Changeable<NonNullable<DeviceMetrics['knownAt']>> = { ...metrics.knownAt };
  const hasPosition = metrics.latitude !== undefined;
  for (const field of knownFields) {
    const value = earlier[field];
    if (value === undefined || metrics[field] !== undefined) continue;
    if (hasPosition && positionFields.has(field)) continue;
    known[field] = value;
    const { sqiTimestamp, batteryTimestamp, timestamp } = earlier;
    if (field === 'sqi') known.sqiTimestamp = sqiTimestamp ?? timestamp;
    else if (field === 'batteryLevel') known.batteryTimestamp = batteryTimestamp ?? timestamp;
    else knownAt[field] = earlier.knownAt?.[field] ?? timestamp;
  }
  if (Object.keys(knownAt).length > 0) known.knownAt = knownAt;
  return known;
}

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

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

/** The metrics whose last known value is kept: all but the size of the last uplink. */
type KnownField = Exclude<MetricField, 'uplinkSize'>;
const knownFields = metricFields.filter((field) => field !== 'uplinkSize');
const positionFields: ReadonlySet<KnownField> = new Set([
  'latitude',
  'longitude',
  'locationRadius',
]);

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
