// MQTT on two nodes: clients of either node use the devices of both.
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import {
  closed,
  createMqttDevice,
  downTopic,
  inbox,
  type MqttDevice,
  upTopic,
} from '../world/mqtt-world.ts';
import type { World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
let devices: MqttDevice[] = [];
const clients: MqttClient[] = [];
const count = `function consume(event) {
  const state = { n: (event.state?.n ?? 0) + 1 };
  emit('state', state);
  emit('sample', { data: { n: state.n, sent: event.data.sent ?? null } });
}`;
const both = [0, 1] as const;

beforeAll(async () => {
  cluster = await startCluster();
  world = cluster.world;
  const first = await createMqttDevice(world, 1, { script: count });
  devices = [first];
  for (let n = 2; n <= 6; n++)
    devices.push(await createMqttDevice(world, n, { beside: first, script: count }));
}, 240_000);
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
});
afterAll(() => cluster.close());

async function connect(node: number, options: IClientOptions = {}): Promise<MqttClient> {
  const url = `mqtt://127.0.0.1:${cluster.mqttPorts[node]}`;
  const client = await mqtt.connectAsync(url, { ...login(), ...options }, false);
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

function login() {
  const [{ connectorId, secret } = { connectorId: '', secret: '' }] = devices;
  return { username: connectorId, password: secret, reconnectPeriod: 0 };
}

const newest = async ({ id }: MqttDevice, limit: number) => {
  const samples = await world.must('POST', `/v3/devices/${id}/query`, { limit });
  return samples.map(({ data }: { data: { sent: number | null } }) => data.sent);
};

test.each(both)('publishes through node %i are stored in their order', async (node) => {
  const client = await connect(node);
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < 30; n++)
    for (const device of devices)
      sent.push(client.publishAsync(upTopic(device), JSON.stringify({ sent: n }), { qos: 1 }));
  await Promise.all(sent);
  const expected = Array.from({ length: 30 }, (_, n) => 29 - n);
  for (const device of devices) expect(await newest(device, 30)).toEqual(expected);
});

test.each(both)('an invalid payload gets its note through node %i', async (node) => {
  const client = await connect(node);
  for (const device of devices) {
    await client.publishAsync(upTopic(device), `{no JSON ${node}`, { qos: 1 });
    await expect
      .poll(async () => {
        const { content } = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
        return JSON.stringify(content);
      })
      .toContain(Buffer.from(`{no JSON ${node}`).toString('hex'));
  }
});

describe.each([4, 5] as const)('protocol %i', (protocolVersion) => {
  test('subscribers of both nodes get what a client of either publishes', async () => {
    const subscribers = await Promise.all(both.map((node) => connect(node, { protocolVersion })));
    const boxes = subscribers.map(inbox);
    const publishers = await Promise.all(both.map((node) => connect(node, { protocolVersion })));
    for (const device of devices.slice(0, 4)) {
      for (const subscriber of subscribers)
        await subscriber.subscribeAsync(upTopic(device, '/#'), { qos: 1 });
      for (const [node, publisher] of publishers.entries()) {
        const text = JSON.stringify({ from: node });
        await publisher.publishAsync(upTopic(device, '/x/y'), text, { qos: 1 });
        for (const box of boxes)
          expect(await box.next()).toMatchObject({ topic: upTopic(device, '/x/y'), text });
      }
    }
    expect(boxes.map(({ messages }) => messages)).toEqual([[], []]);
  });

  test('a retained message reaches later subscribers of both nodes, until it is taken back', async () => {
    const [publisher, other] = await Promise.all(both.map((node) => connect(node)));
    for (const device of devices.slice(0, 4)) {
      const topic = upTopic(device, `/kept-${protocolVersion}`);
      await publisher?.publishAsync(topic, '{"kept":true}', { qos: 1, retain: true });
      for (const node of both) {
        const subscriber = await connect(node, { protocolVersion });
        const box = inbox(subscriber);
        await subscriber.subscribeAsync(topic, { qos: 1 });
        expect(await box.next()).toMatchObject({ topic, text: '{"kept":true}', retain: true });
      }
      await other?.publishAsync(topic, '', { qos: 1, retain: true });
      const late = await connect(0, { protocolVersion });
      const box = inbox(late);
      await late.subscribeAsync(topic, { qos: 1 });
      await publisher?.publishAsync(topic, '{"next":true}', { qos: 1 });
      expect(await box.next()).toMatchObject({ text: '{"next":true}', retain: false });
    }
  });

  test('a client that connects to the other node takes its session over', async () => {
    for (let n = 0; n < 4; n++) {
      const clientId = `moving-${protocolVersion}-${n}`;
      const options = {
        protocolVersion,
        clientId,
        clean: false,
        ...(protocolVersion === 5 && { properties: { sessionExpiryInterval: 600 } }),
      };
      const [device = devices[0]] = devices.slice(n);
      if (device === undefined) throw new Error('a device');
      const before = await connect(0, options);
      const reasons: (number | undefined)[] = [];
      before.on('disconnect', ({ reasonCode }) => void reasons.push(reasonCode));
      await before.subscribeAsync(downTopic(device), { qos: 1 });
      const after = await connect(1, options);
      await closed(before);
      if (protocolVersion === 5) expect(reasons).toEqual([0x8e]);
      const box = inbox(after);
      await world.must('POST', `/v3/devices/${device.id}/downlink`, {
        mqttDownlink: { topic: 'cmd', payload: { n } },
      });
      expect(await box.next()).toMatchObject({ text: JSON.stringify({ n }) });
      await after.endAsync();
      // The session outlives the connection, and the first node finds it too.
      const url = `mqtt://127.0.0.1:${cluster.mqttPorts[0]}`;
      const again = mqtt.connect(url, { ...login(), ...options });
      clients.push(again);
      const present = await new Promise((resolve) => {
        again.once('connect', ({ sessionPresent }) => resolve(sessionPresent));
      });
      expect(present).toBe(true);
      await again.endAsync();
    }
  });
});

