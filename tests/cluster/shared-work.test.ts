// Work that one node does for all: divided between two nodes, and asked for at either of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workLeases } from '../../src/cluster/leases/lease-tasks.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import type { World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;

beforeAll(async () => {
  cluster = await startCluster();
  world = cluster.world;
}, 240_000);
afterAll(() => cluster.close());

const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

async function gaugeOf(node: World, name: string): Promise<number> {
  const headers = { 'x-api-key': node.apiKey };
  const answer = await fetch(`${addressOf(node)}/metrics`, { headers });
  const line = new RegExp(`^heliograph_${name} (\\d+)$`, 'm').exec(await answer.text());
  return Number(line?.[1]);
}

test('each lease of work is held by one node, and each node has half of them', async () => {
  const held = () => Promise.all(cluster.nodes.map((node) => gaugeOf(node, 'work_leases_held')));
  const half = workLeases.length / 2;
  await expect.poll(held, { timeout: 60_000 }).toEqual([half, half]);
});

test('operations that either node accepts are run once, on any of both', async () => {
  const { dataFlowId } = await world.device();
  const operations: string[] = [];
  for (let number = 0; number < 6; number++) {
    const node = cluster.nodes[number % 2];
    if (node === undefined) throw new Error('two nodes');
    const devices = Array.from({ length: 10 }, (_, place) => ({
      name: `device ${number} ${place}`,
      deviceId: `operation-${number}-${place}`,
      workspaceId: world.workspaceId,
      dataFlowId,
    }));
    const answer = await checkedFetch(
      ...([addressOf(node), 'POST', '/v3/devices/bulk/create'] as const),
      { 'x-api-key': node.apiKey, 'content-type': 'application/json' },
      { workspaceId: world.workspaceId, devices },
    );
    expect(answer).toMatchObject({ status: 202 });
    operations.push(answer.body.id);
  }
  for (const id of operations)
    await expect
      .poll(() => world.must('GET', `/v3/operations/${id}`), { timeout: 60_000 })
      .toMatchObject({ actionsCompleted: 10, actionsFailed: 0, succeeded: true });
}, 240_000);
