// Interface 5, contract 0.3, 23 and 35: who is let in, where, and what every refusal says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../world/expectations.ts';
import {
  besidesPlatform,
  makeKey,
  makeOrganization,
  type OtherOrganization,
} from '../world/restricted-keys.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { type Answered, startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
let far: TestDevice;
let second: { id: string };
let other: OtherOrganization;
const keys = { workspace: '', readsAssets: '', nothing: '', foreign: '', makes: '' };
const everything = {
  asset: ['create', 'read', 'update', 'delete'],
  deviceType: ['create', 'read', 'update', 'delete'],
  dataFlow: ['create', 'read', 'update', 'delete'],
  workspace: ['create', 'read', 'update', 'delete'],
  organization: ['read', 'update'],
} as const;

beforeAll(async () => {
  world = await startWorld();
  second = await world.must('POST', '/v3/workspaces', {
    name: 'Second',
    organizationId: world.organizationId,
  });
  await besidesPlatform(world, async (records) => {
    other = await makeOrganization(records);
    const workspaceIds = [world.workspaceId];
    keys.workspace = await makeKey(records, world, { permissions: everything, workspaceIds });
    keys.readsAssets = await makeKey(records, world, { permissions: { asset: ['read'] } });
    keys.nothing = await makeKey(records, world, { permissions: {} });
    keys.makes = await makeKey(records, world, {
      permissions: { asset: ['create'], dataFlow: ['read'] },
    });
    const { organizationId } = other;
    keys.foreign = await makeKey(records, world, { permissions: everything, organizationId });
  });
  device = await world.device({ name: 'near', script: 'function consume(event) {}' });
  far = await world.device({ name: 'far', workspaceId: second.id });
});
afterAll(() => world.close());

/** A request with these headers and no others. */
function bare(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answered> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return checkedFetch(world.base, method, path, { ...headers, ...type }, body);
}
const as = (key: string, method: string, path: string, body?: unknown) =>
  bare(method, path, { 'x-api-key': key }, body);

describe('interface 5: one valid credential', () => {
  const path = '/v3/organizations';
  for (const [what, headers, code, message] of [
    ['none', {}, '40100_UNAUTHORIZED', 'Unauthorized'],
    ['an unknown key', { 'x-api-key': 'nobody' }, '40100_UNAUTHORIZED', 'Unauthorized'],
    ['an empty key', { 'x-api-key': '' }, '40100_UNAUTHORIZED', 'Unauthorized'],
    ['an endless key', { 'x-api-key': 'x'.repeat(5_000) }, '40100_UNAUTHORIZED', 'Unauthorized'],
    [
      'a token that is none',
      { authorization: 'Bearer nonsense' },
      '40102_INVALID_TOKEN',
      'invalid token',
    ],
    ['another scheme', { authorization: 'Basic YTpi' }, '40102_INVALID_TOKEN', 'invalid token'],
  ] as const)
    test(`401 ${what}`, async () => {
      expectRefusal(await bare('GET', path, headers), 401, code, { path, message });
    });

  test('rule 3: both headers are refused, also when the key is right', async () => {
    const headers = { authorization: 'Bearer nonsense', 'x-api-key': world.apiKey };
    const message = 'Two authentication headers received';
    expectRefusal(await bare('GET', path, headers), 401, '40101_TWO_CREDENTIALS', {
      path,
      message,
    });
  });

  for (const [method, route, body] of [
    ['GET', '/v3/assets', undefined],
    ['POST', '/v3/assets/list', {}],
    ['GET', '/v3/devices/0200000000000000', undefined],
    ['POST', '/v3/devices', {}],
    ['POST', '/v3/devices/0200000000000000/query', {}],
    ['POST', '/v3/run-script', {}],
    ['DELETE', '/v3/tags/7100000000000000', undefined],
    ['GET', '/v3/no-such-thing', undefined],
  ] as const)
    test(`every endpoint needs it: ${method} ${route}`, async () => {
      expectRefusal(await bare(method, route, {}, body), 401, '40100_UNAUTHORIZED', {
        path: route,
      });
    });
});

