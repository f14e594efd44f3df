// Contract 37: what each request changed in a workspace, for everyone who reads it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  type Fixtures,
  makeFixtures,
  signIn,
  startAccessWorld,
} from '../access/access-world.ts';

interface Shown {
  readonly id: string;
  readonly requestId: string;
  readonly total: number;
  readonly actor: { readonly type: string; readonly name: string };
  readonly changes: readonly object[];
  readonly records: readonly { readonly resourceId: string }[];
}

let at: AccessWorld;
let own: Fixtures;
let viewer: Acting;
beforeAll(async () => {
  at = await startAccessWorld();
  own = await makeFixtures(at.owner, at.world.workspaceId, 'own');
  const where = `/v3/workspaces/${own.workspace}`;
  await addMember(at.base, at.owner, where, 'viewer@example.org', 'VIEWER');
  viewer = await signIn(at.base, 'viewer@example.org');
}, 240_000);
afterAll(() => at.close());

async function activity(who: Acting, query = ''): Promise<readonly Shown[]> {
  const path = `/v3/activity?workspaceId=${own.workspace}&size=100${query}`;
  return (await who.must('GET', path)).content;
}

test('an import of many devices is one activity of its caller', async () => {
  const devices = Array.from({ length: 25 }, (_, n) => ({
    name: `device ${n}`,
    deviceId: `device-${n}`,
    dataFlowId: own.dataFlow,
  }));
  await at.owner.must('POST', '/v3/devices/bulk/create', { workspaceId: own.workspace, devices });
  const made = { action: 'CREATE', resourceType: 'DEVICE', count: 25 };
  const newest = async () => (await activity(viewer))[0]!;
  await expect.poll(async () => (await newest()).changes, { timeout: 60_000 }).toEqual([made]);
  const { records, actor, total } = await newest();
  expect(actor).toMatchObject({ type: 'USER', name: 'Administrator' });
  expect(records).toHaveLength(10);
  expect(total).toBe(25);
  expect(JSON.stringify(await activity(viewer))).not.toContain('OPERATION');
});

test('names what changed, newest first, without values and addresses', async () => {
  const { owner } = at;
  await owner.must('PUT', `/v3/tags/${own.tag}`, { color: '#123456' });
  await owner.must('PUT', `/v3/rules/${own.rule}`, { name: 'Renamed' });
  const [rule, tag] = await activity(viewer);
  expect(rule).toMatchObject({
    workspaceId: own.workspace,
    total: 1,
    changes: [{ action: 'UPDATE', resourceType: 'RULE', count: 1 }],
    records: [
      { action: 'UPDATE', resourceType: 'RULE', resourceId: own.rule, resourceName: 'Renamed' },
    ],
  });
  expect(tag?.changes).toEqual([{ action: 'UPDATE', resourceType: 'TAG', count: 1 }]);
  expect(JSON.stringify(await activity(viewer))).not.toMatch(/123456|127\.0\.0\.1/);
});

test('a request id finds what its request changed', async () => {
  const [newest] = await activity(viewer);
  const found = await activity(viewer, `&requestId=${newest?.requestId}`);
  expect(found).toEqual([newest]);
  expect(await activity(viewer, '&requestId=unknown')).toEqual([]);
});

test('pages, and narrows by time and actor', async () => {
  const all = await activity(viewer);
  const path = `/v3/activity?workspaceId=${own.workspace}`;
  const page = await viewer.must('GET', `${path}&size=2&page=1`);
  expect(page.content.map(({ id }: Shown) => id)).toEqual(all.slice(2, 4).map(({ id }) => id));
  expect(page.totalElements).toBe(all.length);
  expect(await activity(viewer, '&actorId=5200000000000000')).toEqual([]);
  expect(await activity(viewer, '&from=2100-01-01T00:00:00Z')).toEqual([]);
  expect(await activity(viewer, '&to=2100-01-01T00:00:00Z')).toHaveLength(all.length);
  expect((await viewer.call('GET', `${path}&from=tomorrow`)).status).toBe(400);
});

test('shows only changes of records that the caller reads', async () => {
  const workspaces = [{ id: own.workspace }];
  const key = await at.key({ permissions: { workspace: ['read'], rule: ['read'] }, workspaces });
  const shown = await activity(key);
  expect(shown.length).toBeGreaterThan(0);
  expect(JSON.stringify(shown)).not.toMatch(/DEVICE|TAG|FLOW|DASHBOARD/);
  expect(shown.every(({ total }) => total > 0)).toBe(true);
  const elsewhere = `/v3/activity?workspaceId=${at.secondWorkspaceId}`;
  expect((await key.call('GET', elsewhere)).status).toBe(403);
  expect((await viewer.call('GET', elsewhere)).status).toBe(403);
  expect((await viewer.call('GET', '/v3/activity')).status).toBe(403);
  expect((await at.otherOwner.call('GET', elsewhere)).status).toBe(404);
});

test('callers with the same request id are kept apart', async () => {
  const key = await at.key();
  const named = { 'x-request-id': 'shared-request-id' };
  const path = `/v3/tags/${own.tag}`;
  for (const who of [at.owner, key, at.owner])
    expect((await who.call('PUT', path, { color: '#111111' }, named)).status).toBe(200);
  const joined = (await activity(viewer)).filter(
    ({ requestId }) => requestId === 'shared-request-id',
  );
  expect(joined.map(({ actor, total }) => [actor.type, total]).sort()).toEqual([
    ['API_KEY', 1],
    ['USER', 2],
  ]);
});

test('private views are not shown, and a deleted workspace keeps nothing', async () => {
  const { owner, world } = at;
  const { organizationId } = world;
  const made = await owner.must('POST', '/v3/workspaces', { name: 'Short', organizationId });
  await owner.must('POST', '/v3/views', { name: 'secret name', kind: 'x', workspaceId: made.id });
  const all = await owner.must('GET', `/v3/activity?workspaceId=${made.id}`);
  expect(JSON.stringify(all.content)).not.toContain('secret name');
  await owner.must('DELETE', `/v3/workspaces/${made.id}`);
  const everywhere = await owner.must('GET', '/v3/activity?size=1000');
  expect(JSON.stringify(everywhere)).not.toContain(made.id);
});
