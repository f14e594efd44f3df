// Contract 18: devices that a line protocol sender names first are created in batches.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { processorMs } from '../../src/structures/testing-processor-time.ts';

const count = 2_000;

let world: World;
let secret: string;
let dataFlowId: string;
beforeAll(async () => {
  world = await startWorld();
  const names = { name: 'points', workspaceId: world.workspaceId };
  const connector = await world.must('POST', '/v3/device-connectors', {
    ...names,
    connectivity: 'HTTP',
    lineProtocol: { createDevices: { devicesMax: count + 1_000 } },
  });
  secret = connector.uplinkSecret;
  const flow = await world.must('POST', '/v3/data-flows', {
    ...names,
    passThrough: true,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  dataFlowId = flow.id;
});
afterAll(() => world.close());

const write = async (lines: readonly string[]) => {
  const answer = await fetch(`${world.base}/api/v2/write`, {
    method: 'POST',
    headers: { authorization: `Token ${secret}` },
    body: lines.join('\n'),
  });
  return { status: answer.status, text: await answer.text() };
};

/** Devices of the workspace whose id begins so. */
async function namesLike(start: string): Promise<string[]> {
  const path = `/v3/devices/export?format=csv&workspaceId=${world.workspaceId}`;
  const answer = await fetch(world.base + path, { headers: { 'x-api-key': world.apiKey } });
  return (await answer.text()).split('\n').filter((line) => line.includes(start));
}

/** Processor milliseconds of the work for each of so many. */
async function costMs(many: number, work: () => Promise<unknown>): Promise<number> {
  const before = processorMs();
  await work();
  return (processorMs() - before) / many;
}

test('review reliability 12: thousands of new devices of one request cost a part of as many single ones', async () => {
  const post = async (from: number, to: number) => {
    const { workspaceId } = world;
    for (let i = from; i < to; i++)
      await world.must('POST', '/v3/devices', {
        name: `single-${i}`,
        deviceId: `single-${i}`,
        workspaceId,
        dataFlowId,
      });
  };
  await post(0, 50);
  const single = await costMs(200, () => post(50, 250));
  const lines = Array.from({ length: count }, (_, i) => `m,device=new-${i} v=${i}`);
  let answer: Awaited<ReturnType<typeof write>> | undefined;
  const batched = await costMs(count, async () => {
    answer = await write(lines);
  });
  expect(answer).toEqual({ status: 204, text: '' });
  expect(batched).toBeLessThan(single / 5);
  expect(await namesLike('new-')).toHaveLength(count);
});

test('a name that is refused leaves the other new devices of its request', async () => {
  const lines = Array.from(
    { length: 120 },
    (_, i) => `m,device=${i === 60 ? 'x'.repeat(400) : `other-${i}`} v=1`,
  );
  const { status } = await write(lines);
  expect([204, 400]).toContain(status);
  expect(await namesLike('other-')).toHaveLength(119);
});
