// Second factor demand: members without one only enrol, and owners and admins reset what members lost.
import WebSocket from 'ws';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CodeSecret } from '../../src/access/second-factor.ts';
import type { Permissions } from '../../src/model/principal.ts';
import { openLive } from '../world/live-socket.ts';
import {
  type AccessWorld,
  type Acting,
  addMember,
  type Fixtures,
  makeFixtures,
  password,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
let ours: Fixtures;
let theirs: Fixtures;
let path = '';
let count = 0;
/** Owner of ours, with a second factor. */
let owner: Acting;
let now = Date.parse('2026-03-01T12:00:00Z');

beforeAll(async () => {
  at = await startAccessWorld({}, { now: () => now });
  ours = await makeFixtures(at.owner, at.world.workspaceId, 'alpha');
  theirs = await makeFixtures(at.otherOwner, at.otherWorkspaceId, 'bravo');
  path = `/v3/organizations/${ours.organization}/second-factor`;
  const { email } = await member('OWNER');
  owner = await signIn(at.base, email);
  await enrol(owner);
}, 240_000);
afterAll(() => at.close());
beforeEach(async () => demand(false));

const required = [403, '40393_SECOND_FACTOR_REQUIRED'];
const demand = (secondFactorRequired: boolean) => owner.must('PUT', path, { secondFactorRequired });

async function member(role: string, of = ours, by = at.owner) {
  const email = `demand-${++count}@example.org`;
  const organization = `/v3/organizations/${of.organization}`;
  return { email, ...(await addMember(at.base, by, organization, email, role)) };
}

function nextCode(secret: string): string {
  now += 30_000;
  return CodeSecret.parse(secret).codeOf(Math.floor(now / 30_000));
}

async function enrol(acting: Acting): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = await acting.must('POST', '/v3/auth/second-factor/app', { password });
  const code = nextCode(secret);
  const confirmed = await acting.must('POST', '/v3/auth/second-factor/app/confirm', { code });
  return { secret, ...confirmed };
}

async function refusal(acting: Acting, method: string, url: string, body?: unknown) {
  const answer = await acting.call(method, url, body);
  return [answer.status, answer.body?.errorCode];
}

const liveUrl = () => `${at.base.replace('http', 'ws')}/v3/data-streams`;
const fromPage = ({ headers }: Acting) => ({ cookie: headers['cookie'] ?? '', origin: at.base });

const removeApp = (acting: Acting) =>
  refusal(acting, 'POST', '/v3/auth/second-factor/app/remove', { password });
const resetOf = (userId: string, of = ours) =>
  `/v3/organizations/${of.organization}/members/${userId}/second-factor`;

async function withFactor(role: string, of = ours, by = at.owner) {
  const { email, userId } = await member(role, of, by);
  const acting = await signIn(at.base, email);
  return { email, userId, acting, ...(await enrol(acting)) };
}

