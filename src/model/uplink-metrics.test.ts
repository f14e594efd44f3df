// Last known metrics of a device (contract 36, 37).
import { expect, test } from 'vitest';
import { type DeviceMetrics, type UplinkMetrics, withLastKnown } from './uplink-metrics.ts';

const uplink = (timestamp: number, reported: Partial<UplinkMetrics> = {}): UplinkMetrics => ({
  uplinkId: `u${timestamp}`,
  deviceId: 'd',
  uplinkSize: timestamp,
  timestamp,
  ...reported,
});
const after = (...uplinks: UplinkMetrics[]) =>
  uplinks.reduce<DeviceMetrics | undefined>((known, next) => withLastKnown(next, known), undefined);

test('each metric keeps its last value and the time of its report', () => {
  const known = after(uplink(1, { rssi: -80, snr: 7 }), uplink(2, { rssi: -90 }), uplink(3));
  expect(known).toEqual(uplink(3, { rssi: -90, snr: 7, knownAt: { rssi: 2, snr: 1 } } as object));
});

test('a metric that is reported again has the time of the uplink', () => {
  expect(after(uplink(1, { esp: 1 }), uplink(2, { esp: 2 }))).toEqual(uplink(2, { esp: 2 }));
});

test('battery level and signal quality keep their own times', () => {
  expect(after(uplink(1, { batteryLevel: 9, sqi: 2 }), uplink(2), uplink(3))).toEqual(
    uplink(3, { batteryLevel: 9, batteryTimestamp: 1, sqi: 2, sqiTimestamp: 1 }),
  );
});

test('a new position does not get the radius of an earlier one', () => {
  const [first, second] = [
    { latitude: 1, longitude: 2 },
    { latitude: 3, longitude: 4 },
  ];
  const known = after(uplink(1, { ...first, locationRadius: 50 }), uplink(2, second));
  expect(known).toEqual(uplink(2, second));
});
