// The device table returns what was put in, stays in its limits, and takes little memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Device } from '../../model/device.ts';
import type { Json } from '../../model/json.ts';
import type { DeviceWithLabels } from '../../storage/records/rows/devices.ts';
import { RecordChanges } from '../../structures/caches.ts';
import {
  compactString,
  DeviceProfiles,
  DeviceTable,
  type DeviceTableLimits,
  profileContentOf,
  readCompactString,
} from './device-table.ts';

const limits = { devicesMax: 1_000, bytesMax: 1e9, profilesMax: 100, objectsMax: 10 };

function open(more: Partial<DeviceTableLimits> = {}) {
  // Devices are put in and found without their records.
  const profiles = new DeviceProfiles(undefined as never, undefined as never, new RecordChanges());
  return { profiles, table: new DeviceTable<never>(profiles, { ...limits, ...more }) };
}

const hex = (n: number): string => `02${n.toString(16).padStart(14, '0')}`;

function deviceOf(n: number, more: Partial<Device> = {}): DeviceWithLabels {
  const device: Device = {
    id: hex(n),
    deviceId: `EUI-${String(n).padStart(8, '0')}`,
    organizationId: 'o',
    workspaceId: 'w',
    dataFlowId: 'f',
    name: `Sensor ${n} roof`,
    description: null,
    connectivity: 'HTTP',
    onlineTimeoutSeconds: 86_400,
    properties: {},
    loraProperties: null,
    integrationId: null,
    excludeFromLifecycleReport: false,
    registered: null,
    active: null,
    placeId: null,
    planPosition: null,
    created: 1_700_000_000_000 + n,
    updated: null,
    version: 0,
    ...more,
  };
  const values = new Map<string, Json>([
    ['69b', `SN-${n}`],
    ['69a', n % 50],
    ['69c', new Date(1.7e12 + n * 60_000).toISOString()],
  ]);
  return { device, tagIds: [`71${n % 20}`, `71${(n * 7) % 20}`], values };
}

test.each<[string, Partial<Device>]>([
  ['as most are', {}],
  ['changed once', { updated: 5, version: 1 }],
  ['at a place', { placeId: '4111111111111111' }],
  ['on a plan', { placeId: '4111111111111111', planPosition: { x: 0, y: 0.25 }, version: 2 }],
  ['changed and with no other', { updated: null, version: 3 }],
  ['described', { description: 'Ü ☂ "x" \u0000 \ud800' }],
  ['with properties', { properties: JSON.parse('{"__proto__":{"a":1},"":[]}') }],
  ['of a network server', { loraProperties: { deviceEui: 'A' }, registered: true, active: false }],
  ['with empty objects', { loraProperties: {}, description: '' }],
])('fleet 5: a device comes back exactly: %s', (_, more) => {
  const labeled = deviceOf(3, more);
  const content = profileContentOf(labeled);
  const { device, values } = readCompactString(compactString(labeled, content), content);
  expect(JSON.stringify(device, Object.keys(device).sort())).toBe(
    JSON.stringify(labeled.device, Object.keys(labeled.device).sort()),
  );
  expect(device).toEqual(labeled.device);
  expect(content.fieldIds.map((id, i) => [id, values[i]])).toEqual(
    [...labeled.values].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
});

test('fleet 5: devices are found by each id, replaced and deleted, as in a map', () => {
  const { table, profiles } = open();
  for (let n = 0; n < 500; n++) table.set(deviceOf(n));
  for (let n = 0; n < 500; n += 2)
    table.set(deviceOf(n, { deviceId: `new-${n}`, dataFlowId: 'g' }));
  for (let n = 0; n < 500; n += 5) table.delete(hex(n));
  table.delete('unknown');
  for (let n = 0; n < 500; n++) {
    const isThere = n % 5 > 0;
    const deviceId = n % 2 === 0 ? `new-${n}` : `EUI-${String(n).padStart(8, '0')}`;
    expect(table.byId(hex(n))?.device.deviceId).toBe(isThere ? deviceId : undefined);
    expect(table.byDeviceId('o', deviceId)?.device.id).toBe(isThere ? hex(n) : undefined);
    expect(table.byDeviceId('other', deviceId)).toBeUndefined();
    if (n % 2 === 0)
      expect(table.byDeviceId('o', `EUI-${String(n).padStart(8, '0')}`)).toBeUndefined();
  }
  expect(table.size).toBe(400);
  for (let n = 0; n < 500; n++) table.delete(hex(n));
  expect([table.size, table.bytes, profiles.size]).toEqual([0, 0, 0]);
});

test('fleet 5: an EUI leads to its device until the device has another', () => {
  const { table } = open();
  const isNamed = (eui: string) => (device: Device) => device.deviceId.toLowerCase() === eui;
  table.set(deviceOf(1, { deviceId: 'ABC' }));
  expect(table.byEui('c', 'abc', isNamed('abc'))).toBeUndefined();
  table.setEui(hex(1), 'c', 'abc');
  expect(table.byEui('c', 'abc', isNamed('abc'))?.device.id).toBe(hex(1));
  expect(table.byEui('other', 'abc', isNamed('abc'))).toBeUndefined();
  table.set(deviceOf(1, { deviceId: 'DEF' }));
  expect(table.byEui('c', 'abc', isNamed('abc'))).toBeUndefined();
  table.setEui(hex(2), 'c', 'unknown');
});

test.each<[string, Partial<DeviceTableLimits>, number]>([
  ['devices', { devicesMax: 200 }, 200],
  ['bytes', { bytesMax: 200 * 150 }, 250],
])('fleet 5: at the limit of %s, devices in turn are still found', (_, more, most) => {
  const { table } = open({ ...more, profilesMax: 1_000 });
  let found = 0;
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 250; n++) {
      const isKnown = table.byId(hex(n)) !== undefined;
      if (isKnown) found += 1;
      else expect(table.set(deviceOf(n)).device.id).toBe(hex(n));
      expect(table.size).toBeLessThanOrEqual(most);
    }
  }
  // The oldest first would find none.
  expect(found / 2_250).toBeGreaterThan(0.3);
});

test('fleet 5: devices that share nothing do not fill the memory with profiles', () => {
  const { table, profiles } = open();
  for (let n = 0; n < 500; n++) table.set(deviceOf(n, { dataFlowId: `f${n}` }));
  expect(profiles.size).toBeLessThanOrEqual(limits.profilesMax + 1);
  expect(table.size).toBeLessThanOrEqual(limits.profilesMax + 1);
});

test('fleet 5: 100,000 devices with tags and three custom fields take a fifth of what they took', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const memory = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const count = 100_000;
  const before = memory();
  const { table } = open({ devicesMax: 1e6, profilesMax: 1_000 });
  for (let n = 0; n < count; n++) table.set(deviceOf(n));
  const bytes = (memory() - before) / count;
  expect(table.size).toBe(count);
  // 180 to 190 where nothing else runs, and 1,200 with an object for each device.
  expect(bytes).toBeLessThan(240);
});
