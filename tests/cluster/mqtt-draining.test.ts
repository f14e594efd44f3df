// MQTT while a node stops: it ends in time, its clients go on at another node, and the node that goes on stores each publish once.
import mqtt from 'mqtt';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { createMqttDevice, type MqttDevice, upTopic } from '../world/mqtt-world.ts';

let cluster: TestCluster;
const devices: MqttDevice[] = [];
beforeAll(async () => {
  cluster = await startCluster();
  const first = await createMqttDevice(cluster.world, 1);
  devices.push(first);
  for (let n = 2; n <= 8; n++)
    devices.push(await createMqttDevice(cluster.world, n, { beside: first }));
}, 240_000);
afterAll(() => cluster.close());

test('reliability 3: a node stops cleanly under MQTT traffic, and the other one stores each publish once', async () => {
  const [stayingPort, leavingPort] = cluster.mqttPorts;
  const [staying, leaving] = cluster.nodes;
  const acknowledged = new Map<string, number>();
  let isDone = false;
  /** One publish after the other; the client repeats what was not acknowledged at the next address. */
  async function send(device: MqttDevice): Promise<void> {
    const client = mqtt.connect({
      servers: [leavingPort, stayingPort].map((port) => ({ host: '127.0.0.1', port: port ?? 0 })),
      username: device.connectorId,
      password: device.secret,
      clientId: device.deviceId,
      clean: false,
      reconnectPeriod: 100,
      protocol: 'mqtt',
    });
    client.on('error', () => undefined);
    for (let n = 0; !isDone; n++) {
      await client.publishAsync(upTopic(device), JSON.stringify({ n }), { qos: 1 });
      acknowledged.set(device.id, n + 1);
    }
    await client.endAsync(true);
  }
  const sending = devices.map(send);
  const more = async (count: number) => {
    const before = new Map(acknowledged);
    await vi.waitFor(
      () => {
        for (const { id } of devices)
          expect(acknowledged.get(id) ?? 0).toBeGreaterThan((before.get(id) ?? 0) + count);
      },
      { timeout: 60_000 },
    );
  };
  await more(10);
  await leaving?.platform.close('test');
  await more(10);
  isDone = true;
  await Promise.all(sending);
  for (const { id } of devices) {
    // The proxy of the cluster still knows the node that has stopped.
    const answer = await fetch(
      `http://127.0.0.1:${staying?.platform.port}/v3/devices/${id}/query`,
      {
        method: 'POST',
        headers: { 'x-api-key': cluster.world.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ topic: '*', limit: 10_000 }),
      },
    );
    const samples = (await answer.json()) as { data: { n: number } }[];
    const stored = samples.map(({ data }) => data.n);
    // Samples are with the node that took them: here are those since the devices moved.
    const [first = 0] = stored.toSorted((a, b) => a - b);
    const count = (acknowledged.get(id) ?? 0) - first;
    expect(count).toBeGreaterThanOrEqual(10);
    const expected = Array.from({ length: count }, (_, n) => first + n);
    expect(stored.toSorted((a, b) => a - b)).toEqual(expected);
  }
}, 180_000);
