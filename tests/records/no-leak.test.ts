// Rows of other organizations do not exist (404), rows of other workspaces are forbidden (403); lists show neither.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Body, makeDevice, type RecordsWorld, startRecordsWorld } from './records-world.ts';

let world: RecordsWorld;
const made: Record<string, Body> = {};

beforeAll(async () => {
  world = await startRecordsWorld();
  const { admin, workspaceId, organizationId } = world;
  const { connector, flow, device } = await makeDevice(admin, workspaceId, 'dev-1');
  const post = async (path: string, body: object) => (await admin('POST', path, body)).body;
  made['device-connectors'] = connector;
  made['data-flows'] = flow;
  made['devices'] = device;
  made['tags'] = await post('/v3/tags', { workspaceId, name: 'Roof' });
  made['device-types'] = await post('/v3/device-types', {
    organizationId,
    name: 'Type',
    type: 'manual',
    meta: {},
  });
  made['output-connectors'] = await post('/v3/output-connectors', {
    workspaceId,
    name: 'Hook',
    type: 'WEBHOOK',
    webhookProperties: { uri: 'https://example.org' },
  });
  made['workspaces'] = (await admin('GET', `/v3/workspaces/${workspaceId}`)).body;
});
afterAll(async () => {
  expect(world.failures).toEqual([]);
  await world.close();
});

const kinds = [
  'tags',
  'device-types',
  'device-connectors',
  'output-connectors',
  'data-flows',
  'devices',
  'workspaces',
];
const updates = (kind: string) => ({ ...made[kind], name: 'stolen' });

for (const kind of kinds) {
  test(`${kind}: another organization gets 404 for read, update and delete`, async () => {
    const path = `/v3/${kind}/${made[kind].id}`;
    expect((await world.foreign('GET', path)).status).toBe(404);
    expect((await world.foreign('PUT', path, updates(kind))).status).toBe(404);
    expect((await world.foreign('DELETE', path)).status).toBe(404);
    expect((await world.stranger('GET', path)).status).toBe(401);
    expect((await world.admin('GET', path)).body.name).not.toBe('stolen');
  });

  test(`${kind}: a key of another workspace gets 403 for update and delete`, async () => {
    const path = `/v3/${kind}/${made[kind].id}`;
    // Device types belong to the organization: every key of it may read them.
    expect((await world.restricted('GET', path)).status).toBe(kind === 'device-types' ? 200 : 403);
    expect((await world.restricted('PUT', path, updates(kind))).status).toBe(403);
    expect((await world.restricted('DELETE', path)).status).toBe(403);
  });

  test(`${kind}: a key without permissions gets 403`, async () => {
    const bare = await world.keyFor(world.organizationId, undefined, {});
    const path = `/v3/${kind}/${made[kind].id}`;
    for (const method of ['GET', 'DELETE']) expect((await bare(method, path)).status).toBe(403);
    expect((await bare('GET', `/v3/${kind}`)).status).toBe(kind === 'devices' ? 405 : 403);
  });
}

const lists = ['tags', 'device-connectors', 'output-connectors', 'data-flows', 'assets'];
for (const kind of lists) {
  test(`${kind}: a list of another organization or workspace is refused (contract 0.3)`, async () => {
    const { organizationId, workspaceId, secondWorkspace, foreign, restricted, admin } = world;
    const status = async (call: typeof admin, query: string) =>
      (await call('GET', `/v3/${kind}?${query}`)).status;
    expect(await status(foreign, `organizationId=${organizationId}`)).toBe(404);
    expect(await status(foreign, `workspaceId=${workspaceId}`)).toBe(404);
    expect(await status(restricted, `organizationId=${organizationId}`)).toBe(403);
    expect(await status(restricted, `workspaceId=${workspaceId}`)).toBe(403);
    expect(await status(restricted, `workspaceIds=${secondWorkspace},${workspaceId}`)).toBe(403);
    expect(
      await status(restricted, `workspaceIds=${secondWorkspace}&organizationId=${organizationId}`),
    ).toBe(200);
    expect(await status(admin, `organizationId=${organizationId}`)).toBe(200);
    const foreignIds = (
      await foreign('GET', `/v3/${kind}?organizationId=${world.otherOrganizationId}`)
    ).body.content;
    const own = foreignIds.filter((item: Body) => item.id !== '0900000000000000');
    expect(own).toEqual([]);
  });
}

test('creating in another organization is a 404, in another workspace a 403', async () => {
  const { foreign, restricted, workspaceId, organizationId } = world;
  const bodies: [string, object][] = [
    ['/v3/tags', { workspaceId, name: 'x' }],
    ['/v3/device-connectors', { workspaceId, name: 'x', connectivity: 'HTTP' }],
    ['/v3/devices', { workspaceId, name: 'x', deviceId: 'x', dataFlowId: made['data-flows'].id }],
    [
      '/v3/data-flows',
      { workspaceId, name: 'x', deviceConnector: { id: made['device-connectors'].id } },
    ],
    ['/v3/workspaces', { organizationId, name: 'x' }],
    ['/v3/device-types', { organizationId, name: 'x' }],
  ];
  for (const [path, body] of bodies) {
    expect((await foreign('POST', path, body)).status, path).toBe(404);
    expect((await restricted('POST', path, body)).status, path).toBe(403);
  }
});

