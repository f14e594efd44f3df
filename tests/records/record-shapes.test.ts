// The fields of every record as the contract lists them: all there, unused ones null, no others.
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deviceStatusRows } from '../../src/storage/records/rows/device-status.ts';
import { processingLogRows } from '../../src/storage/records/rows/payload-notes.ts';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let tag: Body;
let type: Body;
let device: Body;
let connector: Body;
let flow: Body;

beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId, organizationId } = world;
  tag = (await admin('POST', '/v3/tags', { workspaceId, name: 'Roof', color: '#FF00aa' })).body;
  const script = { code: 'function consume(event) {}' };
  const meta = { manufacturer: 'Acme', encoding: 'HEX', availableSensors: ['temperature'] };
  const schemas = { default: { type: 'object' }, alarm: '{"type":"object"}' };
  const draft = { name: 'T', organizationId, type: 'manual', meta, schemas, uplinkScript: script };
  type = (await admin('POST', '/v3/device-types', draft)).body;
  ({ connector, flow, device } = await makeDevice(admin, workspaceId, 'dev-1', {
    tags: [{ id: tag.id }],
    loRaProperties: { deviceEui: '0011223344556677', applicationKey: '00' },
  }));
  flow = (
    await admin('PUT', `/v3/data-flows/${flow.id}`, {
      deviceType: { id: type.id },
      isPassThrough: false,
    })
  ).body;
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const keysOf = (body: object) => Object.keys(body).sort();
const words = (text: string) => text.split(/\s+/).sort();

const audit = 'created updated version';
const connectorKeys = `id ${audit} name description workspaceId readOnly global connectivity carrier provider integrationId
  integrationDeleted authType uplinkSecret decodingType encoding pushConfigurationAutomatically lineProtocol sparkplug yanziProperties spacetiProperties`;
const typeKeys = `id name description type organizationId ${audit} meta libraryPath pictureUrl`;
const typeDetailKeys = `${typeKeys} schemas typedSchemas sampleData uplinkScript downlinkScript calculatedKeys`;
const outputKeys = `id ${audit} name workspaceId deleted global scope type sendConsecutiveAlerts invokeRuleEngine useCustomPayload
  customPayload customDatabaseProperties customAkenzaDbProperties webhookProperties mailProperties smsProperties downlinkProperties
  azureProperties gcpProperties alarmProperties amazonKinesisProperties influxProperties kafkaProperties msTeamsProperties slackProperties sqlProperties
  mqttProperties amqpProperties natsProperties`;
const flowKeys = `id ${audit} name description deviceConnector deviceType workspaceId organizationId outputConnectors passThrough isPassThrough
  retentionDays`;
const deviceKeys = `id deviceId name description type workspaceId organizationId connectivity onlineTimeout online onlineState
  registered properties dataFlowId dataFlow integration integrationId customFields tags placeId place planPosition uplinkMetrics loraProperties
  excludeFromLifecycleReport ${audit}`;

test.each<[string, () => string, string]>([
  [
    'contract 1: organization',
    () => `/v3/organizations/${world.organizationId}`,
    `id name description logo owner alphaFeatures properties ${audit}`,
  ],
  [
    'contract 3: workspace',
    () => `/v3/workspaces/${world.workspaceId}`,
    `id name description settings properties organizationId ${audit}`,
  ],
  [
    'contract 6: tag',
    () => `/v3/tags/${tag.id}`,
    'id name description workspaceId color taggedDevices created updated version',
  ],
  ['contract 7: device type', () => `/v3/device-types/${type.id}`, typeDetailKeys],
  ['contract 8: device connector', () => `/v3/device-connectors/${connector.id}`, connectorKeys],
  ['contract 9: output connector', () => '/v3/output-connectors/0900000000000000', outputKeys],
  ['contract 10: data flow', () => `/v3/data-flows/${flow.id}`, flowKeys],
  ['contract 4: device', () => `/v3/devices/${device.id}`, deviceKeys],
])('%s has exactly its fields', async (_, path, keys) => {
  const { status, body } = await world.admin('GET', path());
  expect(status).toBe(200);
  expect(keysOf(body)).toEqual(words(keys));
  const template = path().replace(/\/[0-9a-f]{16}$/, '/:id');
  const route = world.routes.find((known) => known.method === 'GET' && known.path === template)!;
  expect([...Value.Errors(route.response as TSchema, body)]).toEqual([]);
});