describe('interface 5 rule 4: scope and verb', () => {
  const denied = (answer: Answered, path: string) =>
    expectRefusal(answer, 403, '40300_PERMISSION_DENIED', { path, message: 'Permission denied' });
  const cases: [keyof typeof keys, string, () => [string, string, unknown?], boolean][] = [
    [
      'nothing',
      'organization read is always granted',
      () => ['GET', `/v3/organizations/${world.organizationId}`],
      true,
    ],
    ['nothing', 'list organizations', () => ['GET', '/v3/organizations'], true],
    [
      'nothing',
      'change the organization',
      () => ['PUT', `/v3/organizations/${world.organizationId}`, { name: 'x' }],
      false,
    ],
    [
      'nothing',
      'list assets',
      () => ['GET', `/v3/assets?organizationId=${world.organizationId}`],
      false,
    ],
    ['nothing', 'read a device', () => ['GET', `/v3/devices/${device.id}`], false],
    [
      'nothing',
      'read by device id',
      () => ['GET', `/v3/devices/by-device-id?deviceId=${device.deviceId}`],
      false,
    ],
    ['nothing', 'query samples', () => ['POST', `/v3/devices/${device.id}/query`, {}], false],
    [
      'nothing',
      'run a script',
      () => ['POST', '/v3/run-script', { script: 'function consume() {}' }],
      false,
    ],
    ['nothing', 'list workspaces', () => ['GET', '/v3/workspaces'], false],
    [
      'nothing',
      'workspace-access',
      () => ['GET', '/v3/workspace-access?scope=ASSET&verb=READ'],
      true,
    ],
    ['readsAssets', 'read a device', () => ['GET', `/v3/devices/${device.id}`], true],
    ['readsAssets', 'query samples', () => ['POST', `/v3/devices/${device.id}/query`, {}], true],
    [
      'readsAssets',
      'read the processing log',
      () => ['GET', `/v3/devices/${device.id}/processing-logs`],
      true,
    ],
    ['readsAssets', 'list tags', () => ['GET', `/v3/tags?workspaceId=${world.workspaceId}`], true],
    [
      'readsAssets',
      'change a device',
      () => ['PUT', `/v3/devices/${device.id}`, { name: 'x' }],
      false,
    ],
    ['readsAssets', 'delete a device', () => ['DELETE', `/v3/devices/${device.id}`], false],
    [
      'readsAssets',
      'make a tag',
      () => ['POST', '/v3/tags', { name: 'x', workspaceId: world.workspaceId }],
      false,
    ],
    ['readsAssets', 'list device types', () => ['GET', '/v3/device-types'], false],
    [
      'readsAssets',
      'list data flows',
      () => ['GET', `/v3/data-flows?workspaceId=${world.workspaceId}`],
      false,
    ],
    [
      'readsAssets',
      'list connectors',
      () => ['GET', `/v3/device-connectors?workspaceId=${world.workspaceId}`],
      false,
    ],
    [
      'makes',
      'make a tag',
      () => ['POST', '/v3/tags', { name: 'x', workspaceId: world.workspaceId }],
      true,
    ],
    ['makes', 'read a device', () => ['GET', `/v3/devices/${device.id}`], false],
    [
      'workspace',
      'run a script',
      () => ['POST', '/v3/run-script', { script: 'function consume() {}' }],
      true,
    ],
  ];
  for (const [key, what, request, allowed] of cases)
    test(`key "${key}": ${what} ${allowed ? 'is allowed' : 'is denied'}`, async () => {
      const [method, path, body] = request();
      const answer = await as(keys[key], method, path, body);
      if (allowed) expect(answer.status).toBeLessThan(300);
      else denied(answer, path.split('?')[0]!);
    });
});

