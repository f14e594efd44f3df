// Requests with several devices: the owners store the samples, and the answer is that of one process.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missing } from '../../src/structures/missing.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { placedWorkspaces } from '../world/placed-workspaces.ts';
import type { World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
interface SiteDevice {
  readonly id: string;
  readonly deviceId: string;
}

interface Site {
  readonly secret: string;
  readonly devices: readonly SiteDevice[];
}

/** One at each node. */
const sites: Site[] = [];
let devices: readonly SiteDevice[];

beforeAll(async () => {
  cluster = await startCluster();
  world = cluster.world;
  for (const workspaceId of await placedWorkspaces(cluster, 2))
    sites.push(await siteIn(workspaceId));
  // In turns, so that each node has every second one.
  devices = Array.from({ length: 8 }, (_, n) => sites[n % 2]?.devices[n >> 1] ?? missing('device'));
}, 240_000);
afterAll(() => cluster.close());

/** A connector, its data flow, and four of the devices. */
async function siteIn(workspaceId: string): Promise<Site> {
  const place = sites.length;
  const connector = await world.must('POST', '/v3/device-connectors', {
    name: 'site',
    workspaceId,
    connectivity: 'HTTP',
    lineProtocol: { deviceId: 'device' },
  });
  const { id: dataFlowId } = await world.must('POST', '/v3/data-flows', {
    name: 'site',
    workspaceId,
    passThrough: true,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  const names = Array.from({ length: 4 }, (_, n) => `device-${place}-${n}`);
  const made = names.map(async (deviceId) => {
    const body = { name: deviceId, deviceId, workspaceId, connectivity: 'HTTP', dataFlowId };
    return { id: String((await world.must('POST', '/v3/devices', body)).id), deviceId };
  });
  return { secret: connector.uplinkSecret, devices: await Promise.all(made) };
}

const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

function send(node: World, path: string, body: unknown, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'application/json' };
  const all = { 'x-api-key': world.apiKey, ...type, ...headers };
  return checkedFetch(addressOf(node), 'POST', path, all, body);
}

/** The values of a device on a topic, from the oldest. */
async function stored(id: string, topic: string, key = 'n'): Promise<unknown[]> {
  const samples = await world.must('POST', `/v3/devices/${id}/query`, { topic, limit: 10_000 });
  return samples.map(({ data }: { data: Record<string, unknown> }) => data[key]).reverse();
}

const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();
const sampleOf = (topic: string, n: number) => ({
  deviceId: devices[n % 8]?.[n % 3 === 0 ? 'id' : 'deviceId'],
  topic,
  timestamp: minute(n),
  data: { n },
});
const topicOf = (place: number, kind: string) => `${kind}-${place}`;
const numbers = (place: number, count: number) =>
  Array.from({ length: count }, (_, n) => n).filter((n) => n % 8 === place);

describe.each([0, 1])('sent to node %i', (place) => {
  const node = () => cluster.nodes[place] ?? world;

  test('samples of one form are stored in the order sent, and once', async () => {
    const topic = topicOf(place, 'bulk');
    const body = Array.from({ length: 2_400 }, (_, n) => sampleOf(topic, n));
    const first = await send(node(), '/v3/samples/bulk', body);
    expect(first).toMatchObject({ status: 201, body: { accepted: 2_400, duplicates: 0 } });
    for (const [number, { id }] of devices.entries())
      expect(await stored(id, topic)).toEqual(numbers(number, 2_400));
    for (const again of cluster.nodes)
      expect(await send(again, '/v3/samples/bulk', body)).toMatchObject({
        status: 201,
        body: { accepted: 0, duplicates: 2_400, rejected: [] },
      });
  });

  test('rejected samples have their places, and notes name them', async () => {
    const topic = topicOf(place, 'mixed');
    const body: object[] = Array.from({ length: 40 }, (_, n) => ({
      ...sampleOf(topic, n),
      data: n % 2 === 0 ? { n } : { n, 'a b': 'invalid key' },
    }));
    body[7] = { deviceId: 'nobody', data: { n: 7 } };
    body[12] = { ...sampleOf(topic, 12), timestamp: 'never' };
    const { status, body: answer } = await send(node(), '/v3/samples/bulk', body);
    expect(status).toBe(201);
    expect(answer).toMatchObject({ accepted: 38, duplicates: 0 });
    expect(answer.rejected.map(({ index }: { index: number }) => index)).toEqual([7, 12]);
    const [, second] = devices;
    const { content } = await world.must('GET', `/v3/devices/${second?.id}/processing-logs`);
    const indices = content.map(({ details }: { details?: { index?: number } }) => details?.index);
    expect(indices).toEqual(expect.arrayContaining([1, 9, 17, 25, 33]));
  });

  test('an Idempotency-Key gets the first answer at every node', async () => {
    const topic = topicOf(place, 'keyed');
    const body = Array.from({ length: 80 }, (_, n) => ({
      ...sampleOf(topic, n),
      timestamp: undefined,
    }));
    const headers = { 'idempotency-key': `bulk ${place}` };
    const first = await send(node(), '/v3/samples/bulk', body, headers);
    expect(first).toMatchObject({ status: 201, body: { accepted: 80 } });
    for (const again of cluster.nodes)
      expect((await send(again, '/v3/samples/bulk', body, headers)).body).toEqual(first.body);
    const other = await send(node(), '/v3/samples/bulk', body.slice(1), headers);
    expect(other.status).toBe(422);
  });

  test('line protocol', async () => {
    for (const { secret, devices: own } of sites) {
      const lines = own.map(
        ({ deviceId }, n) => `power-${place},device=${deviceId} n=${n} ${1e18 + n}`,
      );
      const answer = await fetch(`${addressOf(node())}/api/v2/write`, {
        method: 'POST',
        headers: { authorization: `Token ${secret}` },
        body: lines.join('\n'),
      });
      expect(answer.status).toBe(204);
      for (const [n, { id }] of own.entries())
        expect(await stored(id, `power-${place}`)).toEqual([n]);
    }
  });

  test('a SenML pack', async () => {
    for (const { secret, devices: own } of sites) {
      const pack = own.map(({ deviceId }, n) => ({
        n: `${deviceId}:level${place}`,
        t: 1e9,
        v: n,
      }));
      const deviceId = own[0]?.deviceId ?? '';
      const query = new URLSearchParams({ secret, deviceId });
      const answer = await fetch(`${addressOf(node())}/v3/capture?${query.toString()}`, {
        method: 'POST',
        headers: { 'content-type': 'application/senml+json' },
        body: JSON.stringify(pack),
      });
      expect(answer.status).toBe(201);
      for (const [n, { id }] of own.entries())
        expect(await stored(id, 'default', `level${place}`)).toContain(n);
    }
  });
});
