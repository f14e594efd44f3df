// Uplink metrics as answers show them: every member present, one id under all the names clients look for (contract 4).
import { formatInstant } from '../../model/instant.ts';
import { batteryPercents, type UplinkMetrics } from '../../model/uplink-metrics.ts';

const signalQualities = ['BAD', 'MEDIUM', 'GOOD'] as const;

export function uplinkMetricsView(metrics: UplinkMetrics | undefined) {
  if (metrics === undefined) return null;
  const { deviceId, sqi, batteryLevel } = metrics;
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
    sqi: sqi ?? null,
    sqiTimestamp:
      sqi === undefined ? null : formatInstant(metrics.sqiTimestamp ?? metrics.timestamp),
    signalQuality: sqi === undefined ? null : (signalQualities[sqi - 1] ?? null),
    batteryLevel: batteryLevel ?? null,
    batteryTimestamp:
      batteryLevel === undefined
        ? null
        : formatInstant(metrics.batteryTimestamp ?? metrics.timestamp),
    batteryLevelStatus: batteryLevel === undefined ? null : batteryStatus(batteryLevel),
  };
}

function batteryStatus(percent: number): 'GOOD' | 'MEDIUM' | 'LOW' {
  if (percent >= batteryPercents.good) return 'GOOD';
  return percent >= batteryPercents.medium ? 'MEDIUM' : 'LOW';
}
