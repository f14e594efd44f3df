// Sparkplug B over MQTT: births, data, deaths, commands and births asked for, with the client of Eclipse Tahu.
import { readFileSync } from 'node:fs';
import type { MqttClient } from 'mqtt';
import sparkplugClient from 'sparkplug-client';
import sparkplugPayload from 'sparkplug-payload';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { alarmRules } from '../world/alarm-rules.ts';
import { closed, inbox, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';
import type { TestDevice } from '../world/world.ts';

type Metrics = readonly Record<string, unknown>[];
type Client = ReturnType<typeof sparkplugClient.newClient>;
const codec = sparkplugPayload.get('spBv1.0')!;

let world: MqttWorld;
let now = Date.UTC(2026, 0, 5);
const clients: Client[] = [];
beforeAll(async () => {
  world = await startMqttWorld({ now: () => now });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.stop();
});
afterAll(() => world.close());

interface Plant {
  readonly connectorId: string;
  readonly secret: string;
  readonly group: string;
  readonly flowId: string;
}

let plants = 0;

/** A connector for Sparkplug with its data flow. */
async function plant(sparkplug: object = { createDevices: { devicesMax: 10 } }): Promise<Plant> {
  const name = `plant ${++plants}`;
  const { workspaceId } = world;
  const body = { name, workspaceId, connectivity: 'MQTT', sparkplug };
  const connector = await world.must('POST', '/v3/device-connectors', body);
  const flow = await world.must('POST', '/v3/data-flows', {
    name,
    workspaceId,
    deviceConnector: { id: connector.id },
    passThrough: true,
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
  });
  const group = `plant-${plants}`;
  return { connectorId: connector.id, secret: connector.uplinkSecret, group, flowId: flow.id };
}

/** The client of Eclipse Tahu, when it wants to send its births. */
async function edgeNode(plant: Plant, edge: string, version: 4 | 5 = 4): Promise<Client> {
  const client = sparkplugClient.newClient({
    serverUrl: `mqtt://127.0.0.1:${world.mqttPort}`,
    username: plant.connectorId,
    password: plant.secret,
    clientId: `${plant.group}-${edge}`,
    groupId: plant.group,
    edgeNode: edge,
    publishDeath: true,
    mqttOptions: { protocolVersion: version, reconnectPeriod: 0 },
  });
  clients.push(client);
  client.on('error', () => undefined);
  await new Promise<void>((resolve) => client.on('birth', resolve));
  return client;
}

const message = (metrics: Metrics) => ({ timestamp: now, metrics: [...metrics] }) as never;

const nodeMetrics: Metrics = [
  { name: 'Node Control/Rebirth', type: 'Boolean', value: false },
  { name: 'Load', alias: 1, type: 'Double', value: 0.5 },
];
const pumpMetrics: Metrics = [
  {
    name: 'Temp/Oil',
    alias: 10,
    type: 'Int16',
    value: 61,
    properties: { engUnit: { type: 'String', value: 'Cel' } },
  },
  { name: 'On', alias: 11, type: 'Boolean', value: false },
];

function bear(client: Client): void {
  client.publishNodeBirth(message(nodeMetrics));
  client.publishDeviceBirth('pump', message(pumpMetrics));
}

/** Polls until the answer is there; the time limit of the test ends it. */
async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const deviceNamed = (deviceId: string) =>
  until(async () => {
    const { content } = await world.must('POST', '/v3/assets/list', {
      workspaceIds: [world.workspaceId],
      expression: { field: 'deviceId', predicate: 'EQUALS', values: [deviceId] },
    });
    return content[0] as { id: string; onlineState: string } | undefined;
  });

const samplesOf = (id: string, count: number) =>
  until(async () => {
    const found = await world.must('POST', `/v3/devices/${id}/query`, { topic: '*', limit: 100 });
    return found.length >= count && (found as { data: object; meta: object; timestamp: string }[]);
  });

const stateOf = (deviceId: string, state: string) =>
  until(async () => (await deviceNamed(deviceId)).onlineState === state);

const notesOf = (id: string, match: RegExp) =>
  until(async () => {
    const { content } = await world.must('GET', `/v3/devices/${id}/processing-logs?size=100`);
    return content.find(({ message: text }: { message: string }) => match.test(text)) as
      | { message: string }
      | undefined;
  });

describe.each([4, 5] as const)('with MQTT level %i', (version) => {
  test('births create devices, data is stored by alias, deaths make them offline', async () => {
    const place = await plant();
    const client = await edgeNode(place, 'line', version);
    bear(client);
    const pump = await deviceNamed(`${place.group}/line/pump`);
    expect(await samplesOf(pump.id, 1)).toMatchObject([
      { data: { 'Temp.Oil': 61, On: false }, meta: { units: { 'Temp.Oil': 'Cel' } } },
    ]);
    now += 1_000;
    client.publishDeviceData('pump', message([{ alias: 10, type: 'Int16', value: -7 }]));
    const [newest] = await samplesOf(pump.id, 2);
    expect(newest).toMatchObject({
      data: { 'Temp.Oil': -7 },
      timestamp: new Date(now).toISOString(),
    });
    await stateOf(`${place.group}/line/pump`, 'ONLINE');
    await stateOf(`${place.group}/line`, 'ONLINE');
    client.publishDeviceDeath('pump', message([]));
    await stateOf(`${place.group}/line/pump`, 'OFFLINE');
    await stateOf(`${place.group}/line`, 'ONLINE');
    now += 1_000;
    client.publishDeviceBirth('pump', message(pumpMetrics));
    await stateOf(`${place.group}/line/pump`, 'ONLINE');
    // The will: the connection ends without a message.
    (client as unknown as { client: MqttClient }).client.stream.destroy();
    await stateOf(`${place.group}/line`, 'OFFLINE');
    await stateOf(`${place.group}/line/pump`, 'OFFLINE');
    const { content } = await world.must('POST', '/v3/assets/list', {
      workspaceIds: [world.workspaceId],
      expression: { field: 'onlineState', predicate: 'IN', values: ['OFFLINE'] },
    });
    const offline = content.map(({ deviceId }: { deviceId: string }) => deviceId);
    expect(offline).toContain(`${place.group}/line/pump`);
  });

  test('a gap makes the platform ask for births, and not twice in ten seconds', async () => {
    const place = await plant();
    const client = await edgeNode(place, 'gap', version);
    const asked: unknown[] = [];
    const first = new Promise<void>((resolve) => {
      client.on('ncmd', (payload) => {
        asked.push(payload.metrics?.[0]?.name);
        resolve();
      });
    });
    bear(client);
    const node = await deviceNamed(`${place.group}/gap`);
    (client as unknown as { seq: number }).seq = 9;
    client.publishNodeData(message([{ alias: 1, type: 'Double', value: 0.6 }]));
    await first;
    await notesOf(node.id, /sequence number 9, expected 2/);
    client.publishNodeData(message([{ alias: 77, type: 'Double', value: 0.6 }]));
    await notesOf(node.id, /alias 77/);
    expect(asked).toEqual(['Node Control/Rebirth']);
    expect(await samplesOf(node.id, 2)).toMatchObject([{ data: { Load: 0.6 } }, {}]);
    now += 10_000;
    const second = new Promise((resolve) => client.on('ncmd', resolve));
    client.publishNodeData(message([{ alias: 1, type: 'Double', value: 0.7 }]));
    await second;
    expect(asked).toHaveLength(2);
  });

  test('commands reach the node and its device with the types of their births', async () => {
    const place = await plant();
    const client = await edgeNode(place, 'cmd', version);
    bear(client);
    const pump = await deviceNamed(`${place.group}/cmd/pump`);
    const command = new Promise((resolve) =>
      client.on('dcmd', (device, payload) => resolve([device, payload.metrics])),
    );
    await world.must('POST', `/v3/devices/${pump.id}/downlink`, {
      mqttDownlink: { payload: { 'Temp/Oil': -3, On: true } },
    });
    expect(await command).toMatchObject(['pump', [{ value: -3 }, { value: true }]]);
    const states = async () =>
      (await world.must('GET', `/v3/devices/${pump.id}/downlinks`)).content.map(
        ({ state, error }: { state: string; error: string | null }) => [state, error],
      );
    await until(async () => (await states())[0]?.[0] === 'SENT');
    await world.must('POST', `/v3/devices/${pump.id}/downlink`, {
      mqttDownlink: { payload: { Flow: 1 } },
    });
    await until(async () => (await states())[0]?.[0] === 'FAILED');
    expect((await states())[0]?.[1]).toMatch(/unknown metric "Flow"/);
  });
});

test('a command waits for the birth of its device', async () => {
  const place = await plant();
  const first = await edgeNode(place, 'wait');
  bear(first);
  const pump = await deviceNamed(`${place.group}/wait/pump`);
  first.stop();
  await stateOf(`${place.group}/wait/pump`, 'OFFLINE');
  await world.must('POST', `/v3/devices/${pump.id}/downlink`, {
    mqttDownlink: { payload: { On: true } },
  });
  now += 1_000;
  const second = await edgeNode(place, 'wait');
  const command = new Promise((resolve) => second.on('dcmd', (device) => resolve(device)));
  bear(second);
  expect(await command).toBe('pump');
});

test.each([
  ['no metrics', {}],
  ['a list', [1]],
])('400: a command of %s', async (_, payload) => {
  const place = await plant();
  bear(await edgeNode(place, 'bad'));
  const { id } = await deviceNamed(`${place.group}/bad/pump`);
  const answer = await world.call('POST', `/v3/devices/${id}/downlink`, {
    mqttDownlink: { payload },
  });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringMatching(/object that maps metrics/),
  ]);
});

