// Contract 37: saved views, own ones and those shared with a workspace.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  signIn,
  startAccessWorld,
} from '../access/access-world.ts';

type People = Readonly<Record<'owner' | 'editor' | 'viewer' | 'other', Acting>>;

let at: AccessWorld;
let people: People;
beforeAll(async () => {
  at = await startAccessWorld();
  const { base, owner, world } = at;
  const member = async (role: string) => {
    const email = `${role}@example.org`;
    await addMember(base, owner, `/v3/workspaces/${world.workspaceId}`, email, role);
    return signIn(base, email);
  };
  people = {
    owner,
    editor: await member('EDITOR'),
    viewer: await member('VIEWER'),
    other: at.otherOwner,
  };
});
afterAll(() => at.close());

const path = '/v3/views';
const draft = (more: object = {}) => ({
  name: 'Low batteries',
  kind: 'devices',
  workspaceId: at.world.workspaceId,
  content: { filter: { field: 'battery', below: 30 }, columns: ['name'] },
  ...more,
});
const saved = (who: keyof People, more: object = {}) => people[who].must('POST', path, draft(more));
const namesOf = async (who: keyof People, query = '') => {
  const page = await people[who].must('GET', `${path}?workspaceId=${at.world.workspaceId}${query}`);
  return page.content.map(({ name }: { name: string }) => name);
};
const statusOf = async (who: keyof People, method: string, id: string, body?: object) =>
  (await people[who].call(method, `${path}/${id}`, body)).status;

test('a view keeps what was saved, and counts its versions', async () => {
  const made = await saved('viewer', { name: 'Mine' });
  expect(made).toMatchObject({
    ...draft({ name: 'Mine' }),
    organizationId: at.world.organizationId,
    shared: false,
    own: true,
    version: 0,
    description: null,
    updated: null,
  });
  const content = { deep: [1, { a: null }] };
  const changed = await people.viewer.must('PUT', `${path}/${made.id}`, { content, version: 0 });
  expect(changed).toMatchObject({ name: 'Mine', kind: 'devices', content, version: 1 });
  expect(await people.viewer.must('GET', `${path}/${made.id}`)).toEqual(changed);
  expect(await statusOf('viewer', 'PUT', made.id, { version: 0 })).toBe(409);
  expect(await statusOf('viewer', 'DELETE', made.id)).toBe(204);
  expect(await statusOf('viewer', 'GET', made.id)).toBe(404);
});

describe('who sees and changes a view', () => {
  test('a private one does not exist for others, owners of the organization included', async () => {
    const { id } = await saved('viewer', { name: 'Private' });
    for (const who of ['owner', 'editor', 'other'] as const) {
      expect(await statusOf(who, 'GET', id), who).toBe(404);
      expect(await statusOf(who, 'PUT', id, { name: 'x' }), who).toBe(404);
      expect(await statusOf(who, 'DELETE', id), who).toBe(404);
    }
    expect(await namesOf('owner')).not.toContain('Private');
    expect(await namesOf('viewer')).toContain('Private');
    expect((await at.world.call('GET', `${path}/${id}`)).status).toBe(404);
  });

  test('sharing needs workspace update; readers see a shared one and do not change it', async () => {
    const own = await saved('viewer', { name: 'Kept' });
    expect(await statusOf('viewer', 'PUT', own.id, { shared: true })).toBe(403);
    const refused = await people.viewer.call('POST', path, draft({ shared: true }));
    expect(refused.status).toBe(403);

    const { id } = await saved('editor', { name: 'Shared', shared: true });
    expect(await namesOf('viewer')).toContain('Shared');
    expect(await people.viewer.must('GET', `${path}/${id}`)).toMatchObject({ own: false });
    expect(await statusOf('viewer', 'PUT', id, { name: 'x' })).toBe(403);
    expect(await statusOf('viewer', 'PUT', id, { shared: false })).toBe(403);
    expect(await statusOf('viewer', 'DELETE', id)).toBe(403);
    expect(await statusOf('other', 'GET', id)).toBe(404);
    expect(await statusOf('owner', 'PUT', id, { name: 'Renamed' })).toBe(200);
    // From then on it is private again, also for who made it so.
    expect(await statusOf('owner', 'PUT', id, { shared: false })).toBe(200);
    expect(await statusOf('owner', 'GET', id)).toBe(404);
    expect(await statusOf('editor', 'PUT', id, { shared: true })).toBe(200);
    expect(await statusOf('owner', 'DELETE', id)).toBe(204);
  });

  test('a key has own views, and they go with it', async () => {
    const key = await at.key();
    const { id } = await key.must('POST', path, draft({ name: 'Of the key' }));
    expect(await namesOf('owner')).not.toContain('Of the key');
    expect((await key.must('GET', `${path}/${id}`)).ownerId).toBe(key.id);
    await at.owner.must('DELETE', `/v3/api-keys/${key.id}`);
    expect(await statusOf('owner', 'GET', id)).toBe(404);
  });

  test('the private views of a member go with the membership', async () => {
    const { base, owner, world } = at;
    const of = `/v3/organizations/${world.organizationId}`;
    const { userId } = await addMember(base, owner, of, 'leaving@example.org', 'VIEWER');
    const leaving = await signIn(base, 'leaving@example.org');
    const { id } = await leaving.must('POST', path, draft());
    await owner.must('DELETE', `${of}/members/${userId}`);
    await addMember(base, owner, of, 'leaving@example.org', 'VIEWER');
    const back = await signIn(base, 'leaving@example.org');
    expect((await back.call('GET', `${path}/${id}`)).status).toBe(404);
  });
});

test('lists narrow by kind and words, over several workspaces', async () => {
  await saved('owner', { name: 'Alarms of today', kind: 'alarms' });
  await saved('owner', { name: 'There', workspaceId: at.secondWorkspaceId });
  expect(await namesOf('owner', '&kind=alarms')).toEqual(['Alarms of today']);
  expect(await namesOf('owner', '&search=TODAY')).toEqual(['Alarms of today']);
  const all = await people.owner.must('GET', `${path}?sort=name,desc&size=1`);
  expect(all.content[0].name).toBe('There');
  expect((await people.viewer.call('GET', path)).status).toBe(403);
});

test.each([
  ['no kind', { kind: undefined }],
  ['a list as content', { content: [] }],
  ['content above 64 kB', { content: { a: 'ü'.repeat(32 * 1024) } }],
])('%s is refused', async (_, more) => {
  expect((await people.owner.call('POST', path, draft(more))).status).toBe(400);
});

test('a caller has at most 500 views in a workspace', async () => {
  const { workspaceId } = at.world;
  const { totalElements } = await at.world.must('GET', `${path}?workspaceId=${workspaceId}`);
  const make = () => at.world.call('POST', path, draft({ content: {} }));
  for (let left = 500 - totalElements; left > 0; left -= 50)
    await Promise.all(Array.from({ length: Math.min(50, left) }, make));
  expect(await make()).toMatchObject({ status: 409, body: { errorCode: '40910_QUOTA_REACHED' } });
});

test('views do not keep a workspace from being deleted, and go with it', async () => {
  const { owner, world } = at;
  const { organizationId } = world;
  const workspace = await owner.must('POST', '/v3/workspaces', { name: 'Short', organizationId });
  const { id } = await saved('owner', { workspaceId: workspace.id, shared: true });
  await owner.must('DELETE', `/v3/workspaces/${workspace.id}`);
  expect(await statusOf('owner', 'GET', id)).toBe(404);
});
