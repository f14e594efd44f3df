// Contract 37: facts about the installation, the permissions of a caller, and the preferences of a user.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  actingBy,
  addMember,
  signIn,
  startAccessWorld,
} from '../access/access-world.ts';

let at: AccessWorld;
let viewer: Acting;
beforeAll(async () => {
  at = await startAccessWorld();
  const { base, owner, world } = at;
  await addMember(base, owner, `/v3/workspaces/${world.workspaceId}`, 'w@example.org', 'VIEWER');
  viewer = await signIn(base, 'w@example.org');
});
afterAll(() => at.close());

describe('GET /v3/about', () => {
  const about = async (headers: Record<string, string> = {}) => {
    const answer = await actingBy(at.base, headers).call('GET', '/v3/about');
    expect(answer.status).toBe(200);
    return answer.body;
  };

  test('names the installation, and says that the first run ends with the first device', async () => {
    expect(await about()).toEqual({
      name: 'Heliograph',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      signedIn: false,
      signInKinds: ['PASSWORD', 'PASSKEY'],
      provider: null,
      firstRun: true,
      features: { mail: false, sms: false, mqtt: false, coap: false, tiles: false },
      ports: { mqtt: null, coap: null },
      mapTiles: null,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
    await at.world.device();
    expect(await about()).toMatchObject({ firstRun: false });
  });

  test('is signed in by a cookie, a key or a token, and never refuses a bad one', async () => {
    const { world, owner } = at;
    const key = { 'x-api-key': world.apiKey };
    const { cookie = '' } = owner.headers;
    expect(await about(key)).toMatchObject({ signedIn: true });
    expect(await about({ cookie })).toMatchObject({ signedIn: true });
    for (const bad of [
      { 'x-api-key': 'x' },
      { authorization: 'Bearer x' },
      { authorization: 'x' },
      { cookie: 'session=x' },
    ])
      expect(await about(bad)).toMatchObject({ signedIn: false });
    // Two credentials are refused on every route (contract 42).
    const two = { ...key, authorization: 'Bearer x' };
    expect((await actingBy(at.base, two).call('GET', '/v3/about')).status).toBe(401);
    const leaving = await signIn(at.base, 'w@example.org');
    await leaving.must('POST', '/v3/auth/logout');
    expect(await about({ cookie: leaving.headers['cookie'] ?? '' })).toMatchObject({
      signedIn: false,
    });
  });
});

describe('GET /v3/auth/me', () => {
  const me = (acting: Acting) => acting.must('GET', '/v3/auth/me');

  test('has the permissions of an owner in every workspace of each organization', async () => {
    const { owner, world, secondWorkspaceId } = at;
    const caller = await me(owner);
    expect(caller).toMatchObject({ kind: 'USER', role: 'OWNER', permissionsComplete: true });
    for (const id of [world.workspaceId, secondWorkspaceId])
      expect(caller.permissions[id]).toMatchObject({
        asset: ['create', 'read', 'update', 'delete'],
        deviceType: ['create', 'read', 'update', 'delete'],
        workspace: ['create', 'read', 'update', 'delete', 'manage'],
      });
    expect(caller.organizations[0].permissions).toMatchObject({
      organization: ['read', 'update', 'delete', 'manage'],
    });
  });

  test('has those of the role in one workspace, and may only read what the organization has', async () => {
    const { world } = at;
    const caller = await me(viewer);
    expect(caller.role).toBe('MEMBER');
    expect(Object.keys(caller.permissions)).toEqual([world.workspaceId]);
    expect(caller.permissions[world.workspaceId]).toMatchObject({
      asset: ['read'],
      deviceType: ['read'],
      workspace: ['read'],
    });
    expect(caller.organizations[0].permissions).toMatchObject({ organization: ['read'] });
  });

  test('a workspace role does not change records of the organization', async () => {
    const { base, owner, world } = at;
    const where = `/v3/workspaces/${world.workspaceId}`;
    await addMember(base, owner, where, 'admin@example.org', 'ADMIN');
    const caller = await me(await signIn(base, 'admin@example.org'));
    expect(caller.permissions[world.workspaceId]).toMatchObject({
      rule: ['create', 'read', 'update', 'delete'],
      workspace: ['read', 'update', 'delete', 'manage'],
      deviceType: ['read'],
      customLogic: ['read'],
    });
  });

  test('answers keys and tokens with the workspaces and permissions of the grant', async () => {
    const { world, secondWorkspaceId } = at;
    const grant = { asset: ['read', 'update'], deviceType: ['read', 'update'] } as const;
    const granted = { permissions: grant, workspaces: [{ id: secondWorkspaceId }] };
    for (const [kind, acting] of [
      ['API_KEY', await at.key(granted)],
      ['OAUTH_CLIENT', await at.client(granted)],
    ] as const) {
      const caller = await me(acting);
      expect(caller).toMatchObject({ kind, email: null, role: null });
      expect(caller.organizationId).toBe(world.organizationId);
      expect(caller.permissions).toEqual({
        [secondWorkspaceId]: {
          organization: ['read'],
          asset: ['read', 'update'],
          deviceType: ['read'],
        },
      });
    }
  });

  test('names at most 1,000 workspaces', { timeout: 240_000 }, async () => {
    const { owner, otherOwner, otherOrganizationId } = at;
    for (let round = 0; round < 20; round++)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          otherOwner.must('POST', '/v3/workspaces', {
            organizationId: otherOrganizationId,
            name: `w ${round} ${n}`,
          }),
        ),
      );
    const caller = await me(otherOwner);
    expect(Object.keys(caller.permissions)).toHaveLength(1_000);
    expect(caller.permissionsComplete).toBe(false);
    expect((await me(owner)).permissionsComplete).toBe(true);
  });
});