test('a second client of the same edge node replaces the first, whose end is not a death', async () => {
  const place = await plant();
  const options = { username: place.connectorId, password: place.secret };
  const birth = () => {
    const payload = { ...(message(nodeMetrics) as object), seq: 0 };
    return Buffer.from(codec.encodePayload(payload as never));
  };
  const topic = `spBv1.0/${place.group}/NBIRTH/twice`;
  const first = await world.clientWith({ ...options, clientId: 'one' });
  await first.publishAsync(topic, birth());
  await stateOf(`${place.group}/twice`, 'ONLINE');
  const second = await world.clientWith({ ...options, clientId: 'two' });
  now += 1_000;
  await second.publishAsync(topic, birth());
  await closed(first);
  const { id } = await deviceNamed(`${place.group}/twice`);
  await samplesOf(id, 2);
  expect((await deviceNamed(`${place.group}/twice`)).onlineState).toBe('ONLINE');
  expect(second.connected).toBe(true);
});

test('historical values are stored and start no rule', async () => {
  const place = await plant();
  const client = await edgeNode(place, 'old');
  client.publishNodeBirth(message(nodeMetrics));
  const born = { name: 'temperature', alias: 10, type: 'Int16', value: 20 };
  client.publishDeviceBirth('pump', message([born]));
  const { id } = await deviceNamed(`${place.group}/old/pump`);
  const alarms = alarmRules(world);
  const device = { id } as TestDevice;
  await alarms.hotRule(device, [[40, await alarms.output()]]);
  const reading = (value: number, more: object = {}) => ({
    alias: 10,
    type: 'Int16',
    value,
    ...more,
  });
  const old = reading(90, { timestamp: now - 60_000, isHistorical: true });
  client.publishDeviceData('pump', message([old]));
  client.publishDeviceData('pump', message([reading(30, { timestamp: now + 1 })]));
  client.publishDeviceData('pump', message([reading(50, { timestamp: now + 2 })]));
  const samples = await samplesOf(id, 4);
  expect(samples.map(({ data }) => data)).toEqual(
    [50, 30, 20, 90].map((temperature) => ({ temperature })),
  );
  const found = await until(async () => {
    const all = await alarms.of(device);
    return all.length > 0 && all;
  });
  expect(found).toMatchObject([{ count: 1 }]);
});

