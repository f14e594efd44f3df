// MQTT rejections: foreign topics, wrong secrets, wildcards, payloads that are not JSON, large packets (contract 18, 35).
import type { MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mqttLimits } from '../../src/transports/mqtt/mqtt-limits.ts';
import {
  closed,
  downTopic,
  inbox,
  type MqttDevice,
  type MqttWorld,
  refusalCode,
  startMqttWorld,
  upTopic,
} from '../world/mqtt-world.ts';

let world: MqttWorld;
let device: MqttDevice;
let beside: MqttDevice;
let stranger: MqttDevice;
beforeAll(async () => {
  world = await startMqttWorld();
  device = await world.mqttDevice();
  beside = await world.mqttDevice({ beside: device });
  stranger = await world.mqttDevice();
});
afterAll(() => world.close());

const notAuthorized = 5;

for (const [what, options] of [
  ['a wrong secret', () => ({ username: device.connectorId, password: 'wrong' })],
  [
    'the secret of another connector',
    () => ({ username: device.connectorId, password: stranger.secret }),
  ],
  ['an unknown connector', () => ({ username: '07ffffffffffffff', password: device.secret })],
  ['no password', () => ({ username: device.connectorId })],
  ['nothing', () => ({})],
  [
    'what is no token but looks like one',
    () => ({ username: 'x', password: 'eyJh.eyJz.c2ln', clientId: device.deviceId }),
  ],
  [
    'a will on a foreign topic',
    () => ({
      username: device.connectorId,
      password: device.secret,
      will: { topic: upTopic(stranger), payload: Buffer.from('{"gone":true}'), qos: 1 as const },
    }),
  ],
] as const) {
  test(`contract 18: a login with ${what} is refused`, async () => {
    expect(await refusalCode(world.clientWith(options()))).toBe(notAuthorized);
    expect(await world.samples(stranger)).toEqual([]);
  });
}

test('review security 23: the id and secret of a connector for HTTP are not a login', async () => {
  const { connectorId: username, secret: password } = await world.device();
  expect(await refusalCode(world.clientWith({ username, password }))).toBe(notAuthorized);
});

for (const qos of [0, 1, 2] as const) {
  test(`contract 35: a QoS ${qos} publish with the secret of another connector closes the connection, nothing is stored`, async () => {
    const client = await world.client(device);
    client.publish(upTopic(stranger), '{"value":1}', { qos }, () => undefined);
    await closed(client);
    for (const one of [device, beside, stranger]) expect(await world.samples(one)).toEqual([]);
  });
}

const large = 'x'.repeat(mqttLimits.packetBytesMax + 1_000);
const lastingFailures: readonly [
  what: string,
  topic: (sender: MqttDevice) => string,
  refusal: (sender: MqttDevice) => object,
  code: number,
  payload?: string,
][] = [
  [
    'the device of another connector, with the own secret',
    ({ secret }) => upTopic({ ...stranger, secret }),
    () => ({ reason: 'OTHER_CONNECTOR', status: 403, deviceId: stranger.deviceId }),
    135,
  ],
  [
    'a device that does not exist',
    (sender) => upTopic({ ...sender, deviceId: 'nobody' }),
    () => ({ reason: 'UNKNOWN_DEVICE', status: 404, deviceId: 'nobody', payload: '{"value":1}' }),
    135,
  ],
  ...(
    [
      ['the form of tokens', ({ deviceId }) => `/up/device/id/${deviceId}`],
      ['a topic for messages to the device', (sender) => downTopic(sender, '/command')],
      ['any other topic', () => 'home/kitchen'],
      ['no device', ({ secret }) => `/up/${secret}/id/`],
      ['$SYS', () => '$SYS/broker/version'],
      ['an upper-case word', (sender) => upTopic(sender).replace('/up/', '/UP/')],
      ['two slashes in front', (sender) => `/${upTopic(sender)}`],
      ['two slashes in it', ({ secret, deviceId }) => `/up/${secret}//id/${deviceId}`],
      ['too many levels', (sender) => upTopic(sender, '/x'.repeat(40))],
      ['a topic of Sparkplug', () => 'spBv1.0/g/NDATA/e'],
    ] as const satisfies readonly [string, (sender: MqttDevice) => string][]
  ).map(
    ([what, topic]) =>
      [what, topic, () => ({ reason: 'INVALID_BODY', status: 400 }), 144] as [
        string,
        (sender: MqttDevice) => string,
        () => object,
        number,
      ],
  ),
  [
    'a payload that is too large',
    upTopic,
    ({ deviceId }) => ({ reason: 'TOO_LARGE', status: 413, deviceId, payload: null }),
    128,
    large,
  ],
];