describe('the setting of an organization', () => {
  test('is read by every member, and changed by owners and admins who have a second factor', async () => {
    const [viewer, admin] = [await member('VIEWER'), await member('ADMIN')];
    const [reading, changing] = [
      await signIn(at.base, viewer.email),
      await signIn(at.base, admin.email),
    ];
    expect(await reading.must('GET', path)).toEqual({ secondFactorRequired: false });
    expect(await refusal(reading, 'PUT', path, { secondFactorRequired: true })).toEqual([
      403,
      '40300_PERMISSION_DENIED',
    ]);
    expect(await refusal(changing, 'PUT', path, { secondFactorRequired: true })).toEqual([
      409,
      '40992_OWN_SECOND_FACTOR_MISSING',
    ]);
    expect(await changing.must('PUT', path, { secondFactorRequired: false })).toEqual({
      secondFactorRequired: false,
    });
    await enrol(changing);
    expect(await changing.must('PUT', path, { secondFactorRequired: true })).toEqual({
      secondFactorRequired: true,
    });
    expect(await owner.must('GET', path)).toEqual({ secondFactorRequired: true });
  });

  test('is in the audit log once, however often it is repeated', async () => {
    now += 1_000;
    const since = new Date(now).toISOString();
    for (const wanted of [true, true, false, false]) await demand(wanted);
    const query = `organizationId=${ours.organization}&resourceType=ORGANIZATION&from=${since}`;
    const { content } = await owner.must('GET', `/v3/audit-logs?${query}`);
    const changes = content.flatMap((entry: { changes: unknown[] }) => entry.changes);
    expect(changes).toHaveLength(2);
    expect(changes).toEqual(
      expect.arrayContaining([
        { field: 'secondFactorRequired', after: true },
        { field: 'secondFactorRequired', before: true },
      ]),
    );
  });

  test('is closed to API keys, also of the organization', async () => {
    const permissions: Permissions = { organization: ['read', 'update', 'manage'] };
    const grants = [{ workspaces: [{ id: ours.workspace }] }, {}];
    for (const grant of grants) {
      const key = await at.key({ permissions, ...grant });
      for (const [method, body] of [['GET'], ['PUT', { secondFactorRequired: true }]] as const)
        expect(await refusal(key, method, path, body)).toEqual([403, '40300_PERMISSION_DENIED']);
    }
    expect(await owner.must('GET', path)).toEqual({ secondFactorRequired: false });
  });

  test('goes with its organization', async () => {
    const { id } = await at.owner.must('POST', '/v3/organizations', { name: 'short' });
    const founder = await withFactor('OWNER', { ...ours, organization: id });
    await founder.acting.must('PUT', `/v3/organizations/${id}/second-factor`, {
      secondFactorRequired: true,
    });
    await founder.acting.must('DELETE', `/v3/organizations/${id}`);
    expect((await at.owner.call('GET', `/v3/organizations/${id}`)).status).toBe(404);
  });
});

describe('a member without a second factor', () => {
  test('is refused everywhere but in the own account, and continues in the same session', async () => {
    const { email } = await member('ADMIN');
    const before = await signIn(at.base, email);
    expect((await before.call('GET', '/v3/tags')).status).toBe(200);
    await demand(true);
    expect(await refusal(before, 'GET', '/v3/tags')).toEqual(required);
    const acting = await signIn(at.base, email);
    expect(await refusal(acting, 'GET', '/v3/tags')).toEqual(required);
    const me = await acting.must('GET', '/v3/auth/me');
    expect(me.organizations).toMatchObject([{ permissions: {}, secondFactorMissing: true }]);
    expect(me.permissions).toEqual({});
    await enrol(acting);
    expect((await acting.call('GET', '/v3/tags')).status).toBe(200);
    expect((await acting.must('GET', '/v3/auth/me')).organizations).toMatchObject([
      { secondFactorMissing: false },
    ]);
    expect(await refusal(before, 'GET', '/v3/auth/me')).toEqual([401, '40100_UNAUTHORIZED']);
  });

  test('signs out, and is free again when the demand ends', async () => {
    const { email } = await member('EDITOR');
    await demand(true);
    const [staying, leaving] = [await signIn(at.base, email), await signIn(at.base, email)];
    expect((await leaving.call('POST', '/v3/auth/logout')).status).toBe(204);
    await demand(false);
    expect((await staying.call('GET', '/v3/tags')).status).toBe(200);
  });

  test('reaches no route that is not for the own account, also by ids that exist', async () => {
    const { email } = await member('OWNER');
    await demand(true);
    const acting = await signIn(at.base, email);
    const ids = { ...ours, deviceId: ours.device, workspaceId: ours.workspace };
    const reached: string[] = [];
    let tried = 0;
    for (const { access, method, path: route } of at.world.platform.routes) {
      if ('open' in access || ('beforeSecondFactor' in access && access.beforeSecondFactor))
        continue;
      tried++;
      const kind = Object.entries(kinds).find(([start]) => route.startsWith(start))?.[1];
      const url = route.replaceAll(/:(\w+)/g, (_, name: string) =>
        String(ids[(name === 'id' ? kind : name) as keyof typeof ids] ?? ours.organization),
      );
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const [status, code] = await refusal(acting, method, url, body);
      if (status !== 403 || code !== required[1]) reached.push(`${method} ${route}: ${status}`);
    }
    expect(reached).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  });

  test('opens no live stream, and loses the open one', async () => {
    const { email } = await member('EDITOR');
    const acting = await signIn(at.base, email);
    const { socket } = await openLive(liveUrl(), fromPage(acting));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await demand(true);
    expect(await closed).toBe(4401);
    const refused = new WebSocket(liveUrl(), { headers: fromPage(acting) });
    const status = await new Promise((resolve) => {
      refused.once('unexpected-response', (_, answer) => resolve(answer.statusCode));
      refused.once('open', () => resolve('open'));
      refused.once('error', () => undefined);
    });
    expect(status).toBe(403);
  });

  test('does not matter to API keys', async () => {
    const key = await at.key({ permissions: { asset: ['read'] } });
    await demand(true);
    expect((await key.call('GET', '/v3/tags')).status).toBe(200);
    const live = await openLive(`${liveUrl()}?xApiKey=${key.secret}`);
    live.close();
  });
});