test('a decoder gets the message with names and types', async () => {
  const place = await plant();
  const type = await world.must('POST', '/v3/device-types', {
    name: `type of ${place.group}`,
    organizationId: world.organizationId,
    type: 'manual',
    meta: {},
    uplinkScript: {
      code: "function consume(event) { emit('sample', { data: { got: event.data } }); }",
    },
  });
  const flow = await world.must('GET', `/v3/data-flows/${place.flowId}`);
  await world.must('PUT', `/v3/data-flows/${place.flowId}`, {
    version: flow.version,
    passThrough: false,
    deviceType: { id: type.id },
  });
  const client = await edgeNode(place, 'scripted');
  bear(client);
  const { id } = await deviceNamed(`${place.group}/scripted/pump`);
  const [sample] = await samplesOf(id, 1);
  expect(sample?.data).toMatchObject({
    got: {
      type: 'DBIRTH',
      group: place.group,
      edge: 'scripted',
      device: 'pump',
      metrics: [
        { name: 'Temp/Oil', type: 'Int16', value: 61 },
        { name: 'On', value: false },
      ],
    },
  });
});

test('edge nodes that wait for a host get its state', async () => {
  const place = await plant({ hostId: 'scada', createDevices: { devicesMax: 5 } });
  const will = {
    topic: `spBv1.0/${place.group}/NDEATH/host`,
    payload: Buffer.alloc(0),
    qos: 1,
    retain: false,
  } as const;
  const client = await world.clientWith({
    username: place.connectorId,
    password: place.secret,
    will,
  });
  const messages = inbox(client);
  await client.subscribeAsync('spBv1.0/STATE/scada', { qos: 1 });
  const { topic, text, retain } = await messages.next();
  expect({ topic, retain, state: JSON.parse(text) }).toEqual({
    topic: 'spBv1.0/STATE/scada',
    retain: true,
    state: { online: true, timestamp: expect.any(Number) },
  });
});

