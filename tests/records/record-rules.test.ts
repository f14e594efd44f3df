// Record rules: versions, uniqueness, use, references, secrets, lists.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
let made: Awaited<ReturnType<typeof makeDevice>>;

beforeAll(async () => {
  world = await startRecordsWorld(['WEBHOOK']);
  made = await makeDevice(world.admin, world.workspaceId, 'dev-1');
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

test('contract 0: created, updated and version', async () => {
  const { admin, workspaceId, clock } = world;
  const { body } = await admin('POST', '/v3/workspaces', {
    organizationId: world.organizationId,
    name: 'W',
  });
  expect(body).toMatchObject({
    created: '2026-01-01T00:00:00.000Z',
    updated: null,
    version: 0,
    properties: {},
  });
  expect(body.settings).toMatchObject({
    lifecycleMessages: false,
    timezone: null,
    workingHours: null,
  });
  clock.now += 1_000;
  const settings = { timezone: 'Europe/Zurich', lifecycleMessages: true };
  const updated = await admin('PUT', `/v3/workspaces/${body.id}`, { id: workspaceId, settings });
  expect(updated.body).toMatchObject({
    id: body.id,
    name: 'W',
    updated: '2026-01-01T00:00:01.000Z',
    version: 1,
  });
  expect(updated.body.settings).toMatchObject({
    timezone: 'Europe/Zurich',
    lifecycleMessages: true,
    holidays: null,
  });
  expect(
    (await admin('PUT', `/v3/workspaces/${body.id}`, { settings: { timezone: 'Moon/Base' } }))
      .status,
  ).toBe(400);
  const stale = await admin('PUT', `/v3/workspaces/${body.id}`, { name: 'X', version: 0 });
  expect([stale.status, stale.body.errorCode]).toEqual([409, '40901_STALE_VERSION']);
  expect(
    (await admin('PUT', `/v3/workspaces/${body.id}`, { name: 'X', version: 1 })).body.version,
  ).toBe(2);
  const deleted = await admin('DELETE', `/v3/workspaces/${body.id}`);
  expect(deleted).toEqual({ status: 204, body: undefined });
  expect((await admin('GET', `/v3/workspaces/${body.id}`)).status).toBe(404);
});

test('contract 0.2: a device id that is used is a 409 that names it', async () => {
  const { admin, workspaceId } = world;
  const draft = {
    name: 'again',
    deviceId: 'dev-1',
    workspaceId,
    dataFlowId: made.flow.id,
    connectivity: 'HTTP',
  };
  const { status, body } = await admin('POST', '/v3/devices', draft);
  expect([status, body.errorCode]).toEqual([409, '40900_DEVICE_ID_NOT_UNIQUE']);
  expect(body.message).toContain('dev-1');
  const other = (await admin('POST', '/v3/devices', { ...draft, deviceId: 'dev-2' })).body;
  expect((await admin('PUT', `/v3/devices/${other.id}`, { deviceId: 'dev-1' })).status).toBe(409);
  expect(
    (await admin('PUT', `/v3/devices/${other.id}`, { deviceId: 'dev-2', name: 'B' })).body.name,
  ).toBe('B');
  const together = await Promise.all(
    [1, 2, 3].map(() => admin('POST', '/v3/devices', { ...draft, deviceId: 'dev-3' })),
  );
  expect(together.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 409, 409]);
});

test('what is used is not deleted: 409 names the users', async () => {
  const { admin, workspaceId } = world;
  const { connector, flow, device } = await makeDevice(admin, workspaceId, 'used');
  const refused = async (path: string) => {
    const { status, body } = await admin('DELETE', path);
    expect([status, body.errorCode]).toEqual([409, '40902_IN_USE']);
    return body.message;
  };
  expect(await refused(`/v3/device-connectors/${connector.id}`)).toContain(flow.id);
  expect(await refused(`/v3/data-flows/${flow.id}`)).toContain(device.id);
  expect(await refused(`/v3/workspaces/${workspaceId}`)).toMatch(/\d devices/);
  for (const path of [
    `devices/${device.id}`,
    `data-flows/${flow.id}`,
    `device-connectors/${connector.id}`,
  ]) {
    expect((await admin('DELETE', `/v3/${path}`)).status).toBe(204);
  }
});

test('contract 10: pass-through under both names, true without a device type', async () => {
  const { admin, workspaceId, organizationId } = world;
  expect(made.flow).toMatchObject({ passThrough: true, isPassThrough: true, deviceType: null });
  const type = (await admin('POST', '/v3/device-types', { organizationId, name: 'T' })).body;
  const draft = {
    name: 'F',
    workspaceId,
    deviceConnector: { id: made.connector.id },
    deviceType: { id: type.id },
  };
  expect((await admin('POST', '/v3/data-flows', draft)).body.passThrough).toBe(false);
  const sent = await admin('POST', '/v3/data-flows', { ...draft, isPassThrough: true });
  expect(sent.body).toMatchObject({ passThrough: true, isPassThrough: true });
  expect(
    (await admin('PUT', `/v3/data-flows/${sent.body.id}`, { deviceType: null, passThrough: false }))
      .body.passThrough,
  ).toBe(true);
});

test('contract 8 and 35: uplink secrets are for those who may change data flows', async () => {
  const { admin, workspaceId } = world;
  const reader = await world.keyFor(world.organizationId, undefined, { dataFlow: ['read'] });
  const path = `/v3/device-connectors/${made.connector.id}`;
  expect((await admin('GET', path)).body.uplinkSecret).toMatch(/^[0-9a-f]{32}$/);
  expect((await reader('GET', path)).body.uplinkSecret).toBeNull();
  expect(JSON.stringify(await reader('GET', `/v3/data-flows/${made.flow.id}`))).not.toContain(
    made.connector.uplinkSecret,
  );
  const lora = await admin('POST', '/v3/device-connectors', {
    name: 'l',
    workspaceId,
    connectivity: 'LORA',
  });
  expect(lora.status).toBe(400);
});

test('contract 35: secrets of output connectors are masked, and a mask sent back keeps them', async () => {
  const { admin, workspaceId, records } = world;
  const webhookProperties = {
    uri: 'https://example.org/in',
    authType: 'BEARER',
    bearerToken: 'tok',
    headers: { 'x-a': 'one', 'X-Api-Key': 'two', 'x-b': 'Bearer three' },
  };
  const { status, body } = await admin('POST', '/v3/output-connectors', {
    name: 'H',
    workspaceId,
    type: 'WEBHOOK',
    webhookProperties,
  });
  expect(status).toBe(201);
  expect(body.webhookProperties).toMatchObject({
    method: 'POST',
    bearerToken: '********',
    // Behavior 28: a plain header is shown, one that holds a credential is not.
    headers: { 'x-a': 'one', 'X-Api-Key': '********', 'x-b': '********' },
  });
  expect(body).toMatchObject({
    mailProperties: null,
    scope: 'DATA_FLOW',
    deleted: false,
    global: false,
  });
  const changed = { ...body.webhookProperties, method: 'PUT' };
  await admin('PUT', `/v3/output-connectors/${body.id}`, { webhookProperties: changed });
  const { outputConnectorRows } = await import('../../src/storage/records/rows/data-flows.ts');
  expect((await outputConnectorRows.find(records, body.id))!.properties).toMatchObject({
    method: 'PUT',
    bearerToken: 'tok',
    headers: { 'x-a': 'one', 'X-Api-Key': 'two', 'x-b': 'Bearer three' },
  });
});

test.each([
  ['MAIL', {}, '40011_OUTPUT_NOT_AVAILABLE'],
  [
    'CUSTOM_AKENZA_DATABASE',
    { customAkenzaDbProperties: { topic: 'x' } },
    '40011_OUTPUT_NOT_AVAILABLE',
  ],
  ['DATABASE', {}, '40001_INVALID_REQUEST'],
  ['WEBHOOK', {}, '40001_INVALID_REQUEST'],
  ['WEBHOOK', { webhookProperties: { uri: 'ftp://x' } }, '40001_INVALID_REQUEST'],
])('an output of type %s with %j is refused with %s', async (type, properties, code) => {
  const draft = { name: 'x', workspaceId: world.workspaceId, type, ...properties };
  const { status, body } = await world.admin('POST', '/v3/output-connectors', draft);
  expect([status, body.errorCode]).toEqual([400, code]);
});

test('contract 34: old clients read the vendor name of the database, others the neutral one', async () => {
  const path = `/v3/output-connectors?workspaceId=${world.workspaceId}&type=DATABASE`;
  const types = async (headers: Record<string, string>) =>
    (await world.admin('GET', path, undefined, headers)).body.content.map(
      (item: Body) => item.type,
    );
  expect(await types({})).toEqual(['DATABASE']);
  expect(await types({ 'akenza-client': 'java' })).toEqual(['AKENZA_DATABASE']);
});

test.each([
  ['sort=name,asc', ['a', 'B', 'c']],
  ['sort=asc,name', ['a', 'B', 'c']],
  ['sort=name%2Cdesc', ['c', 'B', 'a']],
  ['sort=DESC,name', ['c', 'B', 'a']],
  ['sort=name', ['a', 'B', 'c']],
  ['', ['a', 'B', 'c']],
  ['size=2', ['a', 'B']],
  ['size=2&page=1', ['c']],
  ['search=b', ['B']],
  ['search=100%25', []],
])('contract 0.1: tags with %s', async (query, names) => {
  const { admin, organizationId } = world;
  const workspaceId = (await admin('POST', '/v3/workspaces', { organizationId, name: 'sorting' }))
    .body.id;
  for (const name of ['B', 'c', 'a']) await admin('POST', '/v3/tags', { workspaceId, name });
  const { body } = await admin('GET', `/v3/tags?workspaceId=${workspaceId}&${query}`);
  expect(body.content.map((item: Body) => item.name)).toEqual(names);
});

test('contract 0.1: the four forms of list parameters', async () => {
  const { admin, workspaceId } = world;
  const ids: string[] = [];
  for (const deviceId of ['l1', 'l2', 'l3'])
    ids.push((await makeDevice(admin, workspaceId, deviceId)).device.id);
  const [one, two] = ids;
  for (const form of [
    `assetIds=%5B${one}%2C%20${two}%5D`,
    `assetIds=${one},${two}`,
    `assetIds=${one}&assetIds=${two}`,
    `assetIds[]=${one}&assetIds%5B%5D=${two}`,
  ]) {
    const { body } = await admin('GET', `/v3/assets?workspaceId=${workspaceId}&${form}`);
    expect(
      body.content.map((item: Body) => item.id),
      form,
    ).toEqual([one, two]);
  }
});

test('interface 4.2: asset lists', async () => {
  const { admin, workspaceId, organizationId, secondWorkspace, restricted } = world;
  expect((await admin('GET', '/v3/assets')).status).toBe(400);
  const listed = await admin('POST', '/v3/assets/list?page=0&size=100&sort=name,asc', {
    workspaceIds: [workspaceId],
    search: 'DEV-1',
  });
  expect(listed.body.content.map((item: Body) => item.deviceId)).toEqual(['dev-1']);
  expect((await admin('GET', `/v3/assets?organizationId=${organizationId}`)).body.size).toBe(25);
  expect((await restricted('POST', '/v3/assets/list', { organizationId })).status).toBe(403);
  expect(
    (await restricted('POST', '/v3/assets/list', { workspaceIds: [secondWorkspace] })).status,
  ).toBe(200);
  const empty = ['integrationId=x', 'customFields.ids=%5Bx%5D', 'type=SIM_CARD'];
  for (const query of empty)
    expect(
      (await admin('GET', `/v3/assets?workspaceId=${workspaceId}&${query}`)).body.content,
    ).toEqual([]);
  const secret = await admin(
    'GET',
    `/v3/assets?workspaceId=${workspaceId}&loraProperties.applicationKey=A`,
  );
  expect(secret.body.errorCode).toBe('40012_FILTER_NOT_AVAILABLE');
});

test('contract 35: an Idempotency-Key makes one record', async () => {
  const { admin, workspaceId } = world;
  const headers = { 'idempotency-key': 'k1' };
  const first = await admin('POST', '/v3/tags', { workspaceId, name: 'once' }, headers);
  const again = await admin('POST', '/v3/tags', { workspaceId, name: 'once' }, headers);
  expect(again).toEqual(first);
  expect((await admin('POST', '/v3/tags', { workspaceId, name: 'twice' }, headers)).status).toBe(
    422,
  );
});

test.each<[string, object]>([
  ['/v3/tags', { name: 'no workspace' }],
  ['/v3/tags', { name: '', workspaceId: 'x' }],
  ['/v3/device-connectors', { name: 'x', workspaceId: 'x', connectivity: 'PIGEON' }],
  ['/v3/devices', { name: 'x', deviceId: '', workspaceId: 'x', dataFlowId: 'x' }],
  [
    '/v3/devices',
    { name: 'x', deviceId: 'd', workspaceId: 'x', dataFlowId: 'x', onlineTimeout: 'long' },
  ],
])('POST %s with %j is a 400', async (path, body) =>
  expect((await world.admin('POST', path, body)).status).toBe(400),
);

test.each([
  '/v3/tags',
  '/v3/devices',
  '/v3/workspaces',
  '/v3/data-flows',
  '/v3/device-types',
  '/v3/device-connectors',
  '/v3/output-connectors',
  '/v3/organizations',
])('%s/unknown is a 404', async (path) =>
  expect((await world.admin('GET', `${path}/unknown`)).status).toBe(404),
);