describe('a member of several organizations', () => {
  test('loses the one that demands, and keeps the other', async () => {
    const { email } = await member('EDITOR');
    await addMember(
      at.base,
      at.otherOwner,
      `/v3/organizations/${theirs.organization}`,
      email,
      'EDITOR',
    );
    await demand(true);
    const acting = await signIn(at.base, email, { organizationId: theirs.organization });
    const tag = (workspaceId: string) => ({ name: `t${++count}`, workspaceId });
    expect((await acting.call('GET', `/v3/devices/${theirs.device}`)).status).toBe(200);
    expect((await acting.call('POST', '/v3/tags', tag(theirs.workspace))).status).toBe(201);
    for (const [method, url, body] of [
      ['GET', `/v3/devices/${ours.device}`],
      ['GET', `/v3/tags?workspaceId=${ours.workspace}`],
      ['GET', `/v3/tags?organizationId=${ours.organization}`],
      ['GET', `/v3/organizations/${ours.organization}`],
      ['GET', `/v3/search?q=alpha&organizationId=${ours.organization}`],
      ['POST', '/v3/tags', tag(ours.workspace)],
      ['POST', '/v3/assets/list', { workspaceIds: [ours.workspace] }],
    ] as const)
      expect(await refusal(acting, method, url, body), `${method} ${url}`).toEqual(required);
    const listed = (await acting.must('GET', '/v3/organizations')).content;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([theirs.organization]);
    const { organizations, permissions } = await acting.must('GET', '/v3/auth/me');
    expect(
      organizations.map((one: { organizationId: string; secondFactorMissing: boolean }) => [
        one.organizationId,
        one.secondFactorMissing,
      ]),
    ).toEqual(
      expect.arrayContaining([
        [ours.organization, true],
        [theirs.organization, false],
      ]),
    );
    expect(Object.keys(permissions)).toEqual([theirs.workspace]);
    const organizationId = ours.organization;
    expect((await acting.call('PUT', '/v3/auth/organization', { organizationId })).status).toBe(
      200,
    );
    expect(await refusal(acting, 'GET', '/v3/tags')).toEqual(required);
    expect(await refusal(acting, 'POST', '/v3/organizations', { name: 'x' })).toEqual(required);
    expect((await acting.call('GET', `/v3/devices/${theirs.device}`)).status).toBe(200);
  });

  test('follows no device of the one that demands', async () => {
    const { email } = await member('EDITOR');
    await addMember(
      at.base,
      at.otherOwner,
      `/v3/organizations/${theirs.organization}`,
      email,
      'EDITOR',
    );
    await demand(true);
    const acting = await signIn(at.base, email, { organizationId: theirs.organization });
    const live = await openLive(liveUrl(), fromPage(acting));
    const subscriptions = [ours.device, theirs.device].map((assetId) => ({ assetId, topic: '*' }));
    const answer = await live.ask({ type: 'subscribe', id: 1, subscriptions });
    const valid = answer['subscriptions'].filter((one: { valid: boolean }) => one.valid);
    expect(valid.map((one: { assetId: string }) => one.assetId)).toEqual([theirs.device]);
    live.close();
  });
});

describe('the last second factor', () => {
  test('stays while an organization of the user demands one', async () => {
    const { acting, recoveryCodes } = await withFactor('EDITOR');
    await demand(true);
    expect(await removeApp(acting)).toEqual([409, '40993_SECOND_FACTOR_DEMANDED']);
    expect(await acting.must('GET', '/v3/auth/second-factor')).toMatchObject({
      authenticatorApp: { created: expect.any(String) },
      recoveryCodes: recoveryCodes.length,
    });
    await demand(false);
    expect(await removeApp(acting)).toEqual([204, undefined]);
  });
});