test('a downlink reaches the device through the node of its connection', async () => {
  for (const node of both)
    for (const device of devices.slice(0, 4)) {
      const client = await connect(node);
      const box = inbox(client);
      await client.subscribeAsync(downTopic(device), { qos: 1 });
      const payload = { node, device: device.deviceId };
      await world.must('POST', `/v3/devices/${device.id}/downlink`, {
        mqttDownlink: { topic: 'cmd', payload },
      });
      expect(await box.next()).toMatchObject({ text: JSON.stringify(payload) });
      await expect.poll(() => newestDownlink(device)).toBe('ACKNOWLEDGED');
      await client.endAsync();
    }
});

test('a downlink waits until its device connects to any node', async () => {
  for (const node of both)
    for (const device of devices.slice(0, 4)) {
      const payload = { waited: node };
      await world.must('POST', `/v3/devices/${device.id}/downlink`, {
        mqttDownlink: { topic: 'late', payload },
      });
      expect(await newestDownlink(device)).toBe('QUEUED');
      const client = await connect(node);
      const box = inbox(client);
      await client.subscribeAsync(downTopic(device), { qos: 1 });
      expect(await box.next()).toMatchObject({ text: JSON.stringify(payload) });
      await expect.poll(() => newestDownlink(device)).toBe('ACKNOWLEDGED');
      await client.endAsync();
    }
});

test('a configuration is pushed through the node of the connection', async () => {
  for (const node of both)
    for (const device of devices.slice(0, 4)) {
      const client = await connect(node);
      const box = inbox(client);
      await client.subscribeAsync(downTopic(device), { qos: 1 });
      const configuration = { interval: node };
      const path = `/v3/devices/${device.id}/configuration`;
      await world.must('POST', path, { configuration });
      await world.must('POST', `${path}/push`, {});
      expect(await box.next()).toMatchObject({
        topic: downTopic(device, '/configuration'),
        text: JSON.stringify(configuration),
      });
      await client.endAsync();
    }
});

test('the last will is stored once, whichever node the client was connected to', async () => {
  for (const node of both) {
    const [device] = devices.slice(node);
    if (device === undefined) throw new Error('a device');
    const payload = Buffer.from(JSON.stringify({ sent: `will ${node}` }));
    const client = await connect(node, {
      will: { topic: upTopic(device), payload, qos: 1, retain: false },
    });
    client.stream.destroy();
    await expect.poll(async () => (await newest(device, 1))[0]).toBe(`will ${node}`);
    expect(
      (await newest(device, 5)).filter((sent: unknown) => sent === `will ${node}`),
    ).toHaveLength(1);
  }
});

async function newestDownlink({ id }: MqttDevice): Promise<string> {
  const { content } = await world.must('GET', `/v3/devices/${id}/downlinks?size=1`);
  return content[0].state;
}

test('after a node has stopped, its devices take and get messages through the other one', async () => {
  const [, second] = cluster.nodes;
  await second?.platform.close('test');
  // The workspace may have been at the other node, whose connections ended.
  const subscriber = await connect(0);
  const box = inbox(subscriber);
  for (const device of devices) await subscriber.subscribeAsync(downTopic(device), { qos: 1 });
  const publisher = await connect(0);
  const sent = devices.map((device) =>
    publisher.publishAsync(upTopic(device), '{"sent":"after"}', { qos: 1 }),
  );
  await Promise.all(sent);
  for (const device of devices) expect((await newestHere(device))[0]?.data.sent).toBe('after');
  for (const device of devices) {
    const path = `/v3/devices/${device.id}/downlink`;
    const payload = { after: device.deviceId };
    await here('POST', path, { mqttDownlink: { topic: 'cmd', payload } });
    expect(await box.next()).toMatchObject({ text: JSON.stringify(payload) });
  }
}, 240_000);

const newestHere = ({ id }: MqttDevice) => here('POST', `/v3/devices/${id}/query`, { limit: 1 });

/** A request to the first node. */
async function here(method: string, path: string, body: unknown) {
  const [first] = cluster.nodes;
  const answer = await fetch(`http://127.0.0.1:${first?.platform.port}${path}`, {
    method,
    body: JSON.stringify(body),
    headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