describe('interface 5 rule 4: workspaces of a restricted key', () => {
  const path = '/v3/assets';
  const names = ({ body }: Answered) => body.content.map(({ name }: { name: string }) => name);

  test('its own workspace: listed', async () => {
    expect(
      names(await as(keys.workspace, 'GET', `${path}?workspaceId=${world.workspaceId}`)),
    ).toEqual(['near']);
    const body = { workspaceIds: [world.workspaceId] };
    expect(names(await as(keys.workspace, 'POST', `${path}/list`, body))).toEqual(['near']);
  });
  test('contract 0.3: organization-level listing is 403', async () => {
    const { organizationId } = world;
    const get = await as(keys.workspace, 'GET', `${path}?organizationId=${organizationId}`);
    expectRefusal(get, 403, '40300_PERMISSION_DENIED', { path, message: 'Permission denied' });
    const post = await as(keys.workspace, 'POST', `${path}/list`, { organizationId });
    expectRefusal(post, 403, '40300_PERMISSION_DENIED', { path: `${path}/list` });
  });
  test('organization and its own workspace together: listed', async () => {
    const query = `organizationId=${world.organizationId}&workspaceIds=${world.workspaceId}`;
    expect(names(await as(keys.workspace, 'GET', `${path}?${query}`))).toEqual(['near']);
  });
  test('a forbidden workspace among the allowed ones is 403', async () => {
    const answer = await as(
      keys.workspace,
      'GET',
      `${path}?workspaceIds=${world.workspaceId},${second.id}`,
    );
    expectRefusal(answer, 403, '40300_PERMISSION_DENIED', { path });
  });
  test('contract 35: it lists its own workspaces, 200 and filtered', async () => {
    const { status, body } = await as(
      keys.workspace,
      'GET',
      `/v3/workspaces?organizationId=${world.organizationId}`,
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ totalElements: 1, content: [{ id: world.workspaceId }] });
  });
  test('workspace-access returns them', async () => {
    const query = `organizationId=${world.organizationId}&scope=ASSET&verb=READ`;
    const { body } = await as(keys.workspace, 'GET', `/v3/workspace-access?${query}`);
    expect(body).toEqual({ all: false, ids: [world.workspaceId] });
    const none = await as(keys.workspace, 'GET', '/v3/workspace-access?scope=RULE&verb=READ');
    expect(none.body).toEqual({ all: false, ids: [] });
  });
  const requests: [string, () => [string, string, unknown?]][] = [
    ['device', () => ['GET', `/v3/devices/${far.id}`]],
    ['device change', () => ['PUT', `/v3/devices/${far.id}`, { name: 'x' }]],
    ['device by its id', () => ['GET', `/v3/devices/by-device-id?deviceId=${far.deviceId}`]],
    ['samples', () => ['POST', `/v3/devices/${far.id}/query`, {}]],
    ['kpi', () => ['POST', `/v3/devices/${far.id}/query/raw/kpi`, {}]],
    ['schema', () => ['GET', `/v3/devices/${far.id}/infer-schema`]],
    ['data flow', () => ['GET', `/v3/data-flows/${far.dataFlowId}`]],
    ['connector', () => ['GET', `/v3/device-connectors/${far.connectorId}`]],
    ['workspace', () => ['GET', `/v3/workspaces/${second.id}`]],
    ['a tag made there', () => ['POST', '/v3/tags', { name: 'x', workspaceId: second.id }]],
    [
      'a device type of the organization changed',
      () => ['PUT', `/v3/device-types/${device.deviceTypeId}`, { name: 'x' }],
    ],
    [
      'a workspace made',
      () => ['POST', '/v3/workspaces', { name: 'x', organizationId: world.organizationId }],
    ],
  ];
  for (const [what, request] of requests)
    test(`403 outside its workspaces: ${what}`, async () => {
      const [method, route, body] = request();
      const answer = await as(keys.workspace, method, route, body);
      expectRefusal(answer, 403, '40300_PERMISSION_DENIED', { path: route.split('?')[0]! });
    });
});