test.each<[string, () => string, string]>([
  [
    'device types without details',
    () => `/v3/device-types?organizationId=${world.organizationId}`,
    typeKeys,
  ],
  [
    'device types with details',
    () => `/v3/device-types?organizationId=${world.organizationId}&details=true`,
    typeDetailKeys,
  ],
  ['data flows', () => `/v3/data-flows?workspaceId=${world.workspaceId}`, flowKeys],
  ['assets', () => `/v3/assets?workspaceId=${world.workspaceId}`, deviceKeys],
  ['output connectors', () => `/v3/output-connectors?workspaceId=${world.workspaceId}`, outputKeys],
  ['organizations, minimal', () => '/v3/organizations?minimal=true', 'id name'],
])('items of the list of %s have exactly their fields', async (_, path, keys) => {
  const { body } = await world.admin('GET', path());
  expect(keysOf(body)).toEqual(
    words(
      'content pageable sort totalPages totalElements size number numberOfElements first last empty',
    ),
  );
  expect(body.content).toHaveLength(1);
  expect(keysOf(body.content[0])).toEqual(words(keys));
});

test('contract 10: the single flow nests whole records, the list only their names', async () => {
  expect(keysOf(flow.deviceConnector)).toEqual(words(connectorKeys));
  expect(keysOf(flow.deviceType)).toEqual(words(typeDetailKeys));
  expect(keysOf(flow.outputConnectors[0])).toEqual(words(`${outputKeys} topic`));
  const [item] = (await world.admin('GET', `/v3/data-flows?workspaceId=${world.workspaceId}`)).body
    .content;
  expect(item.deviceType).toEqual({ id: type.id, name: 'T', pictureUrl: null });
  expect(item.outputConnectors).toEqual([{ id: '0900000000000000', topic: '*' }]);
});

test('contract 4: what a device nests', async () => {
  const { body } = await world.admin('GET', `/v3/devices/${device.id}`);
  expect(body.tags).toEqual([{ id: tag.id, name: 'Roof', description: null }]);
  expect(body.dataFlow).toEqual({
    id: flow.id,
    name: flow.name,
    deviceType: { id: type.id, name: 'T', pictureUrl: null },
    deviceConnector: {
      id: connector.id,
      name: connector.name,
      authType: 'BASIC',
      decodingType: 'NONE',
    },
    workspaceId: world.workspaceId,
    organizationId: world.organizationId,
  });
  expect(body).toMatchObject({
    customFields: [],
    integration: null,
    uplinkMetrics: null,
    onlineState: 'UNKNOWN',
    online: null,
  });
  expect(body.loraProperties).toMatchObject({
    deviceEui: '0011223344556677',
    applicationKey: '00',
    ttnProperties: null,
  });
  const reader = await world.keyFor(world.organizationId, undefined, { asset: ['read'] });
  const seen = (await reader('GET', `/v3/devices/${device.id}`)).body.loraProperties;
  expect(seen).toMatchObject({ deviceEui: '0011223344556677', applicationKey: null });
  expect((await world.admin('GET', `/v3/tags/${tag.id}`)).body).toMatchObject({
    taggedDevices: 1,
    color: '#FF00aa',
  });
});

test('contract 4: online follows the last uplink and the time-out; metrics carry every id', async () => {
  const { admin, records, clock } = world;
  const timestamp = clock.now;
  await deviceStatusRows.saveMetrics(records.db, [
    { uplinkId: 'u', deviceId: device.id, uplinkSize: 12, timestamp, sqi: 3, batteryLevel: 60 },
  ]);
  const read = async () => (await admin('GET', `/v3/devices/${device.id}`)).body;
  expect(await read()).toMatchObject({ online: true, onlineState: 'ONLINE' });
  expect((await read()).uplinkMetrics).toMatchObject({
    id: device.id,
    deviceId: device.id,
    svcDeviceId: device.id,
    akenzaDeviceId: device.id,
    uplinkSize: 12,
    signalQuality: 'GOOD',
    batteryLevelStatus: 'MEDIUM',
    rssi: null,
  });
  const count = async (query: string) =>
    (await admin('GET', `/v3/assets?workspaceId=${world.workspaceId}&${query}`)).body.totalElements;
  expect([
    await count('online=true'),
    await count('online=false'),
    await count('state=UNKNOWN'),
  ]).toEqual([1, 0, 0]);
  clock.now += 86_400_000;
  expect(await read()).toMatchObject({ online: false, onlineState: 'OFFLINE' });
  expect([await count('online=true'), await count('state=OFFLINE')]).toEqual([0, 1]);
});