// Refusals are saved once a second, so tests that wait for them wait together. Each has its own `expect`:
// the common one does not know which of them asks.
describe.concurrent.each(lastingFailures)(
  'behaviour 8: %s',
  (_what, topic, refusal, code, payload) => {
    const text = payload ?? '{"value":1}';

    test.for([0, 1, 2] as const)(
      'MQTT 3.1.1, QoS %i: is acknowledged and dropped, and the connection stays',
      async (qos, { expect }) => {
        const sender = await world.mqttDevice();
        const client = await world.client(sender);
        await client.publishAsync(topic(sender), text, { qos });
        await client.publishAsync(upTopic(sender), '{"value":2}', { qos: 1 });
        expect(client.connected).toBe(true);
        expect(await world.samples(sender)).toMatchObject([{ data: { value: 2 } }]);
        expect(await world.samples(stranger)).toEqual([]);
        await expect
          .poll(() => refusalsOf(sender.connectorId), { timeout: 60_000 })
          .toMatchObject([{ transport: 'MQTT', count: 1, ...refusal(sender) }]);
        // A topic has a secret in it, which a message must not show.
        const shown = JSON.stringify(await refusalsOf(sender.connectorId));
        expect(shown).not.toContain(sender.secret);
      },
    );

    test.for([1, 2] as const)(
      'MQTT 5, QoS %i: is refused with its reason',
      async (qos, { expect }) => {
        const sender = await world.mqttDevice();
        const client = await world.client(sender, { protocolVersion: 5 });
        // The client of these tests keeps to what the platform takes unless it does not know it.
        (client as unknown as { topicAliasSend?: unknown }).topicAliasSend = undefined;
        const refused = await client.publishAsync(topic(sender), text, { qos }).then(
          () => undefined,
          (error: { code?: number }) => error.code,
        );
        expect(refused).toBe(code);
        await client.publishAsync(upTopic(sender), '{"value":2}', { qos: 1 });
        expect(client.connected).toBe(true);
      },
    );
  },
);

test('behaviour 8: forty publishes behind one for an unknown device are all acknowledged', async () => {
  const sender = await world.mqttDevice();
  const client = await world.client(sender);
  const unknown = client.publishAsync(upTopic({ ...sender, deviceId: 'gone' }), '{}', { qos: 1 });
  const others = Array.from({ length: 40 }, (_, i) =>
    client.publishAsync(upTopic(sender), JSON.stringify({ i }), { qos: 1 }),
  );
  await Promise.all([unknown, ...others]);
  expect(await world.samples(sender)).toHaveLength(40);
});

test('behaviour 8: a will for an unknown device does not keep its client away', async () => {
  const sender = await world.mqttDevice();
  const topic = upTopic({ ...sender, deviceId: 'gone' });
  const client = await world.client(sender, {
    will: { topic, payload: Buffer.from('{}'), qos: 1 },
  });
  await client.publishAsync(upTopic(sender), '{"value":1}', { qos: 1 });
  await expect
    .poll(() => refusalsOf(sender.connectorId), { timeout: 60_000 })
    .toMatchObject([{ reason: 'UNKNOWN_DEVICE', deviceId: 'gone' }]);
});

test('console H6: a wrong password stands at the connector of its user name', async () => {
  const sender = await world.mqttDevice();
  const login = { username: sender.connectorId, password: 'wrong' };
  expect(await refusalCode(world.clientWith(login))).toBe(notAuthorized);
  await expect
    .poll(() => refusalsOf(sender.connectorId), { timeout: 60_000 })
    .toMatchObject([{ reason: 'WRONG_SECRET', status: 401, transport: 'MQTT', payload: null }]);
});

async function refusalsOf(connectorId: string): Promise<object[]> {
  return (await world.must('GET', `/v3/device-connectors/${connectorId}/refusals`)).content;
}

const refusedFilters: readonly [string, () => string][] = [
  ['everything', () => '#'],
  ['everything below a level', () => '/#'],
  ['everything of messages', () => '/down/#'],
  ['every device of every connector', () => '/down/+/id/+/#'],
  ['every device of the own connector', () => `/down/${device.secret}/id/+/#`],
  ['every device of the own connector, by #', () => `/down/${device.secret}/#`],
  ['the wildcard in the direction', () => `/+/${device.secret}/id/${device.deviceId}/#`],
  ['the wildcard for id', () => `/down/${device.secret}/+/${device.deviceId}/#`],
  ['a foreign device', () => downTopic(stranger)],
  ['a foreign device with the own secret', () => downTopic({ ...stranger, secret: device.secret })],
  ['a device that does not exist', () => downTopic({ ...device, deviceId: 'nobody' })],
  ['the form of tokens', () => `/down/device/id/${device.deviceId}/#`],
  ['a shared subscription', () => `$share/group${downTopic(device)}`],
  ['the system', () => '$SYS/#'],
  ['another topic', () => 'home/kitchen'],
];

test('contract 35: a subscription to what is not the client’s is answered 128, the others of the same packet are granted', async () => {
  const client = await world.client(device);
  for (const [what, filter] of refusedFilters) {
    const granted = await grants(client, [filter(), downTopic(device)]);
    expect([what, ...granted]).toEqual([what, 128, 1]);
  }
  expect(client.connected).toBe(true);
});

