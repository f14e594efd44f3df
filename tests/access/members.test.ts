// Members and invitations: roles at both levels, who can assign which, owners, and removal (contract 2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  password,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
let ofOrganization: string;
const people: Record<string, Acting & { userId: string }> = {};

beforeAll(async () => {
  at = await startAccessWorld();
  const { base, owner, world } = at;
  ofOrganization = `/v3/organizations/${world.organizationId}`;
  for (const role of ['ADMIN', 'EDITOR', 'VIEWER', 'MEMBER']) {
    const email = `${role.toLowerCase()}@example.org`;
    const { userId } = await addMember(base, owner, ofOrganization, email, role);
    people[role] = { userId, ...(await signIn(base, email)) };
  }
});
afterAll(() => at.close());

const accept = (invitationUrl: string, body: object) =>
  at.nobody.call('POST', `/v3/auth/invitations/${invitationUrl.split('/').at(-1)}`, body);

describe('inviting', () => {
  test('the record has a link; before it is accepted the user cannot sign in, and the link works once', async () => {
    const invited = await at.owner.must('POST', `${ofOrganization}/members`, {
      email: 'New@Example.org',
      role: 'EDITOR',
    });
    expect(invited).toEqual({
      id: expect.any(String),
      userId: expect.any(String),
      name: 'new@example.org',
      email: 'new@example.org',
      role: 'EDITOR',
      created: expect.any(String),
      pending: true,
      invitationUrl: expect.stringMatching(/\/invitations\/[\w-]{43}$/),
    });
    expect(
      (await at.nobody.call('POST', '/v3/auth/login', { email: 'new@example.org', password: '!' }))
        .status,
    ).toBe(401);
    const token = invited.invitationUrl.split('/').at(-1);
    expect((await at.nobody.call('GET', `/v3/auth/invitations/${token}`)).body).toEqual({
      email: 'new@example.org',
      organizationName: 'Organization',
      newUser: null,
    });
    expect((await accept(invited.invitationUrl, { name: 'New', password: 'short' })).status).toBe(
      400,
    );
    expect((await accept(invited.invitationUrl, { name: 'New', password })).body).toMatchObject({
      name: 'New',
    });
    expect((await accept(invited.invitationUrl, { name: 'Thief', password })).status).toBe(404);
    expect((await signIn(at.base, 'new@example.org')).headers).toHaveProperty('cookie');
  });

  test('asked again while open there is a new link, and the old one is dead; once accepted it is a 409', async () => {
    const draft = { email: 'twice@example.org', role: 'VIEWER' };
    const first = await at.owner.must('POST', `${ofOrganization}/members`, draft);
    const second = await at.owner.must('POST', `${ofOrganization}/members`, {
      ...draft,
      role: 'EDITOR',
    });
    expect(second).toMatchObject({ id: first.id, userId: first.userId, role: 'EDITOR' });
    expect((await accept(first.invitationUrl, { password })).status).toBe(404);
    expect((await accept(second.invitationUrl, { password })).status).toBe(200);
    expect((await at.owner.call('POST', `${ofOrganization}/members`, draft)).body.errorCode).toBe(
      '40960_ALREADY_MEMBER',
    );
  });

  test('a user with an account elsewhere accepts with their password; the name is not shown before', async () => {
    const { base, owner, otherOwner, otherOrganizationId } = at;
    const of = `/v3/organizations/${otherOrganizationId}`;
    const invited = await otherOwner.must('POST', `${of}/members`, {
      email: 'viewer@example.org',
      role: 'EDITOR',
    });
    expect(invited.name).toBe('viewer@example.org');
    expect((await people['VIEWER']!.must('GET', '/v3/auth/me')).organizations).toHaveLength(1);
    expect((await accept(invited.invitationUrl, { password: 'wrong' })).status).toBe(401);
    expect((await accept(invited.invitationUrl, { name: 'Renamed', password })).body.name).toBe(
      'viewer@example.org',
    );
    const session = await signIn(base, 'viewer@example.org');
    expect((await session.must('GET', '/v3/auth/me')).organizations).toHaveLength(2);
    // A session reaches every organization of its user; the switch only sets the default.
    expect((await session.call('GET', of)).status).toBe(200);
    expect(
      (await session.must('PUT', '/v3/auth/organization', { organizationId: otherOrganizationId }))
        .role,
    ).toBe('EDITOR');
    expect((await session.call('GET', of)).status).toBe(200);
    expect((await session.call('GET', ofOrganization)).status).toBe(200);
    expect((await session.must('GET', '/v3/organizations')).content).toHaveLength(2);
    const strange = await people['MEMBER']!.call('PUT', '/v3/auth/organization', {
      organizationId: otherOrganizationId,
    });
    expect(strange.status).toBe(404);
    expect((await owner.must('GET', `${ofOrganization}/members`)).totalElements).toBeGreaterThan(4);
  });

  test('a role in a workspace makes a plain member of the organization', async () => {
    const { base, owner, secondWorkspaceId, world } = at;
    await addMember(
      base,
      owner,
      `/v3/workspaces/${secondWorkspaceId}`,
      'local@example.org',
      'EDITOR',
    );
    const local = await signIn(base, 'local@example.org');
    expect((await local.must('GET', '/v3/auth/me')).role).toBe('MEMBER');
    expect(
      (await local.must('GET', '/v3/workspaces')).content.map((one: { id: string }) => one.id),
    ).toEqual([secondWorkspaceId]);
    const tag = { name: 'x', workspaceId: secondWorkspaceId };
    expect((await local.call('POST', '/v3/tags', tag)).status).toBe(201);
    expect(
      (await local.call('POST', '/v3/tags', { ...tag, workspaceId: world.workspaceId })).status,
    ).toBe(403);
    expect((await local.call('GET', `/v3/assets?workspaceId=${world.workspaceId}`)).status).toBe(
      403,
    );
    expect(
      (await local.call('GET', `/v3/assets?organizationId=${world.organizationId}`)).status,
    ).toBe(403);
    const reach = await local.must('GET', '/v3/workspace-access?scope=ASSET&verb=UPDATE');
    expect(reach).toEqual({ all: false, ids: [secondWorkspaceId] });
    const again = await owner.must('POST', `/v3/workspaces/${world.workspaceId}/members`, {
      email: 'local@example.org',
      role: 'VIEWER',
    });
    expect([again.invitationUrl, again.pending]).toEqual([null, false]);
    expect((await local.call('GET', `/v3/assets?workspaceId=${world.workspaceId}`)).status).toBe(
      200,
    );
    expect(
      (await local.call('POST', '/v3/tags', { ...tag, workspaceId: world.workspaceId })).status,
    ).toBe(403);
  });
});

