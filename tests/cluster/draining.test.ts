// Draining: a node that stops gives its devices away first, and a client that retries sees no refusal.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { placedWorkspaces } from '../world/placed-workspaces.ts';
import type { TestDevice, World } from '../world/world.ts';

let cluster: TestCluster;
let devices: readonly TestDevice[];
const count = `function consume(event) {
  const state = { n: (event.state?.n ?? 0) + 1 };
  emit('state', state);
  emit('sample', { data: { n: state.n } });
}`;

beforeAll(async () => {
  cluster = await startCluster();
  const { world } = cluster;
  const workspaceIds = await placedWorkspaces(cluster, 6);
  devices = await Promise.all(
    workspaceIds.map((workspaceId) =>
      world.device({ workspaceId, name: `device ${workspaceId}`, script: count }),
    ),
  );
}, 240_000);
afterAll(() => cluster.close());

const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

async function partitionsOf(node: World): Promise<number> {
  const answer = await fetch(`${addressOf(node)}/metrics`);
  return Number(/^heliograph_partitions_held (\d+)$/m.exec(await answer.text())?.[1]);
}

/** The status; 0 without an answer, as from a node that has stopped. */
async function capture(node: World, { secret, deviceId }: TestDevice): Promise<number> {
  const query = new URLSearchParams({ secret, deviceId });
  const headers = { 'content-type': 'application/json' };
  const url = `${addressOf(node)}/v3/capture?${query.toString()}`;
  const sent = fetch(url, { method: 'POST', headers, body: '{}' });
  return sent.then(
    ({ status }) => status,
    () => 0,
  );
}

test('uplinks at both nodes are taken while one of them stops', async () => {
  const [staying, leaving] = cluster.nodes;
  if (staying === undefined || leaving === undefined) throw new Error('two nodes');
  const statuses = new Set<number>();
  const taken = new Map<string, number>();
  let isDone = false;
  /** One device, one uplink after the other; a node without an answer is not asked again. */
  async function send(device: TestDevice): Promise<void> {
    let nodes = [staying, leaving] as World[];
    for (let turn = 0; !isDone; turn++) {
      const node = nodes[turn % nodes.length] ?? staying;
      const status = await capture(node as World, device);
      if (status === 0) nodes = nodes.filter((one) => one !== node);
      else statuses.add(status);
      if (status === 201) taken.set(device.id, (taken.get(device.id) ?? 0) + 1);
    }
  }
  const sending = devices.map(send);
  await vi.waitFor(() => expect(taken.size).toBe(devices.length), { timeout: 60_000 });
  const readiness = async () => (await fetch(`${addressOf(leaving)}/health/ready`)).status;
  const stopped = leaving.platform.close('test');
  const whileDraining = await readiness();
  // On a busy machine, parts may take longer than closing waits for; the process ends all the same.
  await stopped.catch(() => undefined);
  await vi.waitFor(async () => expect(await partitionsOf(staying)).toBe(64), { timeout: 60_000 });
  const before = new Map(taken);
  await vi.waitFor(
    () => {
      for (const [id, n] of before) expect(taken.get(id)).toBeGreaterThan(n);
    },
    { timeout: 60_000 },
  );
  isDone = true;
  await Promise.all(sending);
  expect([...statuses]).toEqual([201]);
  expect(whileDraining).toBe(503);
  // The decoder state moved with each device: no acknowledged uplink is missing in it.
  for (const device of devices) {
    const query = await fetch(`${addressOf(staying)}/v3/devices/${device.id}/query`, {
      method: 'POST',
      body: '{"limit":5}',
      headers: { 'x-api-key': staying.apiKey, 'content-type': 'application/json' },
    });
    const samples = (await query.json()) as { data: { n: number } }[];
    const newest = Math.max(...samples.map(({ data }) => data.n));
    const acknowledged = taken.get(device.id) ?? 0;
    expect(newest).toBeGreaterThanOrEqual(acknowledged);
    expect(newest).toBeLessThanOrEqual(acknowledged + 1);
  }
}, 240_000);
