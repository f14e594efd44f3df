// A session reaches every organization of its user, each with the roles there, and never mixes them (contract 36).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import {
  type AccessWorld,
  type Acting,
  addMember,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
let both: Acting;
let userId: string;
beforeAll(async () => {
  at = await startAccessWorld();
  const { base, owner, otherOwner, world, otherOrganizationId } = at;
  await addMember(
    base,
    owner,
    `/v3/organizations/${world.organizationId}`,
    'both@example.org',
    'VIEWER',
  );
  ({ userId } = await addMember(
    base,
    otherOwner,
    `/v3/organizations/${otherOrganizationId}`,
    'both@example.org',
    'EDITOR',
  ));
  both = await signIn(base, 'both@example.org', { organizationId: world.organizationId });
});
afterAll(() => at.close());

test('review behaviour 22: the place of a request says in which organization it acts, with the role there', async () => {
  const { world, otherOrganizationId: other, otherWorkspaceId: there } = at;
  expect((await both.must('GET', '/v3/auth/me')).organizationId).toBe(world.organizationId);
  const tag = { name: 'x', workspaceId: there };
  const made = await both.must('POST', '/v3/tags', tag);
  expect(
    (await both.call('POST', '/v3/tags', { ...tag, workspaceId: world.workspaceId })).status,
  ).toBe(403);
  expect((await both.must('GET', `/v3/tags/${made.id}`)).workspaceId).toBe(there);
  const listed = async (query: string) =>
    (await both.must('GET', `/v3/tags?${query}`)).content.length;
  expect([
    await listed(`workspaceId=${there}`),
    await listed(`organizationId=${other}`),
    await listed(''),
  ]).toEqual([1, 1, 0]);
  const ids = async (query: string) =>
    (await both.must('GET', `/v3/workspaces${query}`)).content.map((one: { id: string }) => one.id);
  expect(await ids(`?organizationId=${other}`)).toEqual([there]);
  expect(await ids('')).toContain(world.workspaceId);
  expect((await both.must('POST', '/v3/assets/list', { workspaceIds: [there] })).content).toEqual(
    [],
  );
  expect(
    await both.must('GET', `/v3/workspace-access?scope=ASSET&verb=UPDATE&organizationId=${other}`),
  ).toEqual({
    all: true,
    ids: [],
  });
  expect(await both.must('GET', '/v3/workspace-access?scope=ASSET&verb=UPDATE')).toEqual({
    all: false,
    ids: [],
  });
  expect((await both.call('GET', '/v3/workspaces?organizationId=2800000000000000')).status).toBe(
    404,
  );
});

test('review behaviour 22: what is of one organization is not taken for a part of another', async () => {
  const { world, otherWorkspaceId: there } = at;
  const own = await at.owner.must('POST', '/v3/tags', {
    name: 'own',
    workspaceId: world.workspaceId,
  });
  const connector = await both.must('POST', '/v3/device-connectors', {
    name: 'c',
    workspaceId: there,
    connectivity: 'HTTP',
  });
  const flow = await both.must('POST', '/v3/data-flows', {
    name: 'f',
    workspaceId: there,
    deviceConnector: { id: connector.id },
  });
  const device = {
    name: 'd',
    deviceId: 'd',
    workspaceId: there,
    dataFlowId: flow.id,
    connectivity: 'HTTP',
  };
  expect(
    (await both.call('POST', '/v3/devices', { ...device, tags: [{ id: own.id }] })).status,
  ).toBe(400);
  const { id } = await both.must('POST', '/v3/devices', device);
  const moved = {
    workspaceId: there,
    deviceIds: [id],
    targetWorkspaceId: world.workspaceId,
    dataFlowId: flow.id,
  };
  expect((await both.call('POST', '/v3/devices/bulk/move', moved)).status).toBeGreaterThanOrEqual(
    400,
  );
  const here = await at.world.device();
  const kpi = {
    topic: 'default',
    dataKey: 'a',
    accumulator: 'MAX',
    interval: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  };
  const answered = await at.owner.must('POST', '/v3/devices/query/batch/raw/kpi', {
    ...kpi,
    deviceIds: [here.id, id],
  });
  expect(JSON.stringify(answered)).toContain(here.id);
  expect(JSON.stringify(answered)).not.toContain(id);
  const mixed = `workspaceIds=${there}&workspaceIds=${world.workspaceId}`;
  expect((await both.call('GET', `/v3/tags?${mixed}`)).status).toBe(404);
});

test('who leaves one organization stays in the other, and reaches the first no more', async () => {
  const { otherOrganizationId: other, otherWorkspaceId: there } = at;
  await at.otherOwner.must('DELETE', `/v3/organizations/${other}/members/${userId}`);
  expect((await both.call('GET', `/v3/tags?workspaceId=${there}`)).status).toBe(404);
  expect((await both.call('GET', '/v3/auth/me')).status).toBe(200);
});

test('contract 36: a deviceId is unique in its organization, not in the installation', async () => {
  const { otherOrganizationId: other, otherWorkspaceId: workspaceId, otherOwner } = at;
  const here = await at.world.device();
  const connector = { name: 'same id', workspaceId, connectivity: 'HTTP' };
  const { id, uplinkSecret } = await otherOwner.must('POST', '/v3/device-connectors', connector);
  const flow = await otherOwner.must('POST', '/v3/data-flows', {
    name: 'same id',
    workspaceId,
    deviceConnector: { id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: true,
  });
  const device = {
    name: 'same',
    deviceId: here.deviceId,
    workspaceId,
    dataFlowId: flow.id,
    connectivity: 'HTTP',
  };
  const there = await otherOwner.must('POST', '/v3/devices', device);
  expect([there.deviceId, there.organizationId]).toEqual([here.deviceId, other]);
  const again = await otherOwner.call('POST', '/v3/devices', device);
  expect([again.status, again.body.errorCode]).toEqual([409, '40900_DEVICE_ID_NOT_UNIQUE']);
  // The secret says whose device is meant.
  await at.world.capture(here, { from: 'here' });
  await at.world.capture({ ...here, secret: uplinkSecret }, { from: 'there' });
  const latest = async (reader: Acting, device: string) =>
    (await reader.must('GET', `/v3/devices/${device}/query/latest-sample`)).data;
  expect(await latest(at.owner, here.id)).toEqual({ from: 'here' });
  expect(await latest(otherOwner, there.id)).toEqual({ from: 'there' });
});
