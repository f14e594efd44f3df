// Quotas of an organization: errors that name the limit, and the counts of /v3/usage (contract 36).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { standardQuotas } from '../../src/model/quota.ts';
import { openLive } from '../world/live-socket.ts';
import { startMqttWorld } from '../world/mqtt-world.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

const limits = { devices: 3, rules: 2 };
let world: World;
beforeAll(async () => {
  world = await startWorld({ environment: { QUOTA_DEVICES: '3', QUOTA_RULES: '2' } });
});
afterAll(() => world.close());

const quotas = async (): Promise<Record<string, { max: number; used: number | null }>> => {
  const { quotas: shown } = await world.must('GET', '/v3/usage');
  return Object.fromEntries(shown.map((each: { limit: string }) => [each.limit, each]));
};

test('review security 14: devices of an organization are limited, singly and by an operation, and can be replaced', async () => {
  const first = await world.device();
  await world.device();
  const { dataFlowId, id } = first;
  const draft = (deviceId: string) => ({
    name: deviceId,
    deviceId,
    workspaceId: world.workspaceId,
    dataFlowId,
  });
  const operation = await world.must('POST', '/v3/devices/bulk/create', {
    workspaceId: world.workspaceId,
    devices: ['m1', 'm2', 'm3'].map(draft),
  });
  await expect
    .poll(async () => (await world.must('GET', `/v3/operations/${operation.id}`)).completed, {
      timeout: 60_000,
    })
    .not.toBeNull();
  const { actionsFailed, actions } = await world.must(
    'GET',
    `/v3/operations/${operation.id}?actions=failed`,
  );
  expect(actionsFailed).toBe(2);
  expect(actions[0].data.errorCode).toBe('40910_QUOTA_REACHED');
  const refused = await world.call('POST', '/v3/devices', draft('d9'));
  expect(refused).toMatchObject({
    status: 409,
    body: { errorCode: '40910_QUOTA_REACHED', limitName: 'devices', limitMax: 3 },
  });
  expect(refused.body.message).toBe('Quota reached: 3 devices per organization (limit devices)');
  expect((await quotas())['devices']).toMatchObject({ max: 3, used: 3 });
  await world.must('DELETE', `/v3/devices/${id}`);
  expect((await quotas())['devices']).toMatchObject({ used: 2 });
  await world.must('POST', '/v3/devices', draft('d10'));
});

