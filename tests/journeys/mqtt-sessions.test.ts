// MQTT sessions: wills, retained messages, repetitions, takeovers, expiry (contract 18).
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPacket, publishPacket } from '../../bench/load/mqtt-packets.ts';
import {
  closed,
  deviceKey,
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

async function pushed({ id }: MqttDevice, configuration: object): Promise<void> {
  await world.must('POST', `/v3/devices/${id}/configuration`, { configuration });
  await world.must('POST', `/v3/devices/${id}/configuration/push`, {});
}

/** Waits for something that the platform does by itself. */
async function eventually<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask();
    if (isSo(found)) return found;
  }
}

test('a will is stored as an uplink when the connection breaks, and not after a DISCONNECT', async () => {
  const device = await world.mqttDevice();
  const will = {
    topic: upTopic(device, '/state'),
    payload: Buffer.from('{"gone":true}'),
    qos: 1 as const,
  };
  const polite = await world.client(device, { clientId: 'polite', will });
  await polite.endAsync();
  const torn = await world.client(device, { clientId: 'torn', will });
  torn.stream.destroy();
  const found = await eventually(
    () => world.samples(device),
    (samples) => samples.length > 0,
  );
  expect(found).toMatchObject([{ topic: 'state', data: { gone: true } }]);
});

test('a new connection with the same client id ends the old one; the same id on another connector does not', async () => {
  const [device, other] = [await world.mqttDevice(), await world.mqttDevice()];
  const first = await world.client(device, { clientId: 'same' });
  const stranger = await world.client(other, { clientId: 'same' });
  await world.client(device, { clientId: 'same' });
  await closed(first);
  await stranger.publishAsync(upTopic(other), '{"value":1}', { qos: 1 });
  expect(await world.samples(other)).toHaveLength(1);
});

test('a persistent session keeps its subscriptions; a clean one, and one of another connector, starts without', async () => {
  const [device, other] = [await world.mqttDevice(), await world.mqttDevice()];
  const clientId = 'persistent';
  const first = await world.client(device, { clientId, clean: false });
  await first.subscribeAsync([downTopic(device), downTopic(device, '/extra')], { qos: 1 });
  await first.unsubscribeAsync(downTopic(device, '/extra'));
  await first.endAsync();
  const again = await world.client(device, { clientId, clean: false });
  const box = inbox(again);
  await pushed(device, { speed: 1 });
  expect(await box.next()).toMatchObject({
    topic: downTopic(device, '/configuration'),
    text: '{"speed":1}',
  });
  await again.endAsync();
  const clean = await world.client(device, { clientId, clean: true });
  const push = () => world.call('POST', `/v3/devices/${device.id}/configuration/push`, {});
  expect((await push()).status).toBe(409);
  await clean.endAsync();
  await world.client(other, { clientId, clean: false });
  expect((await push()).status).toBe(409);
});

test('a retained publish is stored as a sample, and handed to who subscribes to it later; an empty one takes it back', async () => {
  const device = await world.mqttDevice();
  const client = await world.client(device);
  await client.publishAsync(upTopic(device, '/state'), '{"on":true}', { qos: 1, retain: true });
  const later = await world.client(device, { clientId: 'later' });
  const box = inbox(later);
  await later.subscribeAsync(upTopic(device, '/#'), { qos: 1 });
  const message = { topic: upTopic(device, '/state'), text: '{"on":true}', qos: 1 };
  expect(await box.next()).toEqual({ ...message, retain: true });
  await client.publishAsync(upTopic(device, '/state'), '{"on":true}', { qos: 1 });
  expect(await box.next()).toEqual({ ...message, retain: false });
  await client.publishAsync(upTopic(device, '/state'), '', { qos: 1, retain: true });
  expect(await box.next()).toMatchObject({ text: '' });
  const latest = await world.client(device, { clientId: 'latest' });
  const empty = inbox(latest);
  await latest.subscribeAsync(upTopic(device, '/#'), { qos: 1 });
  await latest.publishAsync(upTopic(device, '/mark'), '{"mark":1}', { qos: 1 });
  expect((await empty.next()).text).toBe('{"mark":1}');
  expect(await world.samples(device)).toHaveLength(3);
});

/** A connection of bytes, for what client libraries do not do. */
async function rawClient(
  device: MqttDevice,
  clientId: string,
): Promise<{ socket: Socket; answers: Buffer[] }> {
  const socket = connect(world.mqttPort, '127.0.0.1');
  const answers: Buffer[] = [];
  const { connectorId: userName, secret: password } = device;
  socket.write(connectPacket({ clientId, userName, password, clean: false, keepaliveSeconds: 60 }));
  await once(socket, 'data');
  socket.on('data', (answer) => answers.push(Buffer.from(answer)));
  return { socket, answers };
}

async function published(
  { socket, answers }: Awaited<ReturnType<typeof rawClient>>,
  packet: Buffer,
): Promise<string> {
  socket.write(packet);
  while (answers.length === 0) await once(socket, 'data');
  return answers.shift()!.toString('hex');
}

async function nextMillisecond(): Promise<void> {
  const before = Date.now();
  while (Date.now() === before) await new Promise(setImmediate);
}

const dup = 8;
const qos1 = 2;