test('contract 7: schemas are strings, absent parts null, script versions count changes of the code', async () => {
  expect(type.schemas).toEqual({ default: '{"type":"object"}', alarm: '{"type":"object"}' });
  expect(type.meta).toEqual({
    manufacturer: 'Acme',
    url: null,
    author: null,
    properties: null,
    firmwareVersion: null,
    encoding: 'HEX',
    connectivity: null,
    availableSensors: ['temperature'],
    outputTopics: null,
  });
  expect(type.uplinkScript).toEqual({ code: 'function consume(event) {}', version: 0 });
  const path = `/v3/device-types/${type.id}`;
  const same = await world.admin('PUT', path, {
    uplinkScript: { code: type.uplinkScript.code, version: 7 },
  });
  expect(same.body.uplinkScript.version).toBe(0);
  const changed = await world.admin('PUT', path, {
    uplinkScript: { code: 'function consume() {}' },
  });
  expect(changed.body).toMatchObject({ uplinkScript: { version: 1 }, version: 2 });
  expect((await world.admin('PUT', path, { schemas: { default: 'no json' } })).status).toBe(400);
});

test('contract 27: the processing log of a device', async () => {
  const at = (minute: number) => Date.UTC(2026, 0, 1, 0, minute);
  const entry = { deviceId: device.id, source: 'SCRIPT', correlationId: 'c' } as const;
  await processingLogRows.append(world.records.db, [
    { ...entry, id: 'a', timestamp: at(1), level: 'WARN', message: 'one' },
    { ...entry, id: 'b', timestamp: at(2), level: 'ERROR', message: 'two', details: { line: 1 } },
  ]);
  const get = async (query: string) =>
    (await world.admin('GET', `/v3/devices/${device.id}/processing-logs${query}`)).body;
  expect((await get('')).content).toEqual([
    {
      id: 'b',
      timestamp: '2026-01-01T00:02:00.000Z',
      level: 'ERROR',
      source: 'SCRIPT',
      message: 'two',
      correlationId: 'c',
      details: { line: 1 },
    },
    {
      id: 'a',
      timestamp: '2026-01-01T00:01:00.000Z',
      level: 'WARN',
      source: 'SCRIPT',
      message: 'one',
      correlationId: 'c',
      details: null,
    },
  ]);
  const ids = async (query: string) => (await get(query)).content.map((item: Body) => item.id);
  expect(await ids('?level=WARN')).toEqual(['a']);
  expect(await ids('?from=2026-01-01T00:02:00Z')).toEqual(['b']);
  expect(await ids('?to=2026-01-01T00:02:00Z')).toEqual(['a']);
  expect(await ids('?page=1&size=1')).toEqual(['a']);
  expect(
    (await world.admin('GET', `/v3/devices/${device.id}/processing-logs?from=soon`)).status,
  ).toBe(400);
  expect((await world.foreign('GET', `/v3/devices/${device.id}/processing-logs`)).status).toBe(404);
});

test('contract 23: an API key shows its secret once and works until it is deleted', async () => {
  const { owner, organizationId, stranger, secondWorkspace } = world;
  const draft = {
    name: 'k',
    organizationId,
    allWorkspaces: false,
    workspaces: [{ id: secondWorkspace }],
    permissions: { asset: ['read'] },
  };
  const { status, body } = await owner('POST', '/v3/api-keys', draft);
  expect(status).toBe(201);
  expect(body.secret).toMatch(/^[0-9a-f]{16}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(body.permissions).toEqual({ asset: ['read'], organization: ['read'] });
  const record = (await owner('GET', `/v3/api-keys/${body.id}`)).body;
  expect(keysOf(record)).toEqual(
    words(
      'id name description organizationId allWorkspaces workspaces permissions secretPrefix created lastUsed expiration',
    ),
  );
  expect(JSON.stringify(await owner('GET', '/v3/api-keys'))).not.toContain(body.secret);
  const use = async () =>
    await stranger('GET', '/v3/workspace-access?scope=ASSET&verb=READ', undefined, {
      'x-api-key': body.secret,
    });
  expect((await use()).body).toEqual({ all: false, ids: [secondWorkspace] });
  expect((await owner('DELETE', `/v3/api-keys/${body.id}`)).status).toBe(204);
  expect((await use()).status).toBe(401);
  expect(
    (
      await owner('POST', '/v3/api-keys', {
        name: 'k',
        organizationId,
        permissions: { moon: ['read'] },
      })
    ).status,
  ).toBe(400);
});
