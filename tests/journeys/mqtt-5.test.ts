// MQTT 5 on a real broker, with clients of MQTT 3.1.1 at the same time: reasons, properties, sessions, limits.
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';

let world: MqttWorld;
let device: MqttDevice;
let now = Date.UTC(2026, 0, 5);
beforeAll(async () => {
  world = await startMqttWorld({ now: () => now });
  device = await world.mqttDevice();
});
afterAll(() => world.close());

const five = (options: IClientOptions = {}) =>
  world.client(device, { protocolVersion: 5, ...options });
const four = (options: IClientOptions = {}) => world.client(device, options);
const up = (sub = '') => `/up/${device.secret}/id/${device.deviceId}${sub}`;
const down = (sub = '') => `/down/${device.secret}/id/${device.deviceId}${sub}`;
const foreign = `/up/${'0'.repeat(32)}/id/other`;

/** What a client is given with its next event. */
function heard<T extends readonly unknown[]>(
  client: MqttClient,
  event: 'connect' | 'message' | 'disconnect' | 'close',
): Promise<T> {
  return new Promise((resolve) => {
    const listener = (...given: unknown[]) => resolve(given as unknown as T);
    client.once(event as 'message', listener);
  });
}

async function next(client: MqttClient): Promise<IPublishPacket> {
  const [, , packet] = await heard<[string, Buffer, IPublishPacket]>(client, 'message');
  return packet;
}

/** The reason code of the error; `done` without one. */
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: number }) => error.code,
  );

