// Contract 37: a demo workspace at any time, which is deleted with all that is in it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

const path = '/v3/workspaces/demo';
const totalOf = async (list: string): Promise<number> =>
  (await at.owner.must('GET', list)).totalElements;

test('is created in the name of the caller, once, sends, and goes without a trace', {
  timeout: 240_000,
}, async () => {
  const { owner, world } = at;
  const { organizationId } = world;
  const typeList = `/v3/device-types?organizationId=${organizationId}&types=manual`;
  const typesBefore = await totalOf(typeList);
  const [demo, again] = await Promise.all([
    owner.must('POST', path, { organizationId }),
    owner.must('POST', path),
  ]);
  expect(demo).toMatchObject({ name: 'Demo', organizationId });
  expect(again.id).toBe(demo.id);
  const within = `workspaceId=${demo.id}`;
  const devices = await owner.must('GET', `/v3/assets?${within}&size=1000`);
  expect(devices.totalElements).toBeGreaterThan(20);
  expect(await totalOf(typeList)).toBeGreaterThan(typesBefore);
  // The history arrives by the real decoders.
  const deviceIds = devices.content.map(({ id }: { id: string }) => id);
  const withSamples = async () => {
    const page = await owner.must('POST', '/v3/devices/query/latest', { deviceIds });
    return page.content.filter(({ samples }: { samples: object[] }) => samples.length > 0).length;
  };
  await expect.poll(withSamples, { timeout: 60_000, interval: 100 }).toBeGreaterThan(10);
  const audit = await owner.must('GET', `/v3/audit-logs?${within}&resourceType=DEVICE`);
  expect(audit.content[0].actor).toMatchObject({ type: 'USER', name: 'Administrator' });

  await owner.must('POST', '/v3/dashboards', { name: 'Mine', workspaceId: demo.id });
  const partial = await at.key({ permissions: { workspace: ['read', 'delete'] } });
  expect((await partial.call('DELETE', `/v3/workspaces/${demo.id}`)).status).toBe(403);
  await owner.must('DELETE', `/v3/workspaces/${demo.id}`);
  expect((await owner.call('GET', `/v3/workspaces/${demo.id}`)).status).toBe(404);
  expect((await owner.call('GET', `/v3/devices/${deviceIds[0]}`)).status).toBe(404);
  expect(await totalOf(typeList)).toBe(typesBefore);
  expect(await totalOf(`/v3/assets?organizationId=${organizationId}`)).toBe(0);
  const next = await owner.must('POST', path, { organizationId });
  expect(next.id).not.toBe(demo.id);
  await owner.must('DELETE', `/v3/workspaces/${next.id}`);
});

test('needs all that it creates, and stays within the organization', async () => {
  const { otherOwner, otherOrganizationId, owner } = at;
  const creates = await at.key({ permissions: { workspace: ['create', 'read'] } });
  expect((await creates.call('POST', path, {})).status).toBe(403);
  const foreign = { organizationId: otherOrganizationId };
  expect((await owner.call('POST', path, foreign)).status).toBe(404);
  expect((await otherOwner.must('GET', '/v3/workspaces?search=Demo')).totalElements).toBe(0);
});

test('another workspace that is not empty is not deleted', async () => {
  const { owner, world } = at;
  await world.device();
  expect((await owner.call('DELETE', `/v3/workspaces/${world.workspaceId}`)).status).toBe(409);
});
