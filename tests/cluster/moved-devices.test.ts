// Moved devices: a device that changes its workspace gets another owner, which continues its order, state and status.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { placedWorkspaces } from '../world/placed-workspaces.ts';
import type { TestDevice, World } from '../world/world.ts';

const count = `function consume(event) {
  const state = { n: (event.state?.n ?? 0) + 1 };
  emit('state', state);
  emit('sample', { data: { n: state.n, sent: event.data.sent } });
}`;
const moves = 6;
let tags = 0;

describeWith(clickhouse, 'devices that change their workspace', () => {
  const server = startedBefore(startClickHouse);
  let cluster: TestCluster;
  let world: World;
  let records: pg.Client;
  /** One at each node. */
  let workspaceIds: readonly string[];
  /** Data flows of the workspaces, with the same decoder, and the secrets of their connectors. */
  let flows: readonly TestDevice[];

  beforeAll(async () => {
    cluster = await startCluster({
      environment: { SAMPLES_URL: `${server().url}/moved_${process.pid}` },
    });
    ({ world } = cluster);
    records = new pg.Client({ connectionString: cluster.recordsUrl });
    await records.connect();
    workspaceIds = await placedWorkspaces(cluster, 2);
    const made: TestDevice[] = [];
    for (const workspaceId of workspaceIds)
      made.push(await world.device({ workspaceId, name: `flow ${workspaceId}`, script: count }));
    flows = made;
  }, 240_000);
  afterAll(async () => {
    await records.end();
    await cluster.close();
  });

  const addressOf = (node: World) => `http://127.0.0.1:${node.platform.port}`;

  function capture(node: World, secret: string, deviceId: string, sent: number) {
    const path = `/v3/capture?${new URLSearchParams({ secret, deviceId }).toString()}`;
    const headers = { 'content-type': 'application/json' };
    return checkedFetch(addressOf(node), 'POST', path, headers, { sent });
  }

  interface Stored {
    readonly state: number;
    readonly lastUplinkAt: number;
  }

  /** What the records have of the device. */
  async function storedOf(id: string): Promise<Stored> {
    const { rows } = await records.query<{ state: string; at: string }>(
      `select "deviceState"."state", "deviceStatus"."lastUplinkAt" as "at"
       from "deviceState" join "deviceStatus" using ("deviceId") where "deviceId" = $1`,
      [id],
    );
    const [row] = rows;
    return {
      state: row === undefined ? 0 : JSON.parse(row.state).n,
      lastUplinkAt: Number(row?.at),
    };
  }

  test('a device that goes from node to node and back keeps its order, its state and its status', async () => {
    const [flow] = flows;
    const { id, deviceId = '' } = flow ?? {};
    let sent = 0;
    let lastUplinkAt = 0;
    for (let move = 0; move <= moves; move++) {
      const { secret = '' } = flows[move % 2] ?? {};
      for (const node of [...cluster.nodes, ...cluster.nodes]) {
        sent += 1;
        expect(await capture(node, secret, deviceId, sent)).toMatchObject({ status: 201 });
      }
      // The former owner may write what it accepted, and the next one what is newer.
      await expect
        .poll(async () => (await storedOf(id ?? '')).state, { timeout: 60_000 })
        .toBe(sent);
      const stored = await storedOf(id ?? '');
      expect(stored.lastUplinkAt).toBeGreaterThan(lastUplinkAt);
      ({ lastUplinkAt } = stored);
      for (const node of cluster.nodes) {
        const headers = { 'x-api-key': world.apiKey, 'content-type': 'application/json' };
        const path = `/v3/devices/${id}/query`;
        const answer = await checkedFetch(addressOf(node), 'POST', path, headers, { limit: 100 });
        const values = answer.body.map(({ data }: { data: { n: number; sent: number } }) => data);
        const expected = Array.from({ length: sent }, (_, n) => ({ n: sent - n, sent: sent - n }));
        expect(values).toEqual(expected);
      }
      if (move < moves) await moveTo(id ?? '', (move + 1) % 2);
    }
  }, 240_000);

  async function moveTo(id: string, place: number): Promise<void> {
    const targetWorkspaceId = workspaceIds[place] ?? '';
    await world.must('POST', '/v3/devices/bulk/move', {
      workspaceId: workspaceIds[1 - place],
      deviceIds: [id],
      targetWorkspaceId,
      dataFlowId: flows[place]?.dataFlowId,
    });
    const placeOf = async () => (await world.must('GET', `/v3/devices/${id}`)).workspaceId;
    await expect.poll(placeOf, { timeout: 60_000 }).toBe(targetWorkspaceId);
    // The answer to a later change waits until the other nodes have read what came before.
    for (const node of cluster.nodes) {
      const headers = { 'x-api-key': world.apiKey, 'content-type': 'application/json' };
      const tag = { workspaceId: targetWorkspaceId, name: `moved ${(tags += 1)}` };
      const answer = await checkedFetch(addressOf(node), 'POST', '/v3/tags', headers, tag);
      expect(answer.status).toBe(201);
    }
  }
});