test('what a record names must be in its own workspace: references leak nothing', async () => {
  const { foreign, foreignWorkspace, restricted, secondWorkspace } = world;
  const theirs = await makeDevice(foreign, foreignWorkspace, 'dev-1');
  expect(theirs.status, 'device ids are unique within an organization only').toBe(201);
  const refused = [
    await foreign('POST', '/v3/data-flows', {
      name: 'x',
      workspaceId: foreignWorkspace,
      deviceConnector: { id: made['device-connectors'].id },
    }),
    await foreign('PUT', `/v3/data-flows/${theirs.flow.id}`, {
      outputConnectors: [{ id: made['output-connectors'].id, topic: '*' }],
    }),
    await foreign('PUT', `/v3/data-flows/${theirs.flow.id}`, {
      deviceType: { id: made['device-types'].id },
    }),
    await foreign('PUT', `/v3/devices/${theirs.device.id}`, { dataFlowId: made['data-flows'].id }),
    await foreign('PUT', `/v3/devices/${theirs.device.id}`, { tags: [{ id: made['tags'].id }] }),
    await restricted('POST', '/v3/devices', {
      name: 'x',
      deviceId: 'y',
      workspaceId: secondWorkspace,
      dataFlowId: made['data-flows'].id,
    }),
  ];
  for (const { status, body } of refused) {
    expect(status).toBe(400);
    expect(body.errorCode).toBe('40010_UNKNOWN_REFERENCE');
  }
  const unknown = await foreign('PUT', `/v3/devices/${theirs.device.id}`, {
    tags: [{ id: '71ffffffffffffff' }],
  });
  expect(unknown.body.message.replace('71ffffffffffffff', 'ID')).toBe(
    refused[4]!.body.message.replace(made['tags'].id, 'ID'),
  );
});

test('by physical id: 404 in another organization, 403 in another workspace', async () => {
  const { admin, foreign, restricted } = world;
  expect((await admin('GET', '/v3/devices/by-device-id?deviceId=dev-1')).body.id).toBe(
    made['devices'].id,
  );
  expect((await restricted('GET', '/v3/devices/by-device-id?deviceId=dev-1')).status).toBe(403);
  expect((await foreign('GET', '/v3/devices/by-device-id?deviceId=dev-1')).body.id).not.toBe(
    made['devices'].id,
  );
  expect((await foreign('GET', '/v3/devices/by-device-id?deviceId=nobody')).status).toBe(404);
});

test('the global database connector: read by all, changed by none', async () => {
  const path = '/v3/output-connectors/0900000000000000';
  for (const call of [world.admin, world.foreign, world.restricted]) {
    expect((await call('GET', path)).body).toMatchObject({
      global: true,
      workspaceId: null,
      type: 'DATABASE',
    });
    expect((await call('PUT', path, { name: 'x' })).status).toBe(403);
    expect((await call('DELETE', path)).status).toBe(403);
  }
});

test('organizations and workspaces: each sees its own', async () => {
  const { admin, foreign, restricted, organizationId, otherOrganizationId, secondWorkspace } =
    world;
  const ids = async (call: typeof admin, path: string) =>
    (await call('GET', path)).body.content.map((item: Body) => item.id);
  expect(await ids(admin, '/v3/organizations?size=1&minimal=true')).toEqual([organizationId]);
  expect(await ids(foreign, '/v3/organizations')).toEqual([otherOrganizationId]);
  expect((await foreign('GET', `/v3/organizations/${organizationId}`)).status).toBe(404);
  expect((await foreign('PUT', `/v3/organizations/${organizationId}`, { name: 'x' })).status).toBe(
    404,
  );
  expect(
    (await restricted('PUT', `/v3/organizations/${organizationId}`, { name: 'x' })).status,
  ).toBe(403);
  expect(await ids(restricted, `/v3/workspaces?organizationId=${organizationId}`)).toEqual([
    secondWorkspace,
  ]);
  expect((await foreign('GET', `/v3/workspaces?organizationId=${organizationId}`)).status).toBe(
    404,
  );
});

test('contract 35: API keys are managed only by users', async () => {
  const { admin, owner, organizationId, apiKeyId } = world;
  expect((await admin('GET', `/v3/api-keys?organizationId=${organizationId}`)).status).toBe(403);
  expect((await admin('POST', '/v3/api-keys', { name: 'x', organizationId })).status).toBe(403);
  expect((await admin('GET', `/v3/api-keys/${apiKeyId}`)).status).toBe(403);
  expect((await admin('DELETE', `/v3/api-keys/${apiKeyId}`)).status).toBe(403);
  expect((await owner('PUT', `/v3/api-keys/${apiKeyId}`, {})).status).toBe(405);
  const foreignKeys = await owner(
    'GET',
    `/v3/api-keys?organizationId=${world.otherOrganizationId}`,
  );
  expect(foreignKeys.status).toBe(404);
  expect((await owner('GET', `/v3/api-keys/${world.foreign.id}`)).status).toBe(404);
  expect((await owner('DELETE', `/v3/api-keys/${world.foreign.id}`)).status).toBe(404);
});
