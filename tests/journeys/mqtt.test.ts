// MQTT devices with a real client: publishes are samples before their acknowledgement; messages reach their device (contract 17, 18).
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  downTopic,
  inbox,
  type MqttDevice,
  type MqttWorld,
  startMqttWorld,
  upTopic,
} from '../world/mqtt-world.ts';

let world: MqttWorld;
beforeAll(async () => {
  world = await startMqttWorld();
});
afterAll(() => world.close());

const doubling = `function consume(event) { emit('sample', { data: { twice: event.data.value * 2 }, topic: event.topic }); }`;

for (const qos of [0, 1, 2] as const) {
  test(`contract 18: QoS ${qos} is decoded and stored, its sub-topic is the topic`, async () => {
    const device = await world.mqttDevice({ script: doubling });
    const client = await world.client(device);
    for (const sub of ['', '/climate', '/floor/2/room'])
      await client.publishAsync(upTopic(device, sub), JSON.stringify({ value: 21 }), { qos });
    // QoS 0 has no answer; the acknowledgement of what comes after it says that it was taken.
    if (qos === 0) await client.publishAsync(upTopic(device, '/last'), '{"value":1}', { qos: 1 });
    const found = await world.samples(device);
    const expected = ['default', 'climate', 'floor.2.room'].map((topic) => ({
      topic,
      data: { twice: 42 },
    }));
    for (const sample of expected) expect(found).toContainEqual(expect.objectContaining(sample));
    expect(found.length).toBe(qos === 0 ? 4 : 3);
  });
}

test('contract 18: an acknowledged publish can be read immediately', async () => {
  const device = await world.mqttDevice();
  const client = await world.client(device);
  for (let i = 0; i < 20; i++) {
    await client.publishAsync(upTopic(device), JSON.stringify({ i }), { qos: 1 });
    expect((await world.samples(device)).at(-1)?.data).toEqual({ i });
  }
});

test('many publishes in flight are stored in order, each once', async () => {
  const device = await world.mqttDevice({ script: doubling });
  const client = await world.client(device);
  await Promise.all(
    Array.from({ length: 1_000 }, (_, value) =>
      client.publishAsync(upTopic(device), JSON.stringify({ value }), { qos: 1 }),
    ),
  );
  const values = (await world.samples(device)).map(({ data }) => data['twice']);
  // A run that a busy machine interrupts is noted, and its sample is missing; nothing else may be.
  const { totalElements } = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
  expect(values).toHaveLength(1_000 - totalElements);
  expect(values).toEqual([...new Set(values)].toSorted((a, b) => Number(a) - Number(b)));
});

test('the slash in front may be missing, in both directions', async () => {
  const device = await world.mqttDevice();
  const client = await world.client(device);
  await client.publishAsync(upTopic(device, '/a1').slice(1), '{"value":1}', { qos: 1 });
  expect((await world.samples(device)).at(-1)).toMatchObject({ topic: 'a1', data: { value: 1 } });
  const box = inbox(client);
  await client.subscribeAsync(downTopic(device).slice(1));
  await pushed(device, { speed: 1 });
  expect(await box.next()).toMatchObject({
    topic: downTopic(device, '/configuration').slice(1),
    text: '{"speed":1}',
  });
});

test('contract 12: a configuration is sent to the device; 409 without a connection', async () => {
  const device = await world.mqttDevice();
  await world.must('POST', `/v3/devices/${device.id}/configuration`, {
    configuration: { interval: 5 },
  });
  const push = () => world.call('POST', `/v3/devices/${device.id}/configuration/push`, {});
  expect(await push()).toMatchObject({
    status: 409,
    body: { errorCode: '40905_CONFIGURATION_NOT_PUSHABLE' },
  });
  const client = await world.client(device);
  const box = inbox(client);
  await client.subscribeAsync(downTopic(device), { qos: 1 });
  expect(box.messages).toEqual([]);
  expect(await push()).toMatchObject({
    status: 200,
    body: { message: 'Configuration successfully sent' },
  });
  expect(await box.next()).toEqual({
    topic: downTopic(device, '/configuration'),
    text: '{"interval":5}',
    retain: false,
    qos: 1,
  });
  await client.endAsync();
  expect((await push()).status).toBe(409);
});

test('contract 8: where the connector says so, the newest configuration comes with the connection, once', async () => {
  const device = await world.mqttDevice({ connector: { pushConfigurationAutomatically: true } });
  for (const interval of [5, 10])
    await world.must('POST', `/v3/devices/${device.id}/configuration`, {
      configuration: { interval },
    });
  const client = await world.client(device);
  const box = inbox(client);
  await client.subscribeAsync(downTopic(device, '/other'), { qos: 1 });
  await client.subscribeAsync(downTopic(device), { qos: 1 });
  await client.subscribeAsync(downTopic(device, '/+'), { qos: 1 });
  expect((await box.next()).text).toBe('{"interval":10}');
  await client.publishAsync(upTopic(device), '{}', { qos: 1 });
  expect(box.messages).toEqual([]);
});

async function pushed(device: MqttDevice, configuration: object): Promise<void> {
  await world.must('POST', `/v3/devices/${device.id}/configuration`, { configuration });
  await world.must('POST', `/v3/devices/${device.id}/configuration/push`, {});
}