test('a client never receives messages of other devices, for any subscription', async () => {
  const [one, other] = [await world.client(device), await world.client(beside)];
  const [ofOne, ofOther] = [inbox(one), inbox(other)];
  await grants(one, [
    ...refusedFilters.map(([, filter]) => filter()),
    downTopic(device),
    upTopic(device, '/#'),
  ]);
  await grants(other, [downTopic(beside)]);
  await world.must('POST', `/v3/devices/${beside.id}/configuration`, {
    configuration: { secret: 1 },
  });
  await world.must('POST', `/v3/devices/${beside.id}/configuration/push`, {});
  expect((await ofOther.next()).text).toBe('{"secret":1}');
  await other.publishAsync(upTopic(beside), '{"mine":1}', { qos: 1 });
  await world.must('POST', `/v3/devices/${device.id}/configuration`, {
    configuration: { speed: 2 },
  });
  await world.must('POST', `/v3/devices/${device.id}/configuration/push`, {});
  expect((await ofOne.next()).text).toBe('{"speed":2}');
  expect(ofOne.messages).toEqual([]);
});

test(`a client has at most ${mqttLimits.subscriptionsPerClientMax} subscriptions`, async () => {
  const client = await world.client(device);
  const filters = Array.from({ length: mqttLimits.subscriptionsPerClientMax + 5 }, (_, i) =>
    downTopic(device, `/t${i}`),
  );
  const granted: number[] = [];
  for (const filter of filters) granted.push(...(await grants(client, [filter])));
  expect(granted.filter((qos) => qos === 128)).toHaveLength(5);
  expect(granted.slice(-5)).toEqual([128, 128, 128, 128, 128]);
});

for (const [what, payload] of [
  ['null', 'null'],
  ['nothing', ''],
  ['broken JSON', '{"value":'],
  ['JSON that is too deep', '['.repeat(200) + ']'.repeat(200)],
] as const) {
  test(`contract 18: a payload that is ${what} is noted in the processing log and not stored; the connection stays`, async () => {
    const sender = await world.mqttDevice();
    const client = await world.client(sender);
    await client.publishAsync(upTopic(sender), payload, { qos: 1 });
    expect(await world.samples(sender)).toEqual([]);
    const { content } = await world.must('GET', `/v3/devices/${sender.id}/processing-logs`);
    expect(content).toMatchObject([
      { level: 'ERROR', source: 'UPLINK', message: expect.stringContaining('was not decoded') },
    ]);
    await client.publishAsync(upTopic(sender), '[1,2]', { qos: 1 });
    expect(await world.samples(sender)).toMatchObject([
      { topic: 'default', data: { values: [1, 2] } },
    ]);
  });
}

test('contract 39.3: a refused publish becomes the first uplink of its device, with its topic', async () => {
  const sender = await world.mqttDevice();
  const client = await world.client(sender);
  const topic = upTopic({ ...sender, deviceId: 'new door' });
  await client.publishAsync(`${topic}/doors`, '{"open":true}', { qos: 1 });
  const path = `/v3/device-connectors/${sender.connectorId}/refusals`;
  const listed = async () => (await world.must('GET', path)).content;
  await expect.poll(async () => (await listed()).length, { timeout: 60_000 }).toBe(1);
  const [{ id }] = await listed();
  const { dataFlowId } = sender;
  const device = await world.must('POST', `${path}/${id}/register`, { dataFlowId });
  const samples = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
  expect(samples).toMatchObject([{ topic: 'doors', data: { open: true } }]);
});

test('a packet of just under 1 MiB is taken', async () => {
  const sender = await world.mqttDevice();
  const client = await world.client(sender);
  const text = JSON.stringify({ text: 'x'.repeat(1024 * 1024 - 200) });
  await client.publishAsync(upTopic(sender), text, { qos: 1 });
  expect(await world.samples(sender)).toHaveLength(1);
});

test('failed logins from one address are slowed down, as token requests are; the right secret waits too', async () => {
  const at = Date.now();
  const own = await startMqttWorld({ now: () => at });
  try {
    const known = await own.mqttDevice();
    const wrong = () =>
      refusalCode(own.clientWith({ username: known.connectorId, password: 'wrong' }));
    const codes = new Set<number | string>();
    for (let i = 0; i < 12; i++)
      for (const code of await Promise.all(Array.from({ length: 30 }, wrong))) codes.add(code);
    const serverUnavailable = 3;
    expect(codes).toEqual(new Set([notAuthorized, serverUnavailable]));
    expect(await refusalCode(own.client(known))).toBe(serverUnavailable);
  } finally {
    await own.close();
  }
});

async function grants(client: MqttClient, filters: readonly string[]): Promise<number[]> {
  return new Promise((resolve) => {
    client.once('packetreceive', function answered(packet) {
      if (packet.cmd === 'suback') resolve(packet.granted as number[]);
      else client.once('packetreceive', answered);
    });
    client.subscribe([...filters], { qos: 1 }, () => undefined);
  });
}
