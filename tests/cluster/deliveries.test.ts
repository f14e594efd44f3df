// Deliveries on several nodes: each once and in order, also when a node that had some is killed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaseOfConnector } from '../../src/cluster/leases/lease-tasks.ts';
import { sinkEnvironment } from '../world/action-sink.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import type { TestDevice, World } from '../world/world.ts';

interface Received {
  readonly connector: string;
  readonly deviceId: string;
  readonly n: number;
}

let cluster: TestCluster;
let world: World;
let target: Server;
let received: Received[];
/** How often the target refuses before it takes deliveries of the connector. */
let refusals: Map<string, number>;
let connectors: readonly string[];
let devices: readonly TestDevice[];
const connectorCount = 6;

beforeAll(async () => {
  [received, refusals] = [[], new Map()];
  target = createServer((request, response) => {
    void json(request).then((body) => {
      const connector = (request.url ?? '').slice(1);
      const refused = refusals.get(connector) ?? 0;
      refusals.set(connector, refused - 1);
      const { deviceId, data } = body as { deviceId: string; data: { n: number } };
      if (refused <= 0) received.push({ connector, deviceId, n: data.n });
      response.writeHead(refused > 0 ? 503 : 200).end('taken');
    });
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  cluster = await startCluster({ environment: sinkEnvironment });
  world = cluster.world;
  const { port } = target.address() as AddressInfo;
  const made: string[] = [];
  for (let number = 0; number < connectorCount; number++) {
    const { id } = await world.must('POST', '/v3/output-connectors', {
      name: `target ${number}`,
      workspaceId: world.workspaceId,
      type: 'WEBHOOK',
      webhookProperties: {
        uri: `http://127.0.0.1:${port}/${number}`,
        method: 'POST',
        contentType: 'JSON',
        authType: 'NONE',
      },
    });
    made.push(id);
  }
  connectors = made;
  const outputs = made.map((id) => ({ id, topic: '*' }));
  const first = await world.device({ outputs });
  const others = await Promise.all(
    [1, 2, 3, 4, 5].map(async (n) => {
      const deviceId = `more-${n}`;
      const { id } = await world.must('POST', '/v3/devices', {
        name: deviceId,
        deviceId,
        workspaceId: world.workspaceId,
        connectivity: 'HTTP',
        dataFlowId: first.dataFlowId,
      });
      return { ...first, id, deviceId };
    }),
  );
  devices = [first, ...others];
}, 240_000);
afterAll(async () => {
  await cluster.close();
  target.close();
});

const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

function capture(address: string, { secret, deviceId }: TestDevice, n: number) {
  const path = `/v3/capture?${new URLSearchParams({ secret, deviceId }).toString()}`;
  return checkedFetch(address, 'POST', path, { 'content-type': 'application/json' }, { n });
}

/** The values that the connector received, by device. */
function valuesOf(connector: number): Map<string, number[]> {
  const values = new Map<string, number[]>();
  for (const one of received)
    if (one.connector === String(connector))
      values.set(one.deviceId, [...(values.get(one.deviceId) ?? []), one.n]);
  return values;
}

async function captureRounds(addresses: readonly string[], from: number, to: number) {
  for (let n = from; n < to; n++)
    for (const device of devices) {
      const address = addresses[n % addresses.length] ?? '';
      expect(await capture(address, device, n)).toMatchObject({ status: 201 });
    }
}

const list = (node: World, id: string, query = '') =>
  checkedFetch(addressOf(node), 'GET', `/v3/output-connectors/${id}/deliveries?size=1000${query}`, {
    'x-api-key': node.apiKey,
  });

test('each delivery arrives once and in order, on whichever nodes device and connector are', async () => {
  // Both nodes have some of the connectors.
  expect(new Set(connectors.map(leaseOfConnector)).size).toBeGreaterThan(2);
  refusals.set('0', 1);
  await captureRounds(cluster.nodes.map(addressOf), 0, 6);
  const wanted = connectorCount * devices.length * 6;
  await expect.poll(() => received.length, { timeout: 60_000 }).toBe(wanted);
  for (let connector = 0; connector < connectorCount; connector++)
    for (const values of valuesOf(connector).values()) expect(values).toEqual([0, 1, 2, 3, 4, 5]);
}, 240_000);

describe('any node', () => {
  test('lists the deliveries of all devices', async () => {
    for (const id of connectors)
      for (const node of cluster.nodes)
        await expect
          .poll(async () => (await list(node, id, '&state=DELIVERED')).body.totalElements, {
            timeout: 60_000,
          })
          .toBe(devices.length * 6);
  });

  test('sends a delivery again, and all of a connector', async () => {
    const [id = ''] = connectors;
    for (const node of cluster.nodes) {
      // Also the results of what was sent again at the other node.
      await expect
        .poll(async () => (await list(node, id, '&state=DELIVERED')).body.totalElements, {
          timeout: 60_000,
        })
        .toBe(devices.length * 6);
      received.length = 0;
      const { body } = await list(node, id);
      const [delivery] = body.content;
      const headers = { 'x-api-key': node.apiKey, 'content-type': 'application/json' };
      const path = `/v3/deliveries/${delivery.id}/resend`;
      const one = await checkedFetch(addressOf(node), 'POST', path, headers, undefined);
      expect(one.body).toMatchObject({ id: delivery.id, state: 'PENDING', tries: 0 });
      await expect.poll(() => received.length, { timeout: 60_000 }).toBe(1);
      const all = await checkedFetch(
        ...([addressOf(node), 'POST', `/v3/output-connectors/${id}/deliveries/resend`] as const),
        headers,
        { state: 'DELIVERED' },
      );
      await expect.poll(() => received.length, { timeout: 60_000 }).toBe(1 + all.body.resent);
    }
  });

  test('shows what waits at a connector in its health', async () => {
    refusals.set('1', 3);
    received.length = 0;
    const [node] = cluster.nodes;
    const [device] = devices;
    if (node === undefined || device === undefined) throw new Error('a node and a device');
    await capture(addressOf(node), device, 100);
    for (const at of cluster.nodes)
      await expect
        .poll(
          async () => {
            const path = '/v3/output-connectors?details=health&size=100';
            const { body } = await checkedFetch(addressOf(at), 'GET', path, {
              'x-api-key': at.apiKey,
            });
            const found = body.content.find((one: { id: string }) => one.id === connectors[1]);
            return found.health.deliveries.waiting;
          },
          { timeout: 60_000 },
        )
        .toBe(1);
  });
});

test('after a kill of their node, the next one makes all deliveries that wait', async () => {
  refusals.clear();
  const killed = await cluster.addProcess();
  const addresses = cluster.nodes.map(addressOf);
  const owned = async () => {
    const answer = await fetch(`http://127.0.0.1:${killed.port}/metrics`, {
      headers: { 'x-api-key': world.apiKey },
    });
    return Number(/^heliograph_work_leases_held (\d+)$/m.exec(await answer.text())?.[1]);
  };
  await expect.poll(owned, { timeout: 60_000 }).toBeGreaterThan(40);
  // Targets that refuse keep deliveries waiting on every node.
  for (let connector = 0; connector < connectorCount; connector++)
    refusals.set(String(connector), 5);
  received.length = 0;
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error('a node');
  const counts = () =>
    Promise.all(connectors.map(async (id) => (await list(node, id)).body.totalElements));
  const before = await counts();
  await captureRounds(addresses, 200, 203);
  // What only the journal of the killed node has would wait for its return.
  await expect
    .poll(counts, { timeout: 60_000 })
    .toEqual(before.map((count) => count + devices.length * 3));
  await killed.kill();
  await captureRounds(addresses, 203, 205);
  const seen = () =>
    new Set(received.map(({ connector, deviceId, n }) => `${connector} ${deviceId} ${n}`)).size;
  await expect
    .poll(seen, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(connectorCount * devices.length * 5);
  for (let connector = 0; connector < connectorCount; connector++)
    for (const [, values] of valuesOf(connector)) {
      // At least once: an attempt whose result was lost is repeated, never out of order.
      const firsts = [...new Set(values.filter((n) => n >= 200))];
      expect(firsts).toEqual([200, 201, 202, 203, 204]);
    }
}, 240_000);
