// Uplink metrics in answers: every member is present, and the device id has all the names that clients read (contract 4).
import { formatInstant } from '../../model/instant.ts';
import { batteryPercents, type DeviceMetrics } from '../../model/uplink-metrics.ts';

const signalQualities = ['BAD', 'MEDIUM', 'GOOD'] as const;

export function uplinkMetricsView(metrics: DeviceMetrics | undefined) {
  if (metrics === undefined) return null;
  const { deviceId } = metrics;
  return {
    id: deviceId,
    uplinkId: metrics.uplinkId,
    deviceId,
    svcDeviceId: deviceId,
    akenzaDeviceId: deviceId,
    uplinkSize: metrics.uplinkSize,
    timestamp: formatInstant(metrics.timestamp),
    latitude: metrics.latitude ?? null,
    longitude: metrics.longitude ?? null,
    locationRadius: metrics.locationRadius ?? null,
    port: metrics.port ?? null,
    frameCountUp: metrics.frameCountUp ?? null,
    frameCountDown: metrics.frameCountDown ?? null,
    rssi: metrics.rssi ?? null,
    snr: metrics.snr ?? null,
    sf: metrics.sf ?? null,
    txPower: metrics.txPower ?? null,
    numberOfGateways: metrics.numberOfGateways ?? null,
    esp: metrics.esp ?? null,
    ...signalView(metrics),
    ...batteryView(metrics),
    ...knownAtView(metrics),
  };
}

/** Absent when the last uplink reported all metrics, as clients have always read it. */
function knownAtView({ knownAt }: DeviceMetrics) {
  if (knownAt === undefined) return {};
  const times = Object.entries(knownAt).map(([field, at]) => [field, formatInstant(at)] as const);
  return { knownAt: Object.fromEntries(times) };
}

function signalView({ sqi, sqiTimestamp, timestamp }: DeviceMetrics) {
  if (sqi === undefined) return { sqi: null, sqiTimestamp: null, signalQuality: null };
  return {
    sqi,
    sqiTimestamp: formatInstant(sqiTimestamp ?? timestamp),
    signalQuality: signalQualities[sqi - 1] ?? null,
  };
}

function batteryView({ batteryLevel, batteryTimestamp, timestamp }: DeviceMetrics) {
  if (batteryLevel === undefined)
    return { batteryLevel: null, batteryTimestamp: null, batteryLevelStatus: null };
  return {
    batteryLevel,
    batteryTimestamp: formatInstant(batteryTimestamp ?? timestamp),
    batteryLevelStatus: batteryStatus(batteryLevel),
  };
}

function batteryStatus(percent: number): 'GOOD' | 'MEDIUM' | 'LOW' {
  if (percent >= batteryPercents.good) return 'GOOD';
  if (percent >= batteryPercents.medium) return 'MEDIUM';
  return 'LOW';
}
