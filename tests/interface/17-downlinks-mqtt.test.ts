// Contract 17: downlinks to MQTT devices, immediately or on reconnect, over a restart; and expiry.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loraDevice } from '../world/lora-world.ts';
import { type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';
import { startNetworkServer } from '../world/network-server.ts';
import { startWorld, type World } from '../world/world.ts';

const day = 24 * 3_600_000;

/** The next messages up to this number, as topics below the device's and strings or bytes. */
async function messages(
  client: MqttClient,
  device: MqttDevice,
  count: number,
): Promise<[string, string][]> {
  const prefix = `/down/${device.secret}/id/${device.deviceId}/`;
  const got: [string, string][] = [];
  const arrived = new Promise<void>((resolve) => {
    client.on('message', (topic, payload) => {
      got.push([topic.replace(prefix, ''), payload.toString('latin1')]);
      if (got.length === count) resolve();
    });
  });
  await client.subscribeAsync(`${prefix}#`, { qos: 1 });
  await arrived;
  return got;
}

async function downlinksOf(
  world: World,
  { id }: { id: string },
): Promise<{ state: string; [name: string]: unknown }[]> {
  return (await world.must('GET', `/v3/devices/${id}/downlinks`)).content.reverse();
}

async function untilStates(
  world: World,
  device: { id: string },
  states: readonly string[],
): Promise<void> {
  for (;;) {
    const seen = (await downlinksOf(world, device)).map(({ state }) => state);
    if (JSON.stringify(seen) === JSON.stringify(states)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('with one platform', () => {
  let world: MqttWorld;
  beforeAll(async () => {
    world = await startMqttWorld();
  });
  afterAll(() => world.close());
  const send = (device: { id: string }, mqttDownlink: object, more: object = {}) =>
    world.call('POST', `/v3/devices/${device.id}/downlink`, { mqttDownlink, ...more });

  test('what waits for a device comes when it subscribes, in order, and is acknowledged by it', async () => {
    const device = await world.mqttDevice();
    expect(
      (await send(device, { topic: '/command', payload: { on: true }, contentType: 'JSON' }))
        .status,
    ).toBe(204);
    expect(
      (await send(device, { topic: 'a/b', payload: { payloadHex: '00ff41' } }, { raw: true }))
        .status,
    ).toBe(204);
    expect((await downlinksOf(world, device))[0]).toMatchObject({
      state: 'QUEUED',
      port: null,
      confirmed: null,
      payloadHex: null,
      topic: 'command',
      payload: { on: true },
    });
    const client = await world.client(device);
    expect(await messages(client, device, 2)).toEqual([
      ['command', '{"on":true}'],
      ['a/b', '\u0000\u00ffA'],
    ]);
    await untilStates(world, device, ['ACKNOWLEDGED', 'ACKNOWLEDGED']);
  });

  const refused: [string, object, RegExp][] = [
    ['a LoRa downlink', { loraDownlink: { payloadHex: '00' } }, /^body mqttDownlink: is required/],
    ['no topic', { mqttDownlink: { payload: {} } }, /^body mqttDownlink.topic: is required/],
    ['a wildcard', { mqttDownlink: { topic: 'a/#', payload: {} } }, /must not contain # or \+/],
    ['no payload', { mqttDownlink: { topic: 'a' } }, /^body mqttDownlink.payload: is required/],
    [
      'another content type',
      { mqttDownlink: { topic: 'a', payload: {}, contentType: 'XML' } },
      /must be JSON/,
    ],
    [
      'raw bytes that are none',
      { raw: true, mqttDownlink: { topic: 'a', payload: { payloadHex: 'x' } } },
      /hexadecimal/,
    ],
  ];
  for (const [what, body, message] of refused) {
    test(`400: ${what}`, async () => {
      const device = await world.mqttDevice();
      const answer = await world.call('POST', `/v3/devices/${device.id}/downlink`, body);
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
    });
  }
});

test('what waits survives a restart and reaches the device afterwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-downlinks-'));
  const first = await startMqttWorld({ directory });
  const device = await first.mqttDevice();
  for (const n of [1, 2, 3]) {
    await first.must('POST', `/v3/devices/${device.id}/downlink`, {
      mqttDownlink: { topic: 'set', payload: { n } },
    });
  }
  await first.close();
  const second = await startMqttWorld({ directory });
  // Of two nodes that start, one takes leases from the other, and clients of their workspaces connect again.
  const client = await second.client(device, { reconnectPeriod: 100 });
  expect((await messages(client, device, 3)).map(([, text]) => text)).toEqual([
    '{"n":1}',
    '{"n":2}',
    '{"n":3}',
  ]);
  await untilStates(second, device, ['ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED']);
  await second.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a network server that failed is asked again after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-downlinks-'));
  const environment = { EGRESS_ALLOW: '127.0.0.0/8' };
  const server = await startNetworkServer();
  server.answer({ status: 503 });
  let now = Date.now();
  const first = await startWorld({ directory, environment, now: () => now });
  const properties = { baseUrl: server.url, apiKey: 'k', applicationId: 'app' };
  const device = await loraDevice(first, { type: 'LORIOT', properties });
  await device.downlink({ raw: true, loraDownlink: { payloadHex: '01' } });
  await server.askedTimes(1);
  await first.close();
  server.answer({ status: 200, body: { seqdn: 4 } });
  now += day;
  const second = await startWorld({ directory, environment, now: () => now });
  await server.askedTimes(2);
  await untilStates(second, device, ['SENT']);
  expect(server.asked.at(-1)).toMatchObject({
    path: '/1/rest',
    body: { cmd: 'tx', appid: 'app', data: '01' },
  });
  await second.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a silent server does not delay the stop of the platform; downlinks in flight wait', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-downlinks-'));
  const environment = { EGRESS_ALLOW: '127.0.0.0/8' };
  const server = await startNetworkServer();
  server.answer({ status: 200, never: true });
  const first = await startWorld({ directory, environment });
  const properties = { baseUrl: server.url, apiKey: 'k', applicationId: 'app' };
  const device = await loraDevice(first, { type: 'TTN', properties });
  await device.downlink({ raw: true, loraDownlink: { payloadHex: '01' } });
  await server.askedTimes(1);
  await first.close();
  const second = await startWorld({ directory, environment });
  expect(await downlinksOf(second, device)).toMatchObject([{ state: 'QUEUED', error: null }]);
  await second.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

test('what was not sent within seven days expires and says so', async () => {
  let now = Date.now();
  const world = await startWorld({ now: () => now });
  const device = await loraDevice(world);
  await device.downlink({ raw: true, loraDownlink: { payloadHex: '01' } });
  now += 7 * day - 60_000;
  await world.platform.runMaintenance();
  expect(await downlinksOf(world, device)).toMatchObject([{ state: 'QUEUED' }]);
  now += 60_000;
  await world.platform.runMaintenance();
  expect(await downlinksOf(world, device)).toMatchObject([{ state: 'EXPIRED' }]);
  expect((await device.notes()).at(-1)).toMatch(/ expired before /);
  await world.close();
});
