// Records sent back as read: clients PUT complete records, with read-only and unknown members.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deviceStatusRows } from '../../src/storage/records/rows/device-status.ts';
import { type Body, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
const made: Record<string, string> = {};

const lora = {
  carrier: 'TTN',
  activationMode: 'OTAA',
  loraVersion: '1.0.3',
  deviceClass: 'A',
  deviceEui: 'AABBCCDDEEFF0011',
  deviceAddress: null,
  applicationEui: '0011',
  joinEui: '0011',
  applicationKey: 'A'.repeat(32),
  networkSessionKey: 'B'.repeat(32),
  actilityProperties: { actilityId: '1', deviceProfileId: 'P', motionIndicator: 'RANDOM' },
  ttnProperties: { deviceId: 'x', frequencyPlan: 'EU_863_870', multicast: false },
};
const workspaceSettings = {
  lifecycleMessages: true,
  lifecycleMessageInterval: 'DAILY',
  lifecycleMessageRecipients: ['a@example.org'],
  timezone: 'Europe/Zurich',
  workingHours: { enabled: true, days: { MONDAY: [{ from: '08:00', to: '18:00' }] } },
  holidays: [{ date: '2026-12-25', name: 'Christmas' }],
};

/** Makes a record; its id. */
async function must(path: string, body: object): Promise<string> {
  const answer = await world.admin('POST', path, body);
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

/** A type, a connector of each kind, and the flow that joins them. */
async function makeFlow(here: object) {
  const { organizationId } = world;
  const schema = JSON.stringify({
    $id: 'x',
    type: 'object',
    properties: { t: { type: 'number', title: 'T' } },
  });
  const deviceType = await must('/v3/device-types', {
    name: 'T',
    organizationId,
    type: 'manual',
    description: 'said',
    meta: {
      manufacturer: 'M',
      encoding: 'JSON',
      availableSensors: ['t'],
      outputTopics: ['default'],
    },
    schemas: { default: schema },
    uplinkScript: { code: 'function consume(event) {}', version: 0 },
    downlinkScript: { code: 'function consume(event) {}', version: 0 },
  });
  const connector = await must('/v3/device-connectors', { ...here, connectivity: 'HTTP' });
  made['/v3/device-connectors'] = connector;
  made['webhook'] = await must('/v3/output-connectors', {
    ...here,
    type: 'WEBHOOK',
    customPayload: '{"a": {{data}}}',
    useCustomPayload: true,
    webhookProperties: {
      uri: 'https://example.org/x',
      headers: { 'x-secret': 'hush' },
      authType: 'BEARER',
      bearerToken: 'hush',
    },
  });
  made['customDatabase'] = await must('/v3/output-connectors', {
    ...here,
    type: 'CUSTOM_DATABASE',
    scope: 'RULE_ACTION',
    customDatabaseProperties: { topic: 'derived', useCurrentDevice: true },
  });
  const flow = await must('/v3/data-flows', {
    ...here,
    deviceConnector: { id: connector },
    deviceType: { id: deviceType },
    outputConnectors: [
      { id: '0900000000000000', topic: '*' },
      { id: made['webhook'], topic: 'default' },
    ],
  });
  return { deviceType, flow };
}

beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId, organizationId } = world;
  const here = { name: 'B', workspaceId, description: 'said' };
  made['/v3/organizations'] = organizationId;
  made['/v3/workspaces'] = workspaceId;
  await admin('PUT', `/v3/workspaces/${workspaceId}`, {
    settings: workspaceSettings,
    properties: { a: 1 },
  });
  const tag = await must('/v3/tags', { ...here, color: '#A0B0C0' });
  made['/v3/tags'] = tag;
  const fields = [];
  for (const [type, value] of Object.entries({
    STRING: 'a',
    NUMBER: 1.5,
    DATE: '2026-01-01T00:00:00.000Z',
    JSON: { x: [1] },
    GPS_COORDINATES: { latitude: 47, longitude: 8 },
  })) {
    const id = await must('/v3/custom-fields/meta', { ...here, name: `f ${type}`, type });
    fields.push({ fieldMetaId: id, [type]: value });
    made['/v3/custom-fields/meta'] = id;
  }
  const { deviceType, flow } = await makeFlow(here);
  made['/v3/device-types'] = deviceType;
  made['/v3/data-flows'] = flow;
  const device = await must('/v3/devices', {
    ...here,
    deviceId: 'sent-back',
    dataFlowId: flow,
    connectivity: 'LORA',
    tags: [{ id: tag }],
    customFields: fields,
    properties: { a: { b: null } },
    onlineTimeout: 43_200,
    loRaProperties: lora,
  });
  made['/v3/devices'] = device;
  await deviceStatusRows.saveMetrics(world.records.db, [
    {
      uplinkId: 'u',
      deviceId: device,
      uplinkSize: 3,
      timestamp: world.clock.now,
      batteryLevel: 91,
      sqi: 3,
    },
  ]);
  const group = await must('/v3/dashboard-groups', here);
  made['/v3/dashboard-groups'] = group;
  made['/v3/dashboards'] = await must('/v3/dashboards', {
    ...here,
    groupId: group,
    configuration: { w: [1] },
  });
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const kinds: [string, () => string][] = [
  ...[
    '/v3/organizations',
    '/v3/workspaces',
    '/v3/tags',
    '/v3/custom-fields/meta',
    '/v3/device-types',
    '/v3/device-connectors',
    '/v3/data-flows',
    '/v3/devices',
    '/v3/dashboard-groups',
    '/v3/dashboards',
  ].map((path): [string, () => string] => [path, () => `${path}/${made[path]}`]),
  ['a webhook', () => `/v3/output-connectors/${made['webhook']}`],
  ['a custom database', () => `/v3/output-connectors/${made['customDatabase']}`],
];
const dialects: [string, Record<string, string>][] = [
  ['as itself', {}],
  ['in the dialect of older clients', { 'akenza-client': '1' }],
];

/** Everything but what an update moves. */
function still(record: Body): Body {
  const { version: _, updated: __, taggedDevices: ___, ...rest } = record;
  return JSON.parse(
    JSON.stringify(rest, (key, value) =>
      key === 'version' || key === 'updated' ? undefined : value,
    ),
  );
}

/** Objects that are kept as they are sent. */
// Settings of a workspace name what they do not know (contract 42).
const free = new Set(
  'properties configuration schemas headers authHeaders JSON workingHours holidays actilityProperties ttnProperties settings'.split(
    ' ',
  ),
);

/** The record with an unknown member in every object. */
function withStrangers(value: Body, key = ''): Body {
  if (Array.isArray(value)) return value.map((item) => withStrangers(item, key));
  if (value === null || typeof value !== 'object' || free.has(key)) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withStrangers(item, name)]);
  return {
    ...Object.fromEntries(entries),
    strangerNull: null,
    strangerText: 'x',
    strangerObject: { a: [1] },
  };
}