describe('roles', () => {
  const roleOf = async (role: string, to: string, by: Acting) =>
    by.call('PUT', `${ofOrganization}/members/${people[role]!.userId}`, { role: to });

  test.each([
    ['an administrator makes no owner', 'ADMIN', 'EDITOR', 'OWNER', 403],
    ['not of themselves either', 'ADMIN', 'ADMIN', 'OWNER', 403],
    ['an administrator makes an editor a viewer', 'ADMIN', 'EDITOR', 'VIEWER', 200],
    ['and back', 'ADMIN', 'EDITOR', 'EDITOR', 200],
    ['an editor changes nobody', 'EDITOR', 'VIEWER', 'MEMBER', 403],
  ])('%s', async (_, by, whom, to, status) => {
    expect((await roleOf(whom, to, people[by]!)).status).toBe(status);
  });

  test('an administrator neither changes nor removes an owner', async () => {
    const owner = (await at.owner.must('GET', '/v3/auth/me')).id;
    const admin = people['ADMIN']!;
    expect(
      (await admin.call('PUT', `${ofOrganization}/members/${owner}`, { role: 'MEMBER' })).status,
    ).toBe(403);
    expect((await admin.call('DELETE', `${ofOrganization}/members/${owner}`)).status).toBe(403);
    const invited = await admin.call('POST', `${ofOrganization}/members`, {
      email: 'o@example.org',
      role: 'OWNER',
    });
    expect([invited.status, invited.body.errorCode]).toEqual([403, '40361_ROLE_TOO_HIGH']);
  });

  test('a key that can only invite grants nothing more', async () => {
    const key = await at.key({
      permissions: { 'organization.member': ['create', 'read', 'update'] },
    });
    const invite = (role: string) =>
      key.call('POST', `${ofOrganization}/members`, { email: 'k@example.org', role });
    expect((await invite('ADMIN')).status).toBe(403);
    expect((await invite('VIEWER')).status).toBe(403);
    expect((await invite('MEMBER')).status).toBe(201);
  });

  test('the last owner stays; with a second one ownership is passed on', async () => {
    const { base, owner } = at;
    const me = (await owner.must('GET', '/v3/auth/me')).id;
    const step = (role: string) => owner.call('PUT', `${ofOrganization}/members/${me}`, { role });
    expect((await step('ADMIN')).body.errorCode).toBe('40961_LAST_OWNER');
    expect((await owner.call('DELETE', `${ofOrganization}/members/${me}`)).status).toBe(409);
    const { userId } = await addMember(base, owner, ofOrganization, 'heir@example.org', 'OWNER');
    expect((await step('ADMIN')).status).toBe(200);
    expect((await owner.must('GET', ofOrganization)).owner.id).toBe(userId);
    const heir = await signIn(base, 'heir@example.org');
    expect(
      (await heir.call('PUT', `${ofOrganization}/members/${me}`, { role: 'OWNER' })).status,
    ).toBe(200);
  });

  test('a role counts from the next request on', async () => {
    const viewer = await signIn(at.base, 'viewer@example.org', {
      organizationId: at.world.organizationId,
    });
    const rename = () =>
      viewer.call('PUT', `/v3/workspaces/${at.secondWorkspaceId}`, { name: 'Second' });
    expect((await rename()).status).toBe(403);
    await roleOf('VIEWER', 'EDITOR', at.owner);
    expect((await rename()).status).toBe(200);
    await roleOf('VIEWER', 'VIEWER', at.owner);
    expect((await rename()).status).toBe(403);
  });
});