test('review security 14: rules of an organization are limited', async () => {
  const { content } = await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}`);
  const source = {
    id: 'dataSource::t',
    inputIds: [content[0].id],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
    lastSample: false,
    triggerOnUplink: true,
  };
  const condition = {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: source.id },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value: 20 },
    order: 0,
  };
  const logicBlocks = [{ conditions: [condition], actionIds: [] }];
  const draft = {
    name: 'Too warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: content[0].id, name: 'x', type: 'DEVICE' }],
    logic: { type: 'COMPARISON', dataSources: [source], logicBlocks },
    actions: [],
  };
  for (let made = 0; made < limits.rules; made++) await world.must('POST', '/v3/rules', draft);
  const refused = await world.call('POST', '/v3/rules', draft);
  expect(refused).toMatchObject({
    status: 409,
    body: { errorCode: '40910_QUOTA_REACHED', limitName: 'rules', limitMax: 2 },
  });
  expect((await quotas())['rules']).toMatchObject({ max: 2, used: 2 });
});

test('usage shows every limit and what is used of it, to those who see the whole organization', async () => {
  const shown = await quotas();
  expect(Object.keys(shown)).toEqual(Object.keys(standardQuotas));
  for (const [limit, { max }] of Object.entries(shown)) {
    expect(max, limit).toBe({ ...standardQuotas, ...limits }[limit as keyof typeof standardQuotas]);
  }
  const { foreign, restricted } = await besidesPlatform(world, async (records) => {
    const permissions = { workspace: ['read'] } as const;
    const { organizationId } = await makeOrganization(records);
    return {
      foreign: await makeKey(records, world, { permissions, organizationId }),
      restricted: await makeKey(records, world, { permissions, workspaceIds: [world.workspaceId] }),
    };
  });
  const as = async (key: string) =>
    (await world.call('GET', '/v3/usage', undefined, { 'x-api-key': key })).body;
  expect((await as(restricted)).quotas).toBeUndefined();
  expect((await as(foreign)).quotas[0]).toMatchObject({ limit: 'devices', used: 0 });
});

test('review security 14: WebSockets are limited per organization', async () => {
  const other = await startWorld({ environment: { QUOTA_WEBSOCKETS: '2' } });
  try {
    const foreign = await besidesPlatform(other, async (records) => {
      const { organizationId } = await makeOrganization(records);
      return makeKey(records, other, { permissions: { asset: ['read'] }, organizationId });
    });
    const open = (key: string) =>
      openLive(`${other.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${key}`);
    const used = async () =>
      (await other.must('GET', '/v3/usage')).quotas.find(
        (each: { limit: string }) => each.limit === 'webSockets',
      ).used;
    const [first] = [await open(other.apiKey), await open(other.apiKey)];
    await expect(open(other.apiKey)).rejects.toThrow('429');
    expect(await used()).toBe(2);
    (await open(foreign)).close();
    first.close();
    await expect.poll(used).toBe(1);
    (await open(other.apiKey)).close();
  } finally {
    await other.close();
  }
});

test('review security 14: MQTT over WebSocket counts as a WebSocket, plain MQTT does not', async () => {
  const other = await startMqttWorld({ environment: { QUOTA_WEBSOCKETS: '2' } });
  try {
    const device = await other.mqttDevice();
    const webSockets = other.base.replace('http', 'ws');
    const used = async () =>
      (await other.must('GET', '/v3/usage')).quotas.find(
        (each: { limit: string }) => each.limit === 'webSockets',
      ).used;
    const first = await other.client(device, { clientId: 'one' }, `${webSockets}/mqtt`);
    await other.client(device, { clientId: 'plain' });
    const stream = await openLive(`${webSockets}/v3/data-streams?xApiKey=${other.apiKey}`);
    expect(await used()).toBe(2);
    await expect(other.client(device, { clientId: 'two' }, `${webSockets}/mqtt`)).rejects.toThrow(
      /server unavailable/i,
    );
    await other.client(device, { clientId: 'plain too' });
    first.end(true);
    await expect.poll(used).toBe(1);
    await other.client(device, { clientId: 'three' }, `${webSockets}/mqtt`);
    expect(await used()).toBe(2);
    stream.close();
  } finally {
    await other.close();
  }
});

test('security 8: views of an organization, and the state of a device, are limited', async () => {
  const environment = { QUOTA_VIEWS: '1', QUOTA_STATE_BYTES: '100' };
  const other = await startWorld({ environment });
  try {
    const view = { name: 'x', kind: 'devices', workspaceId: other.workspaceId, content: {} };
    const { id: viewId } = await other.must('POST', '/v3/views', view);
    expect(await other.call('POST', '/v3/views', view)).toMatchObject({
      status: 409,
      body: { errorCode: '40910_QUOTA_REACHED', limitName: 'views', limitMax: 1 },
    });
    await other.must('DELETE', `/v3/views/${viewId}`);
    await other.must('POST', '/v3/views', view);
    const shown = (await other.must('GET', '/v3/usage')).quotas;
    expect(shown).toContainEqual({ limit: 'views', per: 'organization', max: 1, used: 1 });
    expect(shown).toContainEqual({ limit: 'stateBytes', per: 'device', max: 100, used: null });
    const script = `function consume(event) {
      emit('sample', { data: { before: event.state.n || 0 } });
      emit('state', { n: event.data.n, text: event.data.text || '' });
    }`;
    const device = await other.device({ script });
    for (const body of [{ n: 1 }, { n: 2, text: 'x'.repeat(100) }, { n: 3 }])
      await other.capture(device, body);
    const { content } = await other.must('GET', `/v3/devices/${device.id}/processing-logs`);
    expect(content).toMatchObject([
      { level: 'ERROR', source: 'SCRIPT', message: expect.stringContaining('(limit stateBytes)') },
    ]);
    const samples = await other.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
    const before = samples.map(({ data }: { data: { before: number } }) => data.before);
    // The state before the one that was too large stays.
    expect(before.toSorted()).toEqual([0, 1, 1]);
  } finally {
    await other.close();
  }
});

test('security 2: MQTT connections are limited per organization', async () => {
  const other = await startMqttWorld({ environment: { QUOTA_MQTT_CONNECTIONS: '2' } });
  try {
    const device = await other.mqttDevice();
    const used = async () =>
      (await other.must('GET', '/v3/usage')).quotas.find(
        (each: { limit: string }) => each.limit === 'mqttConnections',
      );
    const first = await other.client(device, { clientId: 'one' });
    await other.client(device, { clientId: 'two' });
    expect(await used()).toMatchObject({ max: 2, used: 2 });
    await expect(other.client(device, { clientId: 'three' })).rejects.toThrow(
      /server unavailable/i,
    );
    first.end(true);
    await expect.poll(async () => (await used()).used).toBe(1);
    await other.client(device, { clientId: 'three' });
  } finally {
    await other.close();
  }
});

test('review security 14: subscription items are counted over all connections of an organization', async () => {
  const other = await startWorld({ environment: { QUOTA_SUBSCRIPTION_ITEMS: '3' } });
  try {
    const { id } = await other.device();
    const open = () =>
      openLive(`${other.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${other.apiKey}`);
    const [first, second] = [await open(), await open()];
    const subscribe = (...topics: string[]) => ({
      type: 'subscribe',
      subscriptions: topics.map((topic) => ({ assetId: id, topic })),
    });
    const used = async () =>
      (await other.must('GET', '/v3/usage')).quotas.find(
        (each: { limit: string }) => each.limit === 'subscriptionItems',
      ).used;
    expect(await first.ask(subscribe('aa', 'bb'))).toMatchObject({ type: 'subscribed' });
    const refused = await second.ask(subscribe('aa', 'bb'));
    expect(refused).toMatchObject({ type: 'error', errorCode: 'TOO_MANY_SUBSCRIPTIONS' });
    expect(refused['message']).toContain(
      '3 subscription items per organization (limit subscriptionItems)',
    );
    expect(await second.ask(subscribe('aa'))).toMatchObject({ type: 'subscribed' });
    // What is open already needs no room.
    expect(await first.ask(subscribe('bb', 'aa'))).toMatchObject({ type: 'subscribed' });
    expect(await used()).toBe(3);
    first.close();
    await expect.poll(used).toBe(1);
    expect(await second.ask(subscribe('bb', 'cc'))).toMatchObject({ type: 'subscribed' });
  } finally {
    await other.close();
  }
});
