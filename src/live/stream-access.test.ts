// Stream access: a principal subscribes to devices and tags that exist and that it may read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Workspaces } from '../inventory/workspaces/workspaces.ts';
import { Devices } from '../inventory/devices/devices.ts';
import { Tags } from '../inventory/devices/tags.ts';
import { DataFlows } from '../inventory/data-flows/data-flows.ts';
import { DeviceConnectors } from '../inventory/data-flows/device-connectors.ts';
import type { Principal } from '../model/principal.ts';
import { StreamAccess } from './stream-access.ts';
import { openTestRecords, type TestRecords } from '../storage/records/testing-records.ts';

const owner: Principal = {
  kind: 'USER',
  id: 'u',
  name: 'u',
  organizationId: 'o',
  workspaces: 'all',
  permissions: { asset: ['read', 'create', 'update'], dataFlow: ['read', 'create', 'update'] },
};
const readers = {
  owner,
  'a key of the workspace': () => ({ ...owner, workspaces: new Set([workspaceId]) }),
  'a key of another workspace': () => ({ ...owner, workspaces: new Set(['other']) }),
  'a key without the permission': { ...owner, permissions: {} },
  'a key of another organization': { ...owner, organizationId: 'other' },
} as const;

let opened: TestRecords;
let workspaceId: string;
let tagId: string;
let deviceId: string;

beforeAll(async () => {
  opened = await openTestRecords();
  const { records } = opened;
  const named = { name: 'n', organizationId: 'o' };
  workspaceId = (await new Workspaces(records).create(named)).id;
  const placed = { name: 'n', workspaceId };
  tagId = (await new Tags({ ...records, now: () => 1 }).create(placed)).id;
  const http = { ...placed, connectivity: 'HTTP' } as const;
  const deviceConnector = await new DeviceConnectors(records).create(owner, http);
  const viewOptions = { vendorNames: false, connectorSecrets: false };
  const flow = { ...placed, deviceConnector, outputConnectors: [] };
  const dataFlowId = (await new DataFlows(records).create({ principal: owner, viewOptions }, flow))
    .id;
  const device = { ...placed, deviceId: 'd1', dataFlowId, tags: [{ id: tagId }] };
  deviceId = (await new Devices({ ...records, now: () => 1 }).create(owner, device)).id;
});
afterAll(() => opened.close());

test.each<[keyof typeof readers, boolean]>([
  ['owner', true],
  ['a key of the workspace', true],
  ['a key of another workspace', false],
  ['a key without the permission', false],
  ['a key of another organization', false],
])('%s: %s', async (reader, isAllowed) => {
  const given = readers[reader];
  const principal = typeof given === 'function' ? given() : given;
  const access = new StreamAccess(opened.records);
  expect(await access.isReadable(principal, deviceId)).toBe(isAllowed);
  const readable = await access.readableOf(principal, ['unknown', deviceId]);
  expect([...readable]).toEqual(isAllowed ? [deviceId] : []);
  const tagged = await access.devicesOfTag(principal, tagId);
  expect(tagged).toEqual(isAllowed ? [deviceId] : undefined);
});

test('devices and tags that do not exist', async () => {
  const access = new StreamAccess(opened.records);
  expect(await access.isReadable(owner, 'unknown')).toBe(false);
  expect(await access.devicesOfTag(owner, 'unknown')).toBeUndefined();
});

test('an error of the records is not taken for a missing permission', async () => {
  const closed = await openTestRecords();
  await closed.close();
  const access = new StreamAccess(closed.records);
  await expect(access.devicesOfTag(owner, tagId)).rejects.toThrow();
  await expect(access.isReadable(owner, deviceId)).rejects.toThrow();
});
