// Columns of device fields: each field and its key column exist in a migrated database and keep their values.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Device, type DeviceFieldName, deviceFieldRows } from '../../../model/device.ts';
import { auditedRows } from './audit-log.ts';
import { openRecords, type OpenRecords } from '../records.ts';
import { dropReferences, testEngine } from '../testing-engine.ts';
import { deviceKeyColumns, deviceRows, fieldColumnsOf } from './devices.ts';

const device: Device = {
  id: '0211111111111111',
  organizationId: 'o',
  workspaceId: 'w',
  dataFlowId: 'f',
  integrationId: null,
  deviceId: 'EUI-7',
  name: 'Größe',
  description: 'Cold ROOM',
  connectivity: 'LORA',
  onlineTimeoutSeconds: 90,
  excludeFromLifecycleReport: true,
  properties: { floor: 2 },
  loraProperties: { deviceEui: 'AB' },
  registered: true,
  active: false,
  placeId: '4111111111111111',
  planPosition: { x: 0.5, y: 1 },
  created: 1,
  updated: null,
  version: 0,
};

let directory: string;
let records: OpenRecords;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'device-columns-'));
  records = await openRecords({ directory, engine: testEngine(directory), announce: () => {} });
  await dropReferences(records.db);
  await deviceRows.insert(records, device);
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a device is read as it was written', async () => {
  expect(await deviceRows.find(records, device.id)).toEqual(device);
});

test('the search text starts with the name and ends with the id', () => {
  expect(fieldColumnsOf(device).searchText).toBe('größe\neui-7\n0211111111111111');
});

test('key columns contain names and texts as filters compare them', () => {
  const columns: Readonly<Record<string, unknown>> = { ...fieldColumnsOf(device) };
  expect(deviceKeyColumns.map((name) => [name, columns[name]])).toEqual([
    ['deviceIdKey', 'eui-7'],
    ['nameKey', 'größe'],
    ['descriptionKey', 'cold room'],
  ]);
});

test('the audit log sees each field once, flags and objects in their own form', async () => {
  const audited = (await auditedRows(records, 'device', [device.id])).get(device.id);
  const shown = new Map(audited?.fields);
  for (const { property } of deviceFieldRows)
    expect([property, shown.get(property)]).toEqual([property, valueOf(property)]);
  expect([...shown.keys()].filter((name) => name.endsWith('Key') || name === 'loraKeys')).toEqual(
    [],
  );
});

function valueOf(property: DeviceFieldName) {
  return device[property];
}