describe.each(dialects)('%s', (_, headers) => {
  test.each(kinds)('%s, read and sent back, stays what it is', async (...[, path]) => {
    const before = (await world.owner('GET', path(), undefined, headers)).body;
    const put = await world.owner('PUT', path(), before, headers);
    expect([put.status, put.body.message]).toEqual([200, undefined]);
    const after = (await world.owner('GET', path(), undefined, headers)).body;
    expect(still(after)).toEqual(still(before));
    expect(still(put.body)).toEqual(still(before));
  });

  test.each(kinds)('%s, with unknown members in every object, as well', async (...[, path]) => {
    const before = (await world.owner('GET', path(), undefined, headers)).body;
    const put = await world.owner('PUT', path(), withStrangers(before), headers);
    expect([put.status, put.body.message]).toEqual([200, undefined]);
    expect(still((await world.owner('GET', path(), undefined, headers)).body)).toEqual(
      still(before),
    );
  });

  test('a device from a list, without its version, as well', async () => {
    const list = await world.owner(
      'GET',
      `/v3/assets?workspaceId=${world.workspaceId}`,
      undefined,
      headers,
    );
    const { version: _, ...device } = list.body.content[0];
    const put = await world.owner('PUT', `/v3/devices/${device.id}`, device, headers);
    expect(put.status).toBe(200);
    expect(still(put.body)).toEqual(still(device));
  });
});

test('contract 4: custom fields with all five members filled, as old lists have them, keep their one value', async () => {
  const path = `/v3/devices/${made['/v3/devices']}`;
  const before = (await world.owner('GET', path)).body;
  const empty = { STRING: null, NUMBER: null, DATE: null, JSON: {}, GPS_COORDINATES: {} };
  const customFields = before.customFields.map((item: Body) => ({ ...empty, ...item }));
  const put = await world.owner('PUT', path, { ...before, customFields });
  expect(put.status).toBe(200);
  expect(still(put.body)).toEqual(still(before));
});

test('contract 4: LoRa keys are there for who may change the device, and null for who may only read it', async () => {
  const reader = await world.keyFor(world.organizationId, undefined, { asset: ['read'] });
  const path = `/v3/devices/${made['/v3/devices']}`;
  const secrets = ['A'.repeat(32), 'B'.repeat(32)];
  const full = await world.admin('GET', path);
  expect(full.body.loraProperties).toMatchObject({ ...lora, applicationSessionKey: null });
  for (const answer of [
    await reader('GET', path),
    await reader('GET', '/v3/devices/by-device-id?deviceId=sent-back'),
    await reader('GET', `/v3/assets?workspaceId=${world.workspaceId}`),
    await reader('POST', '/v3/assets/list', { workspaceIds: [world.workspaceId] }),
    await reader('GET', `/v3/devices/export?workspaceId=${world.workspaceId}&format=json`),
    await reader('GET', `/v3/devices/export?workspaceId=${world.workspaceId}&format=csv`),
  ]) {
    expect(answer.status).toBe(200);
    const text = Buffer.isBuffer(answer.body)
      ? answer.body.toString()
      : JSON.stringify(answer.body);
    expect(text).toContain('sent-back');
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
});