describe('a connection', () => {
  test('says what the platform offers, and names a client without an id', async () => {
    const login = { username: device.connectorId, password: device.secret };
    const client = mqtt.connect(`mqtt://127.0.0.1:${world.mqttPort}`, {
      ...login,
      protocolVersion: 5,
      clientId: '',
      clean: true,
      reconnectPeriod: 0,
    });
    const [connack] = await heard<[{ properties: object }]>(client, 'connect');
    await client.endAsync();
    expect(connack.properties).toMatchObject({
      receiveMaximum: 100,
      maximumPacketSize: 1_048_576,
      sharedSubscriptionAvailable: false,
      subscriptionIdentifiersAvailable: false,
      assignedClientIdentifier: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('with a wrong password gets reason 135, with other authentication 140', async () => {
    const wrong = { username: device.connectorId, password: 'wrong', protocolVersion: 5 } as const;
    expect(await codeOf(world.clientWith(wrong))).toBe(135);
    const properties = { authenticationMethod: 'SCRAM-SHA-256' };
    expect(await codeOf(five({ properties }))).toBe(140);
  });

  test('that is taken over gets the reason', async () => {
    const first = await five({ clientId: 'twin' });
    const ended = heard<[{ reasonCode: number }]>(first, 'disconnect');
    await five({ clientId: 'twin' });
    expect((await ended)[0].reasonCode).toBe(142);
  });
});

describe('a publish', () => {
  test('is stored before its PUBACK; one on a foreign topic is refused and the connection stays', async () => {
    const own = await world.mqttDevice({ beside: device });
    const client = await five();
    const topic = `/up/${device.secret}/id/${own.deviceId}`;
    await client.publishAsync(topic, '{"n":1}', { qos: 1 });
    expect(await codeOf(client.publishAsync(foreign, '{"n":2}', { qos: 1 }))).toBe(135);
    expect(await codeOf(client.publishAsync(foreign, '{"n":2}', { qos: 2 }))).toBe(135);
    await client.publishAsync(foreign, '{"n":2}', { qos: 0 });
    await client.publishAsync(topic, '{"n":3}', { qos: 2 });
    expect((await world.samples(own)).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 3 }]);
    const older = await four();
    const closed = heard(older, 'close');
    older.publish(foreign, '{"n":4}', { qos: 1 });
    await closed;
  });

  test('carries its properties to subscribers of MQTT 5, and its payload to others', async () => {
    const [newer, older, sender] = await Promise.all([five(), four(), five()]);
    await newer.subscribeAsync(up('/props'), { qos: 1 });
    await older.subscribeAsync(up('/props'), { qos: 1 });
    const properties = {
      contentType: 'application/json',
      messageExpiryInterval: 60,
      payloadFormatIndicator: true,
      responseTopic: down('/answer'),
      correlationData: Buffer.from([1, 2]),
      userProperties: { site: ['roof', 'north'] },
    };
    const messages = Promise.all([next(newer), next(older)]);
    await sender.publishAsync(up('/props'), '{"n":1}', { qos: 1, properties });
    const [five5, four4] = await messages;
    expect(five5.properties).toEqual(properties);
    expect([String(five5.payload), String(four4.payload)]).toEqual(['{"n":1}', '{"n":1}']);
    expect(four4.properties).toBeUndefined();
  });

  test('that is retained is valid until it expires', async () => {
    const sender = await five();
    const retained = { qos: 1, retain: true, properties: { messageExpiryInterval: 60 } } as const;
    await sender.publishAsync(up('/state'), '{"n":1}', retained);
    await sender.publishAsync(up('/fixed'), '{"n":2}', { qos: 1, retain: true });
    now += 20_000;
    const early = await five();
    const message = next(early);
    await early.subscribeAsync(up('/state'));
    expect((await message).properties).toEqual({ messageExpiryInterval: 40 });
    now += 41_000;
    const late = await five();
    const first = next(late);
    await late.subscribeAsync([up('/state'), up('/fixed')]);
    expect(String((await first).payload)).toBe('{"n":2}');
  });
});

describe('a subscription', () => {
  test('that is foreign or shared is refused with its reason', async () => {
    const client = await five();
    await expect(client.subscribeAsync(foreign)).rejects.toThrow('Not authorized');
    const shared = client.subscribeAsync(`$share/group/${up()}`);
    await expect(shared).rejects.toThrow('Shared Subscriptions not supported');
    await client.subscribeAsync(up('/here'));
    expect(client.connected).toBe(true);
  });

  test('may skip own messages, keep the retain flag, and take no retained ones', async () => {
    const [own, other] = await Promise.all([five(), five()]);
    await other.publishAsync(up('/kept'), '{"n":0}', { qos: 1, retain: true });
    await own.subscribeAsync(up('/kept'), { qos: 1, nl: true, rap: true, rh: 2 });
    const first = next(own);
    await own.publishAsync(up('/kept'), '{"n":1}', { qos: 1 });
    await other.publishAsync(up('/kept'), '{"n":2}', { qos: 1, retain: true });
    const message = await first;
    expect([String(message.payload), message.retain]).toEqual(['{"n":2}', true]);
  });

  test('gets no message that is larger than its client takes', async () => {
    const small = await five({ properties: { maximumPacketSize: 200 } });
    await small.subscribeAsync(up('/size'), { qos: 1 });
    const first = next(small);
    const sender = await four();
    await sender.publishAsync(up('/size'), JSON.stringify({ s: 'x'.repeat(300) }), { qos: 1 });
    await sender.publishAsync(up('/size'), '{"s":"y"}', { qos: 1 });
    expect(String((await first).payload)).toBe('{"s":"y"}');
  });
});

describe('a session', () => {
  const session = (expiry: number | undefined, clean: boolean) =>
    five({
      clientId: 'kept',
      clean,
      ...(expiry !== undefined && { properties: { sessionExpiryInterval: expiry } }),
    });
  /** Whether a client finds its session. */
  const found = async (expiry: number | undefined) => {
    const client = await session(expiry, false);
    const sent = heard(client, 'message').then(() => 'message');
    const probe = await four();
    const echo = next(probe);
    await probe.subscribeAsync(up('/session'), { qos: 1 });
    await probe.publishAsync(up('/session'), '{"n":1}', { qos: 1 });
    await echo;
    const outcome = await Promise.race([sent, client.publishAsync(up('/x'), '{}', { qos: 1 })]);
    await client.endAsync();
    return outcome === 'message';
  };

  test('lasts as long as the client wants, and ends with the connection without that', async () => {
    const client = await session(60, true);
    await client.subscribeAsync(up('/session'), { qos: 1 });
    await client.endAsync();
    now += 30_000;
    expect(await found(60)).toBe(true);
    now += 61_000;
    expect(await found(60)).toBe(false);
    const short = await session(undefined, true);
    await short.subscribeAsync(up('/session'), { qos: 1 });
    await short.endAsync();
    expect(await found(0)).toBe(false);
  });
});

test('a DISCONNECT with a will publishes it', async () => {
  const own = await world.mqttDevice({ beside: device });
  const topic = `/up/${device.secret}/id/${own.deviceId}`;
  const will = { topic, payload: Buffer.from('{"gone":true}'), qos: 1, retain: false } as const;
  const listener = await four();
  await listener.subscribeAsync(up('/after'));
  const client = await five({ will });
  await client.endAsync(false, { reasonCode: 4 });
  const silent = await five({ will: { ...will, payload: Buffer.from('{"gone":false}') } });
  await silent.endAsync();
  await expect
    .poll(async () => (await world.samples(own)).map(({ data }) => data))
    .toEqual([{ gone: true }]);
});
