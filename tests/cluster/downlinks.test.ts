// Downlinks on two nodes: the owner of a device sends each once, whichever node is asked, reported to or left.
import mqtt from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { loraDevice, type LoraDevice } from '../world/lora-world.ts';
import { createMqttDevice, downTopic, inbox } from '../world/mqtt-world.ts';
import { startNetworkServer, type TestNetworkServer } from '../world/network-server.ts';
import type { World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
let server: TestNetworkServer;
const devices: LoraDevice[] = [];
const both = [0, 1] as const;

beforeAll(async () => {
  server = await startNetworkServer();
  cluster = await startCluster({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
  world = cluster.world;
  const properties = { baseUrl: server.url, apiKey: 'key', applicationId: 'app' };
  for (let n = 0; n < 4; n++) devices.push(await loraDevice(world, { type: 'TTN', properties }));
}, 240_000);
afterAll(async () => {
  await cluster.close();
  await server.close();
});

/** A request to one node. */
function ask(node: number, method: string, path: string, body?: unknown) {
  const base = `http://127.0.0.1:${cluster.nodes[node]?.platform.port}`;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return checkedFetch(base, method, path, { 'x-api-key': world.apiKey, ...type }, body);
}

const command = (payloadHex: string) => ({
  raw: true,
  loraDownlink: { port: 3, payloadHex, confirmed: true },
});

test.each(both)('a network server gets each downlink once through node %i', async (node) => {
  const before = server.asked.length;
  for (const [n, { id }] of devices.entries()) {
    const answer = await ask(node, 'POST', `/v3/devices/${id}/downlink`, command(`0${n}`));
    expect(answer.status).toBe(204);
  }
  for (const { downlinks } of devices)
    await expect.poll(async () => (await downlinks()).at(-1)?.state).toBe('SENT');
  expect(server.asked).toHaveLength(before + devices.length);
});

test.each(both)('a report that reaches node %i acknowledges the downlink', async (node) => {
  for (const device of devices) {
    const { id, deviceEui, integrationId, secret } = device;
    await ask(1 - node, 'POST', `/v3/devices/${id}/downlink`, command('0a'));
    await expect.poll(async () => (await device.downlinks()).at(-1)?.state).toBe('SENT');
    const downlinkId = (await device.downlinks()).at(-1)?.id;
    const report = {
      end_device_ids: { device_id: 'a', dev_eui: deviceEui },
      downlink_ack: { f_port: 3, correlation_ids: [`heliograph:downlink:${downlinkId}`] },
    };
    const path = `/v3/capture/lora/${integrationId}?secret=${secret}`;
    expect((await ask(node, 'POST', path, report)).status).toBeLessThan(300);
    expect((await device.downlinks()).at(-1)?.state).toBe('ACKNOWLEDGED');
  }
});

test('a downlink for a device over HTTP is answered alike by both nodes', async () => {
  const { id } = await world.device({ name: 'over HTTP' });
  for (const node of both) {
    const answer = await ask(node, 'POST', `/v3/devices/${id}/downlink`, {
      mqttDownlink: { topic: 'x', payload: {} },
    });
    const other = await ask(1 - node, 'POST', `/v3/devices/${id}/downlink`, {
      mqttDownlink: { topic: 'x', payload: {} },
    });
    expect(other.status).toBe(answer.status);
  }
});

test('downlinks that wait at a node that stops are sent by the next owner', async () => {
  const waiting = await createMqttDevice(world, 1);
  const others = [waiting];
  for (let n = 2; n <= 6; n++) others.push(await createMqttDevice(world, n, { beside: waiting }));
  for (const { id } of others) {
    const body = { mqttDownlink: { topic: 'cmd', payload: { id } } };
    expect((await ask(0, 'POST', `/v3/devices/${id}/downlink`, body)).status).toBe(204);
  }
  const url = `mqtt://127.0.0.1:${cluster.mqttPorts[0]}`;
  const login = { username: waiting.connectorId, password: waiting.secret, reconnectPeriod: 0 };
  await cluster.nodes[1]?.platform.close('test');
  const client = await mqtt.connectAsync(url, login, false);
  const box = inbox(client);
  for (const device of others) await client.subscribeAsync(downTopic(device), { qos: 1 });
  const got = new Set<string>();
  for (const _ of others) got.add((await box.next()).text);
  expect(got).toEqual(new Set(others.map(({ id }) => JSON.stringify({ id }))));
  await client.endAsync(true);
}, 240_000);