test('contract 18: a QoS 1 publish that is sent again is acknowledged and stored once; a new one with its number is stored', async () => {
  const device = await world.mqttDevice();
  const publish = (text: string, flags: number, number = 7) =>
    publishPacket(upTopic(device), text, qos1 | flags, number);
  const first = await rawClient(device, 'repeating');
  expect(await published(first, publish('{"value":1}', 0))).toBe('40020007');
  expect(await published(first, publish('{"value":1}', dup))).toBe('40020007');
  first.socket.destroy();
  const again = await rawClient(device, 'repeating');
  expect(await published(again, publish('{"value":1}', dup))).toBe('40020007');
  expect(await world.samples(device)).toHaveLength(1);
  // The number is free again, so the same payload without the flag is another message.
  expect(await published(again, publish('{"value":1}', 0, 8))).toBe('40020008');
  // Equal samples of one instant are stored once.
  await nextMillisecond();
  expect(await published(again, publish('{"value":1}', 0, 8))).toBe('40020008');
  expect(await published(again, publish('{"value":2}', dup, 8))).toBe('40020008');
  expect(await world.samples(device)).toHaveLength(4);
  const other = await rawClient(device, 'another client');
  await nextMillisecond();
  expect(await published(other, publish('{"value":1}', dup))).toBe('40020007');
  expect(await world.samples(device)).toHaveLength(5);
  for (const { socket } of [again, other]) socket.destroy();
});

test('an unconfirmed publish is stored once also when it is repeated without the flag', async () => {
  const device = await world.mqttDevice();
  const packet = publishPacket(upTopic(device), '{"value":1}', qos1, 9);
  const first = await rawClient(device, 'torn off');
  await published(first, packet);
  first.socket.destroy();
  // The platform notices the end of a connection a moment later.
  const metrics = async () => String((await world.call('GET', '/metrics')).body);
  const before = Number(/^heliograph_mqtt_connections (\d+)/m.exec(await metrics())![1]);
  await eventually(
    metrics,
    (text) => Number(/^heliograph_mqtt_connections (\d+)/m.exec(text)![1]) <= before,
  );
  const again = await rawClient(device, 'torn off');
  await published(again, packet);
  expect(await world.samples(device)).toHaveLength(1);
  again.socket.destroy();
});

test('a QoS 1 message without acknowledgement because the connection breaks counts as not delivered', async () => {
  const device = await world.mqttDevice();
  const client = await world.client(device, { customHandleAcks: () => undefined });
  await client.subscribeAsync(downTopic(device), { qos: 1 });
  client.handleMessage = () => client.stream.destroy();
  await world.must('POST', `/v3/devices/${device.id}/configuration`, { configuration: { a: 1 } });
  expect((await world.call('POST', `/v3/devices/${device.id}/configuration/push`, {})).status).toBe(
    409,
  );
});

test('packets out of place end the connection', async () => {
  const device = await world.mqttDevice();
  const { connectorId: userName, secret: password } = device;
  const login = connectPacket({
    clientId: 'x',
    userName,
    password,
    clean: true,
    keepaliveSeconds: 60,
  });
  const publish = publishPacket(upTopic(device), '{"value":1}', 0, 0);
  for (const [what, bytes] of [
    ['a publish before the login', publish],
    ['a second login', Buffer.concat([login, login])],
    ['a length of five bytes', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01])],
    ['a large packet before the login', Buffer.from([0x10, 0x80, 0x80, 0x40])],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ] as const) {
    const socket = connect(world.mqttPort, '127.0.0.1');
    socket.resume();
    socket.on('error', () => undefined);
    socket.write(bytes);
    await once(socket, 'close');
    expect([what, await world.samples(device)]).toEqual([what, []]);
  }
});

test('a stop under load answers publishes in flight and ends; acknowledged ones exist afterwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-stop-'));
  const own = await startMqttWorld({ directory });
  const device = await own.mqttDevice();
  const client = await own.client(device);
  let acknowledged = 0;
  let sent = 0;
  const publish = () => {
    sent++;
    client.publish(upTopic(device), JSON.stringify({ sent }), { qos: 1 }, (error) => {
      if (error || !client.connected) return;
      acknowledged++;
      publish();
    });
  };
  for (let i = 0; i < 50; i++) publish();
  await eventually(
    async () => void (await own.call('GET', '/health/ready')),
    () => acknowledged > 500,
  );
  await own.platform.close('test');
  const again = await startMqttWorld({ directory });
  expect((await again.samples(device)).length).toBeGreaterThanOrEqual(acknowledged);
  await again.close();
  rmSync(directory, { recursive: true, force: true });
});

test('contract 18: a token that expires ends the connection within a minute', {
  timeout: 240_000,
}, async () => {
  const clock = { now: Date.now() };
  const own = await startMqttWorld({
    now: () => clock.now,
    environment: { DEVICE_AUDIENCE: 'https://iot.example' },
  });
  try {
    const key = deviceKey('ES256');
    const device = await own.mqttDevice({ connector: { authType: 'DEVICE_CREDENTIALS' } });
    const path = `/v3/device-authorization/devices/${device.id}/credentials`;
    await own.must('POST', path, {
      akenzaDeviceId: device.id,
      algorithm: key.algorithm,
      publicKey: key.pem,
    });
    const { deviceId: sub } = device;
    const exp = Math.floor(clock.now / 1_000) + 600;
    const password = await key.token({ sub, aud: `https://iot.example/devices/${sub}`, exp });
    const client = await own.clientWith({ username: 'x', password, clientId: sub });
    clock.now += 700_000;
    await own.platform.runMaintenance();
    await closed(client);
  } finally {
    await own.close();
  }
});
