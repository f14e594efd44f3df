// Killed work: operations and rules with scripts of a node that is killed are continued by the next one.
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseOfWorkspace } from '../../src/cluster/leases/leases.ts';
import { leaseOfOperation } from '../../src/cluster/leases/lease-tasks.ts';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { temperatureOf } from '../world/alarm-rules.ts';
import { type AddedNode, startCluster, type TestCluster } from '../world/cluster.ts';
import { createWhere } from '../world/different.ts';
import type { TestDevice, World } from '../world/world.ts';

let cluster: TestCluster;
let sink: ActionSink;
let world: World;
/** The node that each test kills. */
let killed: AddedNode;
/** The leases that it has. */
let held: ReadonlySet<string>;
const leaseShare = 40;

beforeEach(async () => {
  sink = await startActionSink();
  cluster = await startCluster({ environment: sinkEnvironment });
  world = cluster.world;
  killed = await cluster.addProcess();
  const leases = () => leasesBesides(cluster.nodeUrls);
  await expect
    .poll(
      async () => {
        held = await leases();
        return held.size;
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(leaseShare);
}, 180_000);
afterEach(async () => {
  await cluster.close();
  await sink.close();
}, 240_000);

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
        name: `device ${number} ${place}`,
        deviceId: `made-${number}-${place}`,
        workspaceId,
        dataFlowId,
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

/** Counts the samples of the device in its state; each run sends the number. */
async function addCountingRule(workspaceId: string, { id }: TestDevice): Promise<void> {
  const customPayload = '{"n": {{result.n}}, "sent": {{result.sent}}}';
  const actionId = await sink.action(world, 'counted', {
    workspaceId,
    sendConsecutiveAlerts: true,
    useCustomPayload: true,
    customPayload,
  });
  const script = `function consume(event) {
    const n = (event.state.n || 0) + 1;
    emit('state', { n });
    emit('action', { n, sent: event.inputs.temperature });
  }`;
  const block = { organizationId: world.organizationId, name: 'Count', script };
  const { id: customLogicId } = await world.must('POST', '/v3/rules/custom', block);
  await world.must('POST', '/v3/rules', {
    name: 'Count',
    workspaceId,
    inputs: [{ id, type: 'DEVICE' }],
    logic: {
      type: 'CUSTOM_LOGIC',
      dataSources: [temperatureOf(id)],
      customLogic: { customLogicId, actionIds: [actionId] },
    },
    actions: [{ id: actionId }],
  });
}

test('samples right after a new rule run its script once and in order, although its node is killed and starts again', async () => {
  const captures = 30;
  const workspaceId = await createWhere(
    (id: string) => held.has(leaseOfWorkspace(id)),
    async (number) => {
      const body = { name: `place ${number}`, organizationId: world.organizationId };
      return String((await world.must('POST', '/v3/workspaces', body)).id);
    },
  );
  const device = await world.device({ workspaceId, name: 'meter' });
  await addCountingRule(workspaceId, device);
  const sent = Array.from({ length: captures }, (_, number) => number + 1);
  for (const temperature of sent)
    expect(await world.capture(device, { temperature })).toMatchObject({ status: 201 });
  await killed.kill();
  // What it had not evaluated is in its journal.
  await cluster.addProcess({ directory: killed.directory });
  // A delivery whose result was lost with its node is repeated.
  const counted = () => new Set(sink.left('counted').map((body) => JSON.stringify(body)));
  const expected = new Set(sent.map((n) => JSON.stringify({ n, sent: n })));
  await expect.poll(counted, { timeout: 120_000 }).toEqual(expected);
}, 300_000);
