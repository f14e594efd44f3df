// Contract 37: what a retention that is not set yet would drop, before anything is dropped.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const dayMs = 86_400_000;
let world: World;
let device: TestDevice;
let keeping: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
  keeping = await world.device();
  const { id, version, name } = await world.must('GET', `/v3/data-flows/${keeping.dataFlowId}`);
  await world.must('PUT', `/v3/data-flows/${id}`, { id, version, name, retentionDays: 3_650 });
  for (const daysAgo of [100, 50, 1])
    for (const sender of [device, keeping]) {
      const timestamp = new Date(Date.now() - daysAgo * dayMs).toISOString();
      await world.capture(sender, { temperature: daysAgo }, { timestamp });
    }
});
afterAll(() => world.close());

const effect = (query: string) =>
  world.call('GET', `/v3/workspaces/${world.workspaceId}/retention-effect${query}`);

test('counts what is older, without data flows that keep longer', async () => {
  const { stored, expired } = (await effect('?retentionDays=30')).body;
  expect(stored.samples).toBe(6);
  // No sample is read: of a block that is partly older, a share counts.
  expect(expired.samples).toBeGreaterThanOrEqual(1);
  expect(expired.samples).toBeLessThanOrEqual(3);
  expect(expired.bytes).toBeGreaterThan(0);
  expect((await effect('')).body).toEqual({ stored, expired: { samples: 0, bytes: 0 } });
  expect((await effect('?retentionDays=0')).status).toBe(400);
  expect((await world.must('GET', '/v3/usage')).total.samples).toBe(6);
});
