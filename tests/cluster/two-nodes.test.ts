// Two nodes behind a proxy: every request about a device is answered by its owner, whichever node gets it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { askCoap } from '../world/coap-device.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { holdersOf, placedWorkspaces } from '../world/placed-workspaces.ts';
import type { TestDevice, World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
let devices: readonly TestDevice[];
const count = `function consume(event) {
  const state = { n: (event.state?.n ?? 0) + 1 };
  emit('state', state);
  emit('sample', { data: { n: state.n } });
}`;

beforeAll(async () => {
  cluster = await startCluster();
  world = cluster.world;
  const made: TestDevice[] = [];
  for (const workspaceId of await placedWorkspaces(cluster, 4))
    for (let n = 0; n < 2; n++) {
      const name = `device ${n} of ${workspaceId}`;
      made.push(await world.device({ workspaceId, name, script: count }));
    }
  devices = made;
}, 240_000);
afterAll(() => cluster.close());

const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

function capture(node: World, device: TestDevice, body: unknown) {
  const { secret, deviceId } = device;
  const path = `/v3/capture?${new URLSearchParams({ secret, deviceId }).toString()}`;
  const headers = { 'content-type': 'application/json' };
  return checkedFetch(addressOf(node), 'POST', path, headers, body);
}

/** The samples that the node itself has stored. */
const storedBy = async (node: World) => {
  const headers = { 'x-api-key': node.apiKey };
  const answer = await fetch(`${addressOf(node)}/metrics`, { headers });
  const line = /^heliograph_partitions_held (\d+)$/m.exec(await answer.text());
  return Number(line?.[1]);
};

test('each node serves half of the partitions', async () => {
  for (const node of cluster.nodes) await expect.poll(() => storedBy(node)).toBe(32);
  expect(new Set((await holdersOf(cluster)).values()).size).toBe(2);
});

test('uplinks of a device that reach both nodes keep their order, and one decoder state', async () => {
  for (let round = 0; round < 3; round++)
    for (const device of devices)
      for (const node of cluster.nodes)
        expect(await capture(node, device, { round })).toMatchObject({ status: 201 });
  for (const { id } of devices) {
    for (let node = 0; node < 2; node++) {
      const samples = await world.must('POST', `/v3/devices/${id}/query`, { limit: 10 });
      const values = samples.map(({ data }: { data: { n: number } }) => data.n);
      expect(values).toEqual([6, 5, 4, 3, 2, 1]);
    }
  }
});

test('uplinks over CoAP reach the owner from both nodes', async () => {
  for (const { secret, deviceId } of devices)
    for (const port of cluster.coapPorts) {
      const answer = await askCoap(port, { query: { secret, deviceId }, body: '{"coap":true}' });
      expect(answer.code).toBe('2.01');
    }
  for (const { id } of devices) {
    const [sample] = await world.must('POST', `/v3/devices/${id}/query`, { limit: 1 });
    expect(sample.data).toEqual({ n: 8 });
  }
});

describe('a forwarded request is answered as a direct one', () => {
  test.each<[string, string, string, unknown]>([
    ['an unknown device', 'GET', '/v3/devices/00000000-0000-4000-8000-000000000009', undefined],
    ['an invalid body', 'POST', '/v3/devices/DEVICE/query', { limit: 'x' }],
    ['a wrong method', 'PUT', '/v3/devices/DEVICE/query', {}],
    ['a device', 'GET', '/v3/devices/DEVICE', undefined],
    ['events', 'GET', '/v3/devices/DEVICE/events', undefined],
  ])('%s', async (_, method, pattern, body) => {
    for (const { id } of devices.slice(0, 4)) {
      const path = pattern.replace('DEVICE', id);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { 'x-api-key': world.apiKey, ...type };
      const answers = await Promise.all(
        cluster.nodes.map((node) => checkedFetch(addressOf(node), method, path, headers, body)),
      );
      const [one, other] = answers.map(({ status, body: answer }) => ({
        status,
        answer: { ...answer, timestamp: '', errorId: '', requestId: '', traceId: '' },
      }));
      expect(other).toEqual(one);
    }
  });

  test('without a credential', async () => {
    for (const node of cluster.nodes)
      for (const { id } of devices) {
        const answer = await fetch(`${addressOf(node)}/v3/devices/${id}`);
        expect(answer.status).toBe(401);
      }
  });
});

test('an uplink sent to another node is answered as by its owner', async () => {
  const sent: readonly (readonly [string, number, string | Uint8Array<ArrayBuffer>, string])[] = [
    ['application/json', 201, '{"text":"Zürich – 東京"}', ''],
    ['application/json', 400, '{"broken', ''],
    ['application/octet-stream', 201, Uint8Array.from([123, 34, 195, 164, 34, 58, 49, 125]), ''],
    ['application/json', 400, '{}', '&timestamp=never'],
    // Too long to be passed on in a batch.
    ['application/json', 201, JSON.stringify({ text: 'x'.repeat(100_000) }), ''],
  ];
  const changing = new Set(['date', 'x-request-id', 'content-length', 'keep-alive', 'connection']);
  const senders = [];
  for (let n = 0; n < 4; n++) senders.push(await world.device({ name: `sender ${n}` }));
  for (const [type, status, body, query] of sent)
    for (const { secret, deviceId } of senders) {
      const answers = [];
      for (const node of cluster.nodes) {
        const path = `/v3/capture?${new URLSearchParams({ secret, deviceId }).toString()}${query}`;
        const headers = { 'content-type': type };
        const answer = await fetch(addressOf(node) + path, { method: 'POST', headers, body });
        expect([body, answer.status]).toEqual([body, status]);
        expect(answer.headers.get('x-request-id')).toMatch(/\S/);
        const text = (await answer.text())
          .replaceAll(/[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}/g, '')
          .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z?/g, '');
        answers.push({ text, names: [...answer.headers.keys()].filter((n) => !changing.has(n)) });
      }
      expect(answers[1]).toEqual(answers[0]);
    }
});

test('a long export passes through the other node', async () => {
  const [device] = devices;
  const samples = Array.from({ length: 20_000 }, (_, n) => ({
    timestamp: new Date(1_700_000_000_000 + n * 1_000).toISOString(),
    topic: 'history',
    data: { n },
  }));
  for (const node of cluster.nodes) {
    const headers = { 'x-api-key': world.apiKey, 'content-type': 'application/json' };
    const path = `/v3/devices/${device?.id}/backfill/bulk`;
    const stored = await checkedFetch(addressOf(node), 'POST', path, headers, samples);
    expect(stored.status).toBeLessThan(300);
    const exported = await fetch(
      `${addressOf(node)}/v3/devices/${device?.id}/export?topic=history&format=ndjson`,
      { headers },
    );
    expect((await exported.text()).trim().split('\n').length).toBeGreaterThanOrEqual(20_000);
  }
});

test('a device of a node that stops is served by the other one', async () => {
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error('two nodes');
  await second.platform.close('test');
  await expect.poll(() => storedBy(first), { timeout: 60_000 }).toBe(64);
  for (const device of devices) {
    expect(await capture(first, device, {})).toMatchObject({ status: 201 });
    const [sample] = await checkedFetch(
      ...([addressOf(first), 'POST', `/v3/devices/${device.id}/query`] as const),
      { 'x-api-key': world.apiKey, 'content-type': 'application/json' },
      { limit: 1 },
    ).then(({ body }) => body);
    // The state was written before the device moved.
    expect(sample.data).toEqual({ n: 9 });
  }
}, 240_000);
