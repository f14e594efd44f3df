// Device kinds: order, repeatability, addresses and a plausible amount of data for each kind.
import process from 'node:process';
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../physics/local-time.ts';
import { deviceKinds } from './kind-table.ts';

const from = Date.UTC(2026, 9, 20);
const devices = deviceKinds.flatMap((kind) => kind.devices.map((device) => ({ kind, device })));

test('there are at least eight kinds and 30 to 40 devices, each with its own EUI-64 and name', () => {
  expect(deviceKinds.length).toBeGreaterThanOrEqual(8);
  expect(devices.length).toBeGreaterThanOrEqual(30);
  expect(devices.length).toBeLessThanOrEqual(40);
  expect(new Set(devices.map(({ device }) => device.deviceId)).size).toBe(devices.length);
  expect(new Set(devices.map(({ device }) => device.name)).size).toBe(devices.length);
  for (const { device } of devices) expect(device.deviceId).toMatch(/^0248454C[0-9A-F]{8}$/);
});

for (const { kind, device } of devices) {
  test(`${device.name}: instants ascend, do not depend on how the span is cut, and give the same payload again`, () => {
    const whole = device.uplinkTimes(from, from + 2 * dayMs);
    expect(whole).toEqual([...new Set(whole)].sort((a, b) => a - b));
    const pieces = Array.from({ length: 48 }, (_, i) =>
      device.uplinkTimes(from + i * hourMs, from + (i + 1) * hourMs),
    );
    expect(pieces.flat()).toEqual(whole);
    const later = whole.map((at) => device.payloadAt(at));
    expect(whole.toReversed().map((at) => device.payloadAt(at))).toEqual(later.toReversed());
    expect(kind.liveIntervalMs).toBeGreaterThanOrEqual(10_000);
  });
}

test('three weeks of the whole campus are some ten thousand payloads, and its simulation takes seconds at most', () => {
  // Of the processor: a busy machine takes its time.
  const started = process.threadCpuUsage();
  let payloads = 0;
  for (const { device } of devices) {
    for (const at of device.uplinkTimes(from, from + 21 * dayMs)) {
      device.payloadAt(at);
      payloads++;
    }
  }
  expect(payloads).toBeGreaterThan(50_000);
  expect(payloads).toBeLessThan(100_000);
  expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(10_000);
});