describe('rows of another organization do not exist', () => {
  const requests: [string, () => [string, string, unknown?]][] = [
    ['organization', () => ['GET', `/v3/organizations/${world.organizationId}`]],
    ['device', () => ['GET', `/v3/devices/${device.id}`]],
    ['device by its id', () => ['GET', `/v3/devices/by-device-id?deviceId=${device.deviceId}`]],
    ['samples', () => ['POST', `/v3/devices/${device.id}/query`, {}]],
    ['processing log', () => ['GET', `/v3/devices/${device.id}/processing-logs`]],
    ['device type', () => ['GET', `/v3/device-types/${device.deviceTypeId}`]],
    ['data flow', () => ['DELETE', `/v3/data-flows/${device.dataFlowId}`]],
    ['workspace', () => ['GET', `/v3/workspaces/${world.workspaceId}`]],
    ['assets of a workspace', () => ['GET', `/v3/assets?workspaceId=${world.workspaceId}`]],
    [
      'assets of the organization',
      () => ['GET', `/v3/assets?organizationId=${world.organizationId}`],
    ],
    ['tag made there', () => ['POST', '/v3/tags', { name: 'x', workspaceId: world.workspaceId }]],
    [
      'type made there',
      () => ['POST', '/v3/device-types', { name: 'x', organizationId: world.organizationId }],
    ],
  ];
  for (const [what, request] of requests)
    test(`404: ${what}`, async () => {
      const [method, route, body] = request();
      const answer = await as(keys.foreign, method, route, body);
      expectRefusal(answer, 404, '40400_NOT_FOUND', { path: route.split('?')[0]! });
    });

  test('its lists hold only its own', async () => {
    const { body } = await as(keys.foreign, 'GET', '/v3/organizations');
    expect(body).toMatchObject({ totalElements: 1, content: [{ id: other.organizationId }] });
    for (const path of [
      `/v3/assets?organizationId=${other.organizationId}`,
      '/v3/device-types',
      `/v3/tags?workspaceId=${other.workspaceId}`,
    ])
      expect((await as(keys.foreign, 'GET', path)).body).toMatchObject({
        totalElements: 0,
        content: [],
      });
  });

  test('a data flow cannot be created with parts of another organization', async () => {
    const connector = await as(keys.foreign, 'POST', '/v3/device-connectors', {
      name: 'x',
      workspaceId: other.workspaceId,
      connectivity: 'HTTP',
    });
    const draft = {
      name: 'x',
      workspaceId: other.workspaceId,
      deviceConnector: { id: connector.body.id },
    };
    for (const more of [
      { deviceConnector: { id: device.connectorId } },
      { deviceType: { id: device.deviceTypeId } },
    ]) {
      const answer = await as(keys.foreign, 'POST', '/v3/data-flows', { ...draft, ...more });
      expectRefusal(answer, 400, '40010_UNKNOWN_REFERENCE', { path: '/v3/data-flows' });
    }
  });

  test('the same physical device id may exist in both', async () => {
    const workspaceId = other.workspaceId;
    const connector = await as(keys.foreign, 'POST', '/v3/device-connectors', {
      name: 'x',
      workspaceId,
      connectivity: 'HTTP',
    });
    const flow = await as(keys.foreign, 'POST', '/v3/data-flows', {
      name: 'x',
      workspaceId,
      deviceConnector: { id: connector.body.id },
    });
    const draft = {
      name: 'twin',
      deviceId: device.deviceId,
      workspaceId,
      dataFlowId: flow.body.id,
      connectivity: 'HTTP',
    };
    expect((await as(keys.foreign, 'POST', '/v3/devices', draft)).status).toBe(201);
    const query = new URLSearchParams({
      secret: connector.body.uplinkSecret,
      deviceId: device.deviceId,
    });
    expect((await bare('POST', `/v3/capture?${query.toString()}`, {}, { twin: 1 })).status).toBe(
      201,
    );
    expect(await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })).toEqual([]);
  });
});

describe('contract 35: what credentials see', () => {
  test('uplinkSecret is null without dataFlow update', async () => {
    const path = `/v3/device-connectors/${device.connectorId}`;
    expect((await as(keys.makes, 'GET', path)).body.uplinkSecret).toBeNull();
    expect((await as(keys.workspace, 'GET', path)).body.uplinkSecret).toBe(device.secret);
    const flow = await as(keys.makes, 'GET', `/v3/data-flows/${device.dataFlowId}`);
    expect(flow.body.deviceConnector.uplinkSecret).toBeNull();
  });

  for (const [method, path, body] of [
    ['GET', '/v3/api-keys', undefined],
    ['POST', '/v3/api-keys', { name: 'x', organizationId: 'x', permissions: {} }],
    ['GET', '/v3/api-keys/1100000000000000', undefined],
    ['DELETE', '/v3/api-keys/1100000000000000', undefined],
  ] as const)
    test(`API keys are for signed-in users: a key gets 403: ${method} ${path}`, async () => {
      expectRefusal(await world.call(method, path, body), 403, '40300_PERMISSION_DENIED', { path });
    });
  test('rule 6: an API key cannot be changed: 405', async () => {
    const path = '/v3/api-keys/1100000000000000';
    expectRefusal(await world.call('PUT', path, {}), 405, '40500_METHOD_NOT_ALLOWED', { path });
  });
});
