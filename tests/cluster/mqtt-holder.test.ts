// MQTT clients and the node that holds their workspace: it serves them through any node, also after the workspace moved.
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseOfWorkspace } from '../../src/cluster/leases/leases.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { createWhere } from '../world/different.ts';
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
const clients: MqttClient[] = [];
let count = 0;

beforeEach(async () => {
  cluster = await startCluster({ leaseMs: 4_000 });
  ({ world } = cluster);
  for (const place of [0, 1])
    await expect.poll(async () => (await leasesOf(place)).size, { timeout: 60_000 }).toBe(32);
}, 240_000);
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await cluster.close();
}, 240_000);

/** The leases of workspaces that the node at this place has; past the others, it is of a node of their own. */
async function leasesOf(place: number): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: cluster.recordsUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select "leases"."name" from "leases" join "nodes" on "nodes"."id" = "leases"."node"
       where "leases"."name" like 'workspaces/%' and array_position($1, "nodes"."url") is not distinct from $2`,
      [cluster.nodeUrls, place < cluster.nodeUrls.length ? place + 1 : null],
    );
    return new Set(rows.map(({ name }) => name));
  } finally {
    await client.end();
  }
}

/** A device in a workspace of the node. */
async function deviceAt(place: number): Promise<MqttDevice & { readonly workspaceId: string }> {
  const held = await leasesOf(place);
  const workspaceId = await createWhere(
    (id: string) => held.has(leaseOfWorkspace(id)),
    async (number) => {
      const body = { name: `place ${place} ${number}`, organizationId: world.organizationId };
      return String((await world.must('POST', '/v3/workspaces', body)).id);
    },
  );
  const device = await createMqttDevice({ ...world, workspaceId }, ++count);
  return { ...device, workspaceId };
}

async function connect(
  url: string,
  { connectorId, secret }: MqttDevice,
  options: IClientOptions = {},
): Promise<MqttClient> {
  const login = { username: connectorId, password: secret, reconnectPeriod: 0 };
  const client = await mqtt.connectAsync(url, { ...login, ...options }, true);
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

const portOf = (place: number) => `mqtt://127.0.0.1:${cluster.mqttPorts[place]}`;
const socketOf = (place: number) => `ws://127.0.0.1:${cluster.nodes[place]?.platform.port}/mqtt`;

async function metric(place: number, name: string): Promise<number> {
  const node = cluster.nodes[place];
  const url = `http://127.0.0.1:${node?.platform.port}/metrics`;
  const answer = await fetch(url, { headers: { 'x-api-key': node?.apiKey ?? '' } });
  return Number(new RegExp(`^heliograph_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1]);
}

test('the holder serves clients of TCP and of WebSockets that connect to another node', async () => {
  for (const urlOf of [portOf, socketOf]) {
    const device = await deviceAt(1);
    const far = await connect(urlOf(0), device);
    const near = await connect(urlOf(1), device);
    expect(await metric(0, 'mqtt_connections_forwarded')).toBe(1);
    expect(await metric(0, 'mqtt_connections')).toBe(0);
    expect(await metric(1, 'mqtt_connections')).toBe(2);
    const boxes = [far, near].map(inbox);
    for (const client of [far, near])
      await client.subscribeAsync(upTopic(device, '/#'), { qos: 1 });
    const long = JSON.stringify({ long: 'x'.repeat(900_000) });
    await far.publishAsync(upTopic(device, '/x'), long, { qos: 1 });
    for (const box of boxes) expect((await box.next()).text).toBe(long);
    await far.endAsync();
    await expect.poll(() => metric(0, 'mqtt_connections_forwarded')).toBe(0);
    await expect.poll(() => metric(1, 'mqtt_connections')).toBe(1);
    await near.endAsync();
  }
});

test('a wrong login is refused through each node', async () => {
  const device = await deviceAt(1);
  for (const place of [0, 1]) {
    const connecting = connect(portOf(place), { ...device, secret: 'wrong' });
    await expect(connecting).rejects.toThrow(/Not authorized/);
  }
  await expect(connect(portOf(0), { ...device, connectorId: 'none' })).rejects.toThrow(
    /Not authorized/,
  );
});

test('sessions and retained messages follow a workspace whose node stops', async () => {
  const device = await deviceAt(1);
  const options: IClientOptions = { clientId: 'kept', clean: false };
  const before = await connect(portOf(0), device, options);
  await before.subscribeAsync(downTopic(device), { qos: 1 });
  await before.publishAsync(upTopic(device, '/kept'), '{"kept":true}', { qos: 1, retain: true });
  await cluster.nodes[1]?.platform.close('test');
  await closed(before);
  await expect.poll(() => metric(0, 'mqtt_sessions_kept'), { timeout: 30_000 }).toBe(1);
  const after = mqtt.connect(portOf(0), {
    ...options,
    username: device.connectorId,
    password: device.secret,
  });
  clients.push(after);
  const isPresent = await new Promise((resolve) => {
    after.once('connect', ({ sessionPresent }) => resolve(sessionPresent));
  });
  expect(isPresent).toBe(true);
  const box = inbox(after);
  await after.subscribeAsync(upTopic(device, '/kept'), { qos: 1 });
  expect(await box.next()).toMatchObject({ text: '{"kept":true}', retain: true });
}, 120_000);

test('a client whose node was killed goes on at the next one', async () => {
  const holder = await cluster.addProcess();
  await expect.poll(async () => (await leasesOf(2)).size, { timeout: 60_000 }).toBeGreaterThan(15);
  const device = await deviceAt(2);
  const client = await connect(portOf(0), device, { reconnectPeriod: 200 });
  await client.publishAsync(upTopic(device), '{"n":1}', { qos: 1 });
  await holder.kill();
  await closed(client);
  await client.publishAsync(upTopic(device), '{"n":2}', { qos: 1 });
  const newest = async () => {
    const answer = await world.call('POST', `/v3/devices/${device.id}/query`, { limit: 1 });
    return answer.body?.[0]?.data?.n;
  };
  await expect.poll(newest, { timeout: 60_000 }).toBe(2);
}, 240_000);

test('a device that moves to a workspace of another node takes its retained messages along', async () => {
  const device = await deviceAt(1);
  const there = await deviceAt(0);
  const client = await connect(portOf(1), device);
  await client.subscribeAsync(downTopic(device), { qos: 1 });
  await client.publishAsync(upTopic(device, '/kept'), '{"kept":true}', { qos: 1, retain: true });
  await world.must('POST', '/v3/devices/bulk/move', {
    workspaceId: device.workspaceId,
    deviceIds: [device.id],
    targetWorkspaceId: there.workspaceId,
    dataFlowId: there.dataFlowId,
  });
  await closed(client);
  const moved = { ...there, deviceId: device.deviceId };
  const next = await connect(portOf(1), moved);
  const box = inbox(next);
  await expect
    .poll(async () => {
      await next.subscribeAsync(upTopic(moved, '/kept'), { qos: 1 });
      return box.messages.map(({ text }) => text);
    })
    .toContain('{"kept":true}');
}, 120_000);
