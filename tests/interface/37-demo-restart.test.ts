// Contract 37: a demo workspace after a restart sends again and has its rules.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulatedMark } from '../../src/model/workspace.ts';
import { startWorld, type World } from '../world/world.ts';

const path = '/v3/workspaces/demo';
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function samples(workspaceId: string): Promise<number> {
  const { samplesPerMinute } = await world.must('GET', `/v3/workspaces/${workspaceId}/overview`);
  return samplesPerMinute.reduce((sum: number, count: number) => sum + count, 0);
}

test('a workspace that is marked as simulated becomes the demo, and the demo sends again after a restart', {
  timeout: 240_000,
}, async () => {
  const { organizationId } = world;
  const made = await world.must('POST', '/v3/workspaces', {
    name: 'Demo',
    organizationId,
    properties: { ...simulatedMark },
  });
  const demo = await world.must('POST', path, { organizationId });
  expect(demo.id).toBe(made.id);
  await expect.poll(() => samples(demo.id), { timeout: 180_000 }).toBeGreaterThan(10);
  await world.platform.close('test');
  world = await startWorld({ directory: world.directory });
  const before = await samples(demo.id);
  await expect.poll(() => samples(demo.id), { timeout: 180_000 }).toBeGreaterThan(before + 10);
  // A request creates what is missing, also while the demo runs.
  expect((await world.must('POST', path, { organizationId })).id).toBe(demo.id);
  const within = `workspaceId=${demo.id}`;
  const { totalElements } = await world.must('GET', `/v3/assets?${within}&size=1`);
  expect(totalElements).toBeGreaterThan(20);
  await world.must('DELETE', `/v3/workspaces/${demo.id}`);
});

test('a demo that restarts while its history loads has its rules afterwards', {
  timeout: 240_000,
}, async () => {
  const { organizationId } = world;
  const demo = await world.must('POST', path, { organizationId });
  const within = `workspaceId=${demo.id}&size=1000`;
  const rules = async (): Promise<readonly { id: string; name: string; active: boolean }[]> =>
    (await world.must('GET', `/v3/rules?${within}`)).content;
  const [changed, waiting] = await rules();
  // A user decides otherwise.
  await world.must('PUT', `/v3/rules/${changed!.id}`, { description: 'Not now' });
  const { content } = await world.must('GET', `/v3/assets?${within}`);
  // The history of the others is short; that of a deleted device ends the loading.
  for (const { id, name } of content)
    if (!name.startsWith('Leak') && !name.endsWith('Cold Store'))
      await world.must('DELETE', `/v3/devices/${id}`);
  expect((await rules()).map(({ active }) => active)).toEqual([false, false]);
  await world.platform.close('test');
  world = await startWorld({ directory: world.directory });
  const isActive = async (id: string) => (await rules()).find((rule) => rule.id === id)?.active;
  await expect.poll(() => isActive(waiting!.id), { timeout: 180_000 }).toBe(true);
  expect(await isActive(changed!.id)).toBe(false);
  await world.must('DELETE', `/v3/workspaces/${demo.id}`);
});