test('the birth of docs/sparkplug.md is stored', async () => {
  const guide = readFileSync(new URL('../../docs/sparkplug.md', import.meta.url), 'utf8');
  const [, octal = ''] = /printf '([^']+)' \|/.exec(guide) ?? [];
  const bytes = octal.replaceAll(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
  const place = await plant();
  const client = await world.clientWith({ username: place.connectorId, password: place.secret });
  await client.publishAsync(`spBv1.0/${place.group}/NBIRTH/EDGE`, Buffer.from(bytes, 'latin1'));
  const { id } = await deviceNamed(`${place.group}/EDGE`);
  expect(await samplesOf(id, 1)).toMatchObject([{ data: { temperature: 21.5 } }]);
});

test('a change of its time-out leaves a device that is gone offline', async () => {
  const place = await plant();
  const client = await edgeNode(place, 'timeout');
  bear(client);
  const name = `${place.group}/timeout/pump`;
  const { id } = await deviceNamed(name);
  client.publishDeviceDeath('pump', message([]));
  await stateOf(name, 'OFFLINE');
  const { version } = await world.must('GET', `/v3/devices/${id}`);
  await world.must('PUT', `/v3/devices/${id}`, { version, onlineTimeout: 999_999 });
  expect((await deviceNamed(name)).onlineState).toBe('OFFLINE');
  const overview = await world.must('GET', `/v3/workspaces/${world.workspaceId}/overview`);
  const silent = overview.silent.find((one: { id: string }) => one.id === id);
  expect(silent === undefined || silent.online === false).toBe(true);
  now += 1_000;
  client.publishDeviceBirth('pump', message(pumpMetrics));
  await stateOf(name, 'ONLINE');
});

