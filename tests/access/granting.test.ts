// Privilege escalation: ways to more rights that attacks found are rejected; permitted calls work.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyPermission, type Permissions } from '../../src/model/principal.ts';
import {
  type AccessWorld,
  type Acting,
  actingBy,
  addMember,
  password,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
let ofOrganization: string;
let ofWorkspace: string;
let admin: Acting;
let workspaceAdmin: Acting;
beforeAll(async () => {
  at = await startAccessWorld();
  ofOrganization = `/v3/organizations/${at.world.organizationId}`;
  ofWorkspace = `/v3/workspaces/${at.world.workspaceId}`;
  await addMember(at.base, at.owner, ofOrganization, 'admin@example.org', 'ADMIN');
  await addMember(at.base, at.owner, ofWorkspace, 'local@example.org', 'ADMIN');
  admin = await signIn(at.base, 'admin@example.org');
  workspaceAdmin = await signIn(at.base, 'local@example.org');
});
afterAll(() => at.close());

const accept = (url: string) =>
  at.nobody.call('POST', `/v3/auth/invitations/${url.split('/').at(-1)}`, { name: 'x', password });

describe('review security 2: a pending owner invited again', () => {
  test('by the administrator of a workspace and by a restricted key: no link, and the own one of the owner lives on', async () => {
    const boss = { email: 'boss@example.org', role: 'OWNER' };
    const { invitationUrl } = await at.owner.must('POST', `${ofOrganization}/members`, boss);
    const restricted = await at.key({
      permissions: everyPermission,
      workspaces: [{ id: at.world.workspaceId }],
    });
    for (const caller of [workspaceAdmin, restricted]) {
      const again = await caller.call('POST', `${ofWorkspace}/members`, {
        email: boss.email,
        role: 'VIEWER',
      });
      expect([again.status, again.body.errorCode]).toEqual([403, '40363_INVITATION_TOO_HIGH']);
    }
    const lowered = await admin.call('POST', `${ofOrganization}/members`, {
      email: boss.email,
      role: 'VIEWER',
    });
    expect([lowered.status, lowered.body.errorCode]).toEqual([403, '40363_INVITATION_TOO_HIGH']);
    expect((await accept(invitationUrl)).status).toBe(200);
    const session = await signIn(at.base, boss.email);
    expect((await session.must('GET', '/v3/auth/me')).role).toBe('OWNER');
  });

  test('a role raised later is not in the link of a lesser caller', async () => {
    const draft = { email: 'raised@example.org', role: 'VIEWER' };
    const held = await admin.must('POST', `${ofOrganization}/members`, draft);
    const raised = await at.owner.must('PUT', `${ofOrganization}/members/${held.userId}`, {
      role: 'OWNER',
    });
    expect(raised).toMatchObject({
      role: 'OWNER',
      pending: true,
      invitationUrl: expect.any(String),
    });
    expect((await accept(held.invitationUrl)).status).toBe(404);
    expect((await accept(raised.invitationUrl)).status).toBe(200);
  });

  test('the same caller invites new users, and adds to a pending member only what it has', async () => {
    const plain = await at.owner.must('POST', `${ofOrganization}/members`, {
      email: 'plain@example.org',
      role: 'MEMBER',
    });
    const added = await workspaceAdmin.must('POST', `${ofWorkspace}/members`, {
      email: 'plain@example.org',
      role: 'VIEWER',
    });
    expect((await accept(plain.invitationUrl)).status).toBe(404);
    expect((await accept(added.invitationUrl)).status).toBe(200);
  });
});

describe('review security 3: a credential that may do more than its maker', () => {
  const draft = (permissions: Permissions) => ({
    name: 'x',
    organizationId: at.world.organizationId,
    permissions,
  });
  const higher: Permissions = { organization: ['read', 'update', 'delete', 'manage'] };

  test.each(['/v3/api-keys', '/v3/oauth-clients'])(
    '%s: 403 for more, 201 for as much',
    async (path) => {
      const refused = await admin.call('POST', path, draft(higher));
      expect([refused.status, refused.body.errorCode]).toEqual([403, '40364_GRANT_TOO_HIGH']);
      const asMuch = { ...everyPermission, organization: ['read', 'update', 'manage'] as const };
      expect((await admin.call('POST', path, draft(asMuch))).status).toBe(201);
      expect((await at.owner.call('POST', path, draft(higher))).status).toBe(201);
    },
  );

  test('a key of an administrator makes no owner', async () => {
    const asMuch = { ...everyPermission, organization: ['read', 'update', 'manage'] as const };
    const { secret } = await admin.must('POST', '/v3/api-keys', draft(asMuch));
    const key = actingBy(at.base, { 'x-api-key': secret });
    const owner = { email: 'o@example.org', role: 'OWNER' };
    expect((await key.call('POST', `${ofOrganization}/members`, owner)).body.errorCode).toBe(
      '40361_ROLE_TOO_HIGH',
    );
    expect(
      (await key.call('POST', `${ofOrganization}/members`, { ...owner, role: 'ADMIN' })).status,
    ).toBe(201);
  });

  test('an administrator does not get hold of a client that may do more by rotating its secret', async () => {
    const { id } = await at.owner.must('POST', '/v3/oauth-clients', draft(higher));
    expect((await admin.call('POST', `/v3/oauth-clients/${id}/rotate-secret`)).body.errorCode).toBe(
      '40364_GRANT_TOO_HIGH',
    );
    expect((await at.owner.call('POST', `/v3/oauth-clients/${id}/rotate-secret`)).status).toBe(200);
  });
});
