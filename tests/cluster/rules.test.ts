// Rules on several nodes: one node evaluates a workspace, with the samples of all, and the next one continues.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseOfWorkspace } from '../../src/cluster/leases/leases.ts';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { createDifferent } from '../world/different.ts';
import type { TestDevice, World } from '../world/world.ts';

interface Place {
  readonly workspaceId: string;
  readonly devices: readonly TestDevice[];
}

let cluster: TestCluster;
let world: World;
let sink: ActionSink;
let places: readonly Place[];

beforeAll(async () => {
  sink = await startActionSink();
  cluster = await startCluster({ environment: sinkEnvironment });
  world = cluster.world;
  const workspaceIds = await createDifferent(4, leaseOfWorkspace, async (number) => {
    const body = { name: `place ${number}`, organizationId: world.organizationId };
    return String((await world.must('POST', '/v3/workspaces', body)).id);
  });
  places = await Promise.all(
    workspaceIds.map(async (workspaceId) => {
      const devices: TestDevice[] = [];
      for (const n of [1, 2, 3])
        devices.push(await world.device({ workspaceId, name: `meter ${workspaceId} ${n}` }));
      return { workspaceId, devices };
    }),
  );
  for (const place of places) {
    await addRule(place, `every ${place.workspaceId}`, true);
    await addRule(place, `change ${place.workspaceId}`, false);
  }
}, 240_000);
afterAll(async () => {
  await cluster.close();
  await sink.close();
});

/** Fires for temperatures above 20 of any device of the place. */
async function addRule({ workspaceId, devices }: Place, name: string, always: boolean) {
  const more = { workspaceId, ...(always && { sendConsecutiveAlerts: true }) };
  const actionId = await sink.action(world, name, more);
  const ids = devices.map(({ id }) => id);
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's1' };
  const operandSecond = { type: 'CONSTANT', value: 20 };
  const conditions = [{ operandFirst, operator: 'GT', operandSecond, order: 0 }];
  await world.must('POST', '/v3/rules', {
    name,
    workspaceId,
    inputs: ids.map((id) => ({ id, type: 'DEVICE' })),
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 's1',
          inputIds: ids,
          dataTopic: 'default',
          dataKey: 'temperature',
          valueType: 'NUMERICAL',
          lastSample: false,
          triggerOnUplink: false,
        },
      ],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  });
}

async function send(temperature: number, addresses: readonly string[]) {
  let turn = 0;
  for (const { devices } of places)
    for (const { secret, deviceId } of devices) {
      const path = `/v3/capture?${new URLSearchParams({ secret, deviceId }).toString()}`;
      const address = addresses[turn++ % addresses.length] ?? '';
      const headers = { 'content-type': 'application/json' };
      const answer = await checkedFetch(address, 'POST', path, headers, { temperature });
      expect(answer).toMatchObject({ status: 201 });
    }
}

const addressesOf = () => cluster.nodes.map((node) => `http://127.0.0.1:${node.platform.port}`);

/** Different ones: a delivery whose result was lost with its node is repeated. */
const arrived = (kind: string) =>
  places.map(({ workspaceId }) => {
    const bodies = sink.left(`${kind} ${workspaceId}`) as { deviceId: string; data: unknown }[];
    return new Set(bodies.map(({ deviceId, data }) => `${deviceId} ${JSON.stringify(data)}`)).size;
  });

const perPlace = (count: number) => places.map(() => count);

test('each sample is evaluated once, wherever its device and the rule are', async () => {
  for (const temperature of [30, 31, 10, 32]) await send(temperature, addressesOf());
  await expect.poll(() => arrived('every'), { timeout: 60_000 }).toEqual(perPlace(9));
  // From false to true, for each device.
  await expect.poll(() => arrived('change'), { timeout: 60_000 }).toEqual(perPlace(6));
}, 240_000);

test('after a kill of their node, the next one knows what held', async () => {
  const killed = await cluster.addProcess();
  const held = async () => {
    const answer = await fetch(`http://127.0.0.1:${killed.port}/metrics`, {
      headers: { 'x-api-key': world.apiKey },
    });
    return Number(/^heliograph_work_leases_held (\d+)$/m.exec(await answer.text())?.[1]);
  };
  await expect.poll(held, { timeout: 60_000 }).toBeGreaterThan(40);
  await send(33, addressesOf());
  await expect.poll(() => arrived('every'), { timeout: 60_000 }).toEqual(perPlace(12));
  await killed.kill();
  await send(34, addressesOf());
  await expect.poll(() => arrived('every'), { timeout: 60_000 }).toEqual(perPlace(15));
  // It was true before and after.
  expect(arrived('change')).toEqual(perPlace(6));
  for (const temperature of [5, 40]) await send(temperature, addressesOf());
  await expect.poll(() => arrived('change'), { timeout: 60_000 }).toEqual(perPlace(9));
  await expect.poll(() => arrived('every'), { timeout: 60_000 }).toEqual(perPlace(18));
}, 180_000);
