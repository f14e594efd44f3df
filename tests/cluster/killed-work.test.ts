// Killed work: an operation of a node that is killed is continued by the next one.
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseOfOperation } from '../../src/leases/work-leases.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { createWhere } from '../world/different.ts';
import type { NodeProcess } from '../world/node-process.ts';
import type { World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
/** The node that each test kills. */
let killed: NodeProcess;
/** The leases that it has. */
let held: ReadonlySet<string>;
const leaseShare = 40;

beforeEach(async () => {
  cluster = await startCluster();
  world = cluster.world;
  killed = await cluster.addProcess();
  const leases = () => leasesBesides(cluster.nodeUrls);
  await expect
    .poll(
      async () => {
        held = await leases();
        return [...held].filter((name) => !name.startsWith('devices/')).length;
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(leaseShare);
}, 180_000);
afterEach(async () => {
  await cluster.close();
}, 60_000);

async function ask<T extends pg.QueryResultRow>(
  statement: string,
  values: readonly unknown[],
): Promise<readonly T[]> {
  const client = new pg.Client({ connectionString: cluster.recordsUrl });
  await client.connect();
  try {
    return (await client.query<T>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** The leases at nodes with other addresses. */
async function leasesBesides(urls: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await ask<{ name: string }>(
    `select "leases"."name" from "leases" join "nodes" on "nodes"."id" = "leases"."node"
     where not "nodes"."url" = any($1)`,
    [urls],
  );
  return new Set(rows.map(({ name }) => name));
}

test('an operation of the killed node is completed by the next one, each device once', async () => {
  const { dataFlowId } = await world.device();
  const { workspaceId } = world;
  const perOperation = 60;
  let created = 0;
  const operation = await createWhere(
    (id: string) => held.has(leaseOfOperation(id)),
    async (number) => {
      created += perOperation;
      const devices = Array.from({ length: perOperation }, (_, place) => ({
        ...{ name: `device ${number} ${place}`, deviceId: `made-${number}-${place}` },
        ...{ workspaceId, dataFlowId },
      }));
      const answer = await world.must('POST', '/v3/devices/bulk/create', { workspaceId, devices });
      return String(answer.id);
    },
  );
  await killed.kill();
  const state = () => world.must('GET', `/v3/operations/${operation}`);
  await expect
    .poll(state, { timeout: 120_000 })
    .toMatchObject({ actionsCompleted: perOperation, actionsFailed: 0, succeeded: true });
  const counted = () =>
    ask<{ n: number }>('select count(*)::int as n from "devices" where "deviceId" like $1', [
      'made-%',
    ]);
  await expect.poll(counted, { timeout: 120_000 }).toEqual([{ n: created }]);
}, 300_000);