describe('going', () => {
  test('a removed member has no access immediately; a user without memberships is deleted', async () => {
    const { base, owner } = at;
    const { userId } = await addMember(base, owner, ofOrganization, 'leaves@example.org', 'ADMIN');
    const leaving = await signIn(base, 'leaves@example.org');
    expect((await owner.call('DELETE', `${ofOrganization}/members/${userId}`)).status).toBe(204);
    expect((await leaving.call('GET', '/v3/auth/me')).status).toBe(401);
    expect(
      (await at.nobody.call('POST', '/v3/auth/login', { email: 'leaves@example.org', password }))
        .status,
    ).toBe(401);
    expect((await owner.call('DELETE', `${ofOrganization}/members/${userId}`)).status).toBe(404);
  });

  test('members of another organization do not exist', async () => {
    const { otherOwner, world, otherWorkspaceId, owner } = at;
    expect((await otherOwner.call('GET', `${ofOrganization}/members`)).status).toBe(404);
    expect(
      (await otherOwner.call('DELETE', `${ofOrganization}/members/${people['MEMBER']!.userId}`))
        .status,
    ).toBe(404);
    expect((await owner.call('GET', `/v3/workspaces/${otherWorkspaceId}/members`)).status).toBe(
      404,
    );
    expect(
      (await otherOwner.call('GET', `/v3/workspaces/${world.workspaceId}/members`)).status,
    ).toBe(404);
  });

  test('contract 1: an organization is deleted when it is empty, with its credentials', async () => {
    const { base, owner } = at;
    const made = await owner.must('POST', '/v3/organizations', { name: 'Short' });
    expect(made).toMatchObject({
      name: 'Short',
      owner: { email: 'admin@localhost' },
      version: 0,
      alphaFeatures: false,
    });
    const there = await signIn(base, 'admin@localhost', { organizationId: made.id });
    const workspace = await there.must('POST', '/v3/workspaces', {
      name: 'W',
      organizationId: made.id,
    });
    const key = await there.must('POST', '/v3/api-keys', { name: 'k', organizationId: made.id });
    const use = () =>
      at.nobody.call('GET', '/v3/organizations', undefined, { 'x-api-key': key.secret });
    expect((await use()).status).toBe(200);
    expect((await there.call('DELETE', `/v3/organizations/${made.id}`)).status).toBe(409);
    await there.must('DELETE', `/v3/workspaces/${workspace.id}`);
    expect((await at.otherOwner.call('DELETE', `/v3/organizations/${made.id}`)).status).toBe(404);
    expect((await there.call('DELETE', `/v3/organizations/${made.id}`)).status).toBe(204);
    expect((await use()).status).toBe(401);
    expect((await there.call('GET', '/v3/auth/me')).status).toBe(401);
    expect((await owner.call('GET', '/v3/auth/me')).status).toBe(200);
  });
});