describe('refused', () => {
  const tries: readonly [string, (client: MqttClient, group: string) => Promise<unknown>][] = [
    [
      'messages of another edge node',
      async (client, group) => {
        await client.publishAsync(`spBv1.0/${group}/NDATA/mine`, Buffer.alloc(0));
        await client.publishAsync(`spBv1.0/${group}/NDATA/other`, Buffer.alloc(0));
      },
    ],
    ['the state of a host', (client) => client.publishAsync('spBv1.0/STATE/heliograph', '{}')],
    [
      'commands',
      (client, group) => client.publishAsync(`spBv1.0/${group}/NCMD/mine`, Buffer.alloc(0)),
    ],
  ];
  const invalid = { transport: 'MQTT', reason: 'INVALID_BODY', status: 400 };

  /** Publishes are answered in order, so that the attempts have been handled. */
  async function dropped(client: MqttClient, connectorId: string): Promise<void> {
    await client.publishAsync('elsewhere', '{}', { qos: 1 });
    expect(client.connected).toBe(true);
    const path = `/v3/device-connectors/${connectorId}/refusals`;
    await expect
      .poll(async () => (await world.must('GET', path)).content, { timeout: 60_000 })
      .toMatchObject([{ ...invalid, count: 2 }]);
  }

  test.each(tries)('behaviour 8: %s are dropped, and the connection stays', async (_, attempt) => {
    const place = await plant();
    const client = await world.clientWith({ username: place.connectorId, password: place.secret });
    await attempt(client, place.group);
    await dropped(client, place.connectorId);
  });

  test.each(['spBv1.0/#', 'spBv1.0/+/NCMD/mine', 'spBv1.0/g/DDATA/mine/#'])(
    'the filter %s',
    async (filter) => {
      const place = await plant();
      const client = await world.clientWith({
        username: place.connectorId,
        password: place.secret,
      });
      await expect(client.subscribeAsync(filter)).rejects.toThrow();
    },
  );

  test('topics of Sparkplug on a connector for other devices', async () => {
    const device = await world.mqttDevice();
    const client = await world.client(device);
    await client.publishAsync('spBv1.0/g/NBIRTH/e', Buffer.alloc(0));
    await dropped(client, device.connectorId);
  });

  test('unknown devices of a connector that creates none, with a note for the node', async () => {
    const place = await plant({});
    const deviceId = `${place.group}/strict`;
    const draft = { name: deviceId, deviceId, workspaceId: world.workspaceId };
    const { id } = await world.must('POST', '/v3/devices', {
      ...draft,
      dataFlowId: place.flowId,
      connectivity: 'MQTT',
    });
    bear(await edgeNode(place, 'strict'));
    await notesOf(id, /strict\/pump was not stored: /);
    expect(await samplesOf(id, 1)).toMatchObject([{ data: { Load: 0.5 } }]);
  });

  test('bytes that are not a payload, with a note for the node', async () => {
    const place = await plant();
    const client = await edgeNode(place, 'broken');
    bear(client);
    const { id } = await deviceNamed(`${place.group}/broken`);
    const raw = (client as unknown as { client: MqttClient }).client;
    raw.publish(`spBv1.0/${place.group}/NDATA/broken`, Buffer.from('{"a":1}'));
    await notesOf(id, /NDATA: .* at byte /);
    expect(raw.connected).toBe(true);
  });

  test.each<[string, object, RegExp]>([
    ['HTTP', { connectivity: 'HTTP', sparkplug: {} }, /sparkplug: only valid for MQTT connectors/],
    [
      'a key of each device',
      { connectivity: 'MQTT', authType: 'DEVICE_CREDENTIALS', sparkplug: {} },
      /uplink secret/,
    ],
    [
      'one device for all',
      { connectivity: 'MQTT', sparkplug: { device: '{edge}' } },
      /must contain \{device\}/,
    ],
    [
      'an unknown name',
      { connectivity: 'MQTT', sparkplug: { node: '{edge}{x}' } },
      /unknown placeholder \{x\}/,
    ],
    ['no topic', { connectivity: 'MQTT', sparkplug: { topic: '-' } }, /- is not a valid topic/],
  ])('a mapping for %s', async (_, connector, reason) => {
    const answer = await world.call('POST', '/v3/device-connectors', {
      name: 'refused',
      workspaceId: world.workspaceId,
      ...connector,
    });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(reason)]);
  });
});