describe('preferences', () => {
  const path = '/v3/auth/me/preferences';

  test('are an object of each user, empty at first, replaced as a whole', async () => {
    const { owner } = at;
    expect(await owner.must('GET', path)).toEqual({});
    const kept = { theme: 'dark', columns: { devices: ['name', null, 1.5] }, ü: '✓' };
    expect(await owner.must('PUT', path, kept)).toEqual(kept);
    expect(await owner.must('GET', path)).toEqual(kept);
    expect(await viewer.must('GET', path)).toEqual({});
    await owner.must('PUT', path, { theme: 'light' });
    expect(await owner.must('GET', path)).toEqual({ theme: 'light' });
  });

  test('belong to a credential as well', async () => {
    const { owner, world } = at;
    const { id, secret } = await owner.must('POST', '/v3/api-keys', {
      name: 'Wall display',
      organizationId: world.organizationId,
      permissions: {},
    });
    const display = actingBy(at.base, { 'x-api-key': secret });
    expect(await display.must('GET', path)).toEqual({});
    await display.must('PUT', path, { theme: 'dark' });
    expect(await display.must('GET', path)).toEqual({ theme: 'dark' });
    expect(await viewer.must('GET', path)).toEqual({});
    await owner.must('DELETE', `/v3/api-keys/${id}`);
    expect((await display.call('GET', path)).status).toBe(401);
  });

  test.each([[[]], [1], [true]])('%j is refused', async (body) => {
    expect((await at.owner.call('PUT', path, body)).status).toBe(400);
  });

  test('take 64 kB', async () => {
    const { owner } = at;
    const kept = { a: 'x'.repeat(64 * 1024 - 8) };
    expect(JSON.stringify(kept)).toHaveLength(64 * 1024);
    await owner.must('PUT', path, kept);
    expect(await owner.must('GET', path)).toEqual(kept);
    expect((await owner.call('PUT', path, { a: `${kept.a}x` })).status).toBe(413);
  });
});
