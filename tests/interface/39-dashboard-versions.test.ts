// Contract 39: versions of dashboards, and the dashboard of a device type.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, actingBy, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
let workspaceId: string;

beforeAll(async () => {
  at = await startAccessWorld();
  ({ workspaceId } = at.world);
});

afterAll(() => at.world.close());

const tile = (text: string) => ({
  schema: 'heliograph-dashboard',
  version: 1,
  tiles: [{ id: 'a', kind: 'text', x: 0, y: 0, width: 12, height: 2, text }],
});

function createDashboard(fields: object) {
  return at.owner.must('POST', '/v3/dashboards', { workspaceId, name: 'Hall', ...fields });
}

test('each create and update is a version, and one of them is restored as it was', async () => {
  const { owner } = at;
  const group = await owner.must('POST', '/v3/dashboard-groups', { workspaceId, name: 'Halls' });
  const { id } = await createDashboard({ configuration: tile('first'), description: 'Old' });
  const path = `/v3/dashboards/${id}`;
  await owner.must('PUT', path, { name: 'Hall 2', description: null, groupId: group.id });
  await owner.must('PUT', path, { configuration: tile('third') });
  const listed = await owner.must('GET', `${path}/versions`);
  expect(listed.content).toEqual(
    ['Hall 2', 'Hall 2', 'Hall'].map((name, i) => ({
      version: 2 - i,
      at: expect.stringMatching(/^20..-/),
      by: { type: 'USER', id: expect.stringMatching(/^52/), name: expect.any(String) },
      name,
      bytes: expect.any(Number),
    })),
  );
  expect((await owner.must('GET', `${path}/versions?page=1&size=2`)).content).toHaveLength(1);
  expect(await owner.must('GET', `${path}/versions/0`)).toMatchObject({
    id,
    name: 'Hall',
    description: 'Old',
    groupId: null,
    configuration: tile('first'),
    version: 0,
  });
  const restore = `${path}/versions/0/restore`;
  expect((await owner.call('POST', restore, { version: 1 })).status).toBe(409);
  const restored = {
    name: 'Hall',
    description: 'Old',
    groupId: group.id,
    configuration: tile('first'),
    version: 3,
  };
  expect(await owner.must('POST', restore, { version: 2 })).toMatchObject(restored);
  expect(await owner.must('GET', path)).toMatchObject(restored);
  expect((await owner.call('GET', `${path}/versions/9`)).status).toBe(404);
  expect((await owner.call('POST', `${path}/versions/9/restore`)).status).toBe(404);
});

test('the 50 newest versions are kept, and none after the dashboard', async () => {
  const { owner } = at;
  const { id } = await createDashboard({});
  const path = `/v3/dashboards/${id}`;
  for (let i = 1; i <= 60; i += 1) await owner.must('PUT', path, { name: `Name ${i}` });
  const { content, totalElements } = await owner.must('GET', `${path}/versions?size=100`);
  expect([totalElements, content[0].version, content.at(-1).version]).toEqual([50, 60, 11]);
  expect((await owner.call('GET', `${path}/versions/10`)).status).toBe(404);
  await owner.must('DELETE', path);
  expect((await owner.call('GET', `${path}/versions`)).status).toBe(404);
});

test('a type has one dashboard in each workspace, which keeps the type', async () => {
  const { owner, world } = at;
  const { organizationId } = world;
  const type = await owner.must('POST', '/v3/device-types', { organizationId, name: 'Meter' });
  const deviceTypeId = type.id;
  const { id } = await createDashboard({ deviceTypeId });
  expect(await owner.must('GET', `/v3/dashboards/${id}`)).toMatchObject({ deviceTypeId });
  const second = await owner.call('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Second',
    deviceTypeId,
  });
  expect([second.status, second.body.errorCode]).toEqual([409, '40909_TYPE_DASHBOARD_EXISTS']);
  expect(second.body.message).toContain(id);
  const elsewhere = { workspaceId: at.secondWorkspaceId, name: 'Meter', deviceTypeId };
  await owner.must('POST', '/v3/dashboards', elsewhere);
  const list = `/v3/dashboards?workspaceId=${workspaceId}&deviceTypeId=${deviceTypeId}`;
  expect((await owner.must('GET', list)).content.map((one: { id: string }) => one.id)).toEqual([
    id,
  ]);
  const deleted = await owner.call('DELETE', `/v3/device-types/${deviceTypeId}`);
  expect([deleted.status, deleted.body.errorCode]).toEqual([409, '40902_IN_USE']);
  const other = await createDashboard({});
  const taken = await owner.call('PUT', `/v3/dashboards/${other.id}`, { deviceTypeId });
  expect(taken.status).toBe(409);
  await owner.must('PUT', `/v3/dashboards/${id}`, { deviceTypeId: null });
  await owner.must('PUT', `/v3/dashboards/${other.id}`, { deviceTypeId });
  const unknown = { workspaceId, name: 'x', deviceTypeId: 'none' };
  expect((await owner.call('POST', '/v3/dashboards', unknown)).body.message).toContain(
    'deviceTypeId',
  );
});

test('a version of a shared dashboard is restored only by those who may read devices', async () => {
  const { owner, world } = at;
  const { id } = await createDashboard({ configuration: tile('first') });
  await owner.must('PUT', `/v3/dashboards/${id}`, { configuration: tile('second') });
  await owner.must('POST', `/v3/dashboards/${id}/share`, {});
  const { secret } = await owner.must('POST', '/v3/api-keys', {
    name: 'Dashboards alone',
    organizationId: world.organizationId,
    permissions: { dashboard: ['read', 'update'] },
  });
  const editor = actingBy(at.base, { 'x-api-key': secret });
  const path = `/v3/dashboards/${id}`;
  await editor.must('PUT', path, { name: 'Renamed' });
  expect((await editor.call('POST', `${path}/versions/0/restore`)).status).toBe(403);
  expect(await owner.must('POST', `${path}/versions/0/restore`)).toMatchObject({ name: 'Hall' });
});
