// MQTT through edge threads: over TCP and TLS, what clients send is taken whole and in order, also just before they leave.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../servers/certificate.ts';
import { inbox, downTopic, type MqttWorld, startMqttWorld, upTopic } from '../world/mqtt-world.ts';

let world: MqttWorld;
let folder: string;
let ca: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-edges-'));
  const { certPath, keyPath, cert } = await makeCertificate(folder);
  ca = cert;
  world = await startMqttWorld({
    environment: { EDGES: '2', MQTT_TLS_CERT: certPath, MQTT_TLS_KEY: keyPath },
  });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const urlOf = {
  TCP: () => `mqtt://127.0.0.1:${world.mqttPort}`,
  TLS: () => `mqtts://127.0.0.1:${world.mqttTlsPort}`,
};

describe.each(['TCP', 'TLS'] as const)('over %s', (kind) => {
  const client = (device: Parameters<MqttWorld['client']>[0], options: object = {}) =>
    world.client(device, { ...(kind === 'TLS' && { ca }), ...options }, urlOf[kind]());

  test('each publish of many clients is stored once and in order', async () => {
    const devices = await Promise.all(Array.from({ length: 12 }, () => world.mqttDevice()));
    await Promise.all(
      devices.map(async (device) => {
        const one = await client(device);
        const sent = Array.from({ length: 50 }, (_, n) =>
          one.publishAsync(upTopic(device), JSON.stringify({ n }), { qos: 1 }),
        );
        await Promise.all(sent);
      }),
    );
    for (const device of devices) {
      const numbers = (await world.samples(device)).map(({ data }) => data['n']);
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, n) => n));
    }
  });

  test('what is published just before the client leaves is stored', async () => {
    const device = await world.mqttDevice();
    const one = await client(device);
    for (let n = 0; n < 20; n++) one.publish(upTopic(device), JSON.stringify({ n }), { qos: 0 });
    await one.endAsync();
    await expect.poll(async () => (await world.samples(device)).length).toBe(20);
  });

  test('large payloads pass in both directions', async () => {
    const device = await world.mqttDevice();
    const one = await client(device);
    const text = 'x'.repeat(90_000);
    await one.publishAsync(upTopic(device), JSON.stringify({ text }), { qos: 1 });
    const [sample] = await world.samples(device);
    expect(String(sample?.data['text']).length).toBe(text.length);
    const received = inbox(one);
    await one.subscribeAsync(downTopic(device), { qos: 1 });
    await world.must('POST', `/v3/devices/${device.id}/downlink`, {
      mqttDownlink: { topic: 'large', payload: { text } },
    });
    await expect.poll(() => JSON.stringify(received.messages).length).toBeGreaterThan(text.length);
  });

  test('a client that sends nonsense is ended', async () => {
    const socket =
      kind === 'TLS'
        ? connectTls({ host: '127.0.0.1', port: world.mqttTlsPort, ca })
        : connect({ host: '127.0.0.1', port: world.mqttPort });
    await once(socket, kind === 'TLS' ? 'secureConnect' : 'connect');
    socket.resume();
    const closed = once(socket, 'close');
    socket.write('GET / HTTP/1.1\r\n\r\n');
    // No error: with TLS the end is said.
    expect((await closed)[0]).toBe(false);
  });
});
