// Mosquitto as a client: a bridge subscribes, publishes with each QoS and gets messages (contract 17, 18).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Mosquitto, mosquitto, startMosquitto } from '../servers/mosquitto.ts';
import { describeWith } from '../servers/server-tests.ts';
import { inbox, type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';

describeWith(mosquitto, 'a bridge of Mosquitto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-bridge-'));
  let world: MqttWorld;
  let device: MqttDevice;
  let bridge: Mosquitto;
  let behind: MqttClient;
  beforeAll(async () => {
    world = await startMqttWorld();
    device = await world.mqttDevice();
    bridge = await startMosquitto(folder, bridgeTo(world, device));
    const { port, username, password } = bridge;
    behind = await connectAsync(`mqtt://127.0.0.1:${port}`, { username, password });
  }, 240_000);
  afterAll(async () => {
    await behind.endAsync(true);
    await bridge.stop();
    await world.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  test('publishes of each QoS are samples', async () => {
    for (const qos of [0, 1, 2] as const)
      await behind.publishAsync(`out/climate/q${qos}`, JSON.stringify({ qos }), { qos });
    const samples = () => world.samples(device);
    await expect.poll(samples, { timeout: 60_000 }).toHaveLength(3);
    expect((await samples()).map(({ topic, data }) => [topic, data['qos']]).toSorted()).toEqual([
      ['climate.q0', 0],
      ['climate.q1', 1],
      ['climate.q2', 2],
    ]);
  });

  test('a message to the device reaches a client behind the bridge, and is acknowledged', async () => {
    const box = inbox(behind);
    await behind.subscribeAsync('in/#', { qos: 1 });
    const mqttDownlink = { topic: 'command', payload: { on: true }, contentType: 'JSON' };
    await world.must('POST', `/v3/devices/${device.id}/downlink`, { mqttDownlink });
    expect(await box.next()).toMatchObject({ topic: 'in/command', text: '{"on":true}' });
    const state = async () =>
      (await world.must('GET', `/v3/devices/${device.id}/downlinks`)).content[0].state;
    await expect.poll(state).toBe('ACKNOWLEDGED');
  });
});

function bridgeTo(world: MqttWorld, { connectorId, secret, deviceId }: MqttDevice): string[] {
  return [
    // A message with QoS 0 that comes before the bridge has connected would be dropped.
    'queue_qos0_messages true',
    'connection heliograph',
    `address 127.0.0.1:${world.mqttPort}`,
    'bridge_protocol_version mqttv311',
    // The client says that it is a bridge, in the highest bit of the protocol level.
    'try_private true',
    'notifications false',
    'restart_timeout 1',
    `remote_username ${connectorId}`,
    `remote_password ${secret}`,
    'remote_clientid bridge',
    `topic # out 2 out/ /up/${secret}/id/${deviceId}/`,
    `topic # in 2 in/ /down/${secret}/id/${deviceId}/`,
  ];
}