describe('a reset', () => {
  test('removes factors and sessions, is logged, and the member starts again with the password', async () => {
    const lost = await withFactor('EDITOR');
    await demand(true);
    now += 1_000;
    const since = new Date(now).toISOString();
    expect(await refusal(owner, 'DELETE', resetOf(lost.userId))).toEqual([204, undefined]);
    expect(await refusal(owner, 'DELETE', resetOf(lost.userId))).toEqual([204, undefined]);
    expect(await refusal(lost.acting, 'GET', '/v3/auth/me')).toEqual([401, '40100_UNAUTHORIZED']);
    const query = `organizationId=${ours.organization}&resourceId=${lost.userId}&from=${since}`;
    const { content } = await owner.must('GET', `/v3/audit-logs?${query}`);
    expect(content.at(-1)).toMatchObject({
      action: 'UPDATE',
      resourceType: 'USER',
      changes: [{ field: 'secondFactors', secret: true }],
    });
    const again = await signIn(at.base, lost.email);
    expect(await again.must('GET', '/v3/auth/second-factor')).toMatchObject({
      authenticatorApp: null,
      passkeys: [],
      recoveryCodes: 0,
    });
    expect(await refusal(again, 'GET', '/v3/tags')).toEqual(required);
    await enrol(again);
    expect((await again.call('GET', '/v3/tags')).status).toBe(200);
  });

  test('is for owners and admins, of members with no higher role, and not of themselves', async () => {
    const [admin, editor, above] = [
      await withFactor('ADMIN'),
      await withFactor('EDITOR'),
      await withFactor('OWNER'),
    ];
    const tries = [
      [editor.acting, admin.userId, [403, '40300_PERMISSION_DENIED']],
      [admin.acting, above.userId, [403, '40361_ROLE_TOO_HIGH']],
      [admin.acting, admin.userId, [403, '40394_OWN_SECOND_FACTOR_RESET']],
      [at.otherOwner, editor.userId, [404, '40400_NOT_FOUND']],
      [admin.acting, '50ffffffffffffff', [404, '40400_NOT_FOUND']],
    ] as const;
    for (const [acting, userId, expected] of tries)
      expect(await refusal(acting, 'DELETE', resetOf(userId))).toEqual(expected);
    for (const { acting } of [admin, editor, above])
      expect((await acting.must('GET', '/v3/auth/second-factor')).recoveryCodes).toBe(10);
    expect(await refusal(admin.acting, 'DELETE', resetOf(editor.userId))).toEqual([204, undefined]);
  });

  test('is not taken by inviting a user, nor by an organization that shares the member', async () => {
    const target = await withFactor('EDITOR');
    const attacker = await withFactor('OWNER', theirs, at.otherOwner);
    const organization = `/v3/organizations/${theirs.organization}`;
    const { userId } = await attacker.acting.must('POST', `${organization}/members`, {
      email: target.email,
      role: 'VIEWER',
    });
    expect(userId).toBe(target.userId);
    const reset = () => refusal(attacker.acting, 'DELETE', resetOf(userId, theirs));
    expect(await reset()).toEqual([404, '40400_NOT_FOUND']);
    await addMember(at.base, attacker.acting, organization, target.email, 'VIEWER');
    expect(await reset()).toEqual([403, '40395_MEMBER_ELSEWHERE']);
    expect(await refusal(owner, 'DELETE', resetOf(userId))).toEqual([
      403,
      '40395_MEMBER_ELSEWHERE',
    ]);
    expect((await target.acting.must('GET', '/v3/auth/second-factor')).recoveryCodes).toBe(10);
  });

  test('is closed to API keys', async () => {
    const target = await withFactor('VIEWER');
    const permissions: Permissions = { 'organization.member': ['read', 'delete', 'manage'] };
    const key = await at.key({ permissions });
    expect(await refusal(key, 'DELETE', resetOf(target.userId))).toEqual([
      403,
      '40300_PERMISSION_DENIED',
    ]);
  });
});

/** What an id in the path is, so that the refusal comes before records that exist too. */
const kinds = {
  '/v3/devices': 'device',
  '/v3/blobs': 'blob',
  '/v3/rules': 'rule',
  '/v3/dashboards': 'dashboard',
  '/v3/sample-exports': 'sampleExport',
  '/v3/workspaces': 'workspace',
  '/v3/tags': 'tag',
} as const;
