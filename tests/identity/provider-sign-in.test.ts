// Sign-in by a real OpenID Connect provider: members by groups, roles taken away, attacks, both kinds of logout.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acting, actingBy, addMember, password, signIn } from '../access/access-world.ts';
import { startWorld, type World } from '../world/world.ts';
import { clientId, clientSecret, type OidcServer, startOidcServer } from './oidc-server.ts';
import { type CookieJar, cookiesOf, signInAtProvider, visit } from './provider-visit.ts';

let server: OidcServer;
let world: World;
let owner: Acting;
let second: string;

const settings = (roles = '') => ({
  OIDC_ISSUER: server.issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
  OIDC_LABEL: 'Example',
  ...(roles !== '' && { OIDC_ROLES: roles }),
});

beforeAll(async () => {
  server = await startOidcServer('127.0.0.1');
  const first = await startWorld();
  const { organizationId, workspaceId, directory } = first;
  owner = await signIn(first.base, 'admin@localhost');
  second = (await owner.must('POST', '/v3/workspaces', { name: 'Second', organizationId })).id;
  await first.platform.close('the settings name what it created');
  const roles = [
    `admins=ADMIN@${organizationId}`,
    `cn=viewers,ou=x=VIEWER@${organizationId}`,
    `basel=EDITOR@${workspaceId}`,
    'gone=ADMIN@28ffffffffffffff',
  ];
  world = await startWorld({ directory, environment: settings(roles.join(';')) });
  server.allow(world.platform.publicUrl);
  owner = await signIn(world.base, 'admin@localhost');
});
afterAll(async () => {
  await world?.close();
  await server?.close();
});

const start = () => `${world.platform.publicUrl}/v3/auth/oidc/start`;

interface Arrived {
  readonly jar: CookieJar;
  readonly at: string;
  readonly acting: Acting;
}

async function arrive(login: string, jar: CookieJar = new Map()): Promise<Arrived> {
  const { url } = await signInAtProvider(jar, `${start()}?to=/w/x?tab=1`, login);
  const cookie = cookiesOf(jar, new URL(world.platform.publicUrl));
  const csrf = /csrf=([^;]+)/.exec(cookie)?.[1] ?? '';
  const acting = actingBy(world.base, { cookie, 'x-csrf-token': csrf });
  return { jar, at: url.pathname + url.search, acting };
}

const rolesOf = async (acting: Acting) => {
  const { status, body } = await acting.call('GET', '/v3/auth/me');
  if (status !== 200) return status;
  return [body.role, Object.keys(body.permissions[world.workspaceId] ?? {}).includes('rule')];
};
const person = (login: string, groups: readonly string[], more: object = {}) => {
  const email = `${login}@example.org`;
  server.people.set(login, { email, email_verified: true, name: login, groups, ...more });
};

describe('members by groups', () => {
  test.each([
    ['alice', ['admins'], ['ADMIN', true]],
    ['victor', ['cn=viewers,ou=x', 'other'], ['VIEWER', true]],
    ['ed', ['basel'], ['MEMBER', true]],
    ['both', ['basel', 'admins'], ['ADMIN', true]],
  ])('%s of %j becomes a member and lands where the link led', async (login, groups, roles) => {
    person(login, groups);
    const { at, acting } = await arrive(login);
    expect(at).toBe('/w/x?tab=1');
    expect(await rolesOf(acting)).toEqual(roles);
    const [session] = (await acting.must('GET', '/v3/auth/sessions')).content;
    expect(session.signInKind).toBe('PROVIDER');
  });

  test.each([
    ['nobody', ['other'], {}, 'NO_ENTRY'],
    ['ghost', ['gone'], {}, 'NO_ENTRY'],
    ['unproven', ['admins'], { email_verified: false }, 'EMAIL_NOT_VERIFIED'],
  ])('%s of %j with %j has no entry and leaves no user', async (login, groups, more, why) => {
    person(login, groups, more);
    const { at, acting } = await arrive(login);
    expect(at).toBe(`/sign-in?problem=${why}`);
    expect(await rolesOf(acting)).toBe(401);
    const members = `/v3/organizations/${world.organizationId}/members?size=1000`;
    const emails = (await owner.must('GET', members)).content.map(
      ({ email }: { email: string }) => email,
    );
    expect(emails).not.toContain(`${login}@example.org`);
  });

  test('a demand for a second factor is a matter of the provider, also for an admin who demands it', async () => {
    person('sso', ['admins']);
    const { acting } = await arrive('sso');
    const path = `/v3/organizations/${world.organizationId}/second-factor`;
    const set = (secondFactorRequired: boolean) =>
      acting.call('PUT', path, { secondFactorRequired });
    expect((await set(true)).status).toBe(200);
    expect((await acting.call('GET', '/v3/tags')).status).toBe(200);
    expect((await (await arrive('sso')).acting.call('GET', '/v3/tags')).status).toBe(200);
    expect((await owner.call('GET', '/v3/tags')).body.errorCode).toBe(
      '40393_SECOND_FACTOR_REQUIRED',
    );
    expect((await set(false)).status).toBe(200);
    expect((await owner.call('GET', '/v3/tags')).status).toBe(200);
  });

  test('roles follow the groups at every sign-in, also down and away; sessions of the past end', async () => {
    person('carol', ['admins', 'basel']);
    const jar: CookieJar = new Map();
    const first = await arrive('carol', jar);
    expect(await rolesOf(first.acting)).toEqual(['ADMIN', true]);
    person('carol', ['basel']);
    const later = await arrive('carol');
    expect(await rolesOf(later.acting)).toEqual(['MEMBER', true]);
    expect(await rolesOf(first.acting)).toEqual(['MEMBER', true]);
    person('carol', []);
    expect((await arrive('carol')).at).toBe('/sign-in?problem=NO_ENTRY');
    expect(await rolesOf(later.acting)).toBe(401);
    const audit = `/v3/audit-logs?organizationId=${world.organizationId}&resourceType=MEMBER`;
    const actions = (await owner.must('GET', audit)).content
      .filter(({ resourceName }: { resourceName: string }) => resourceName === 'carol@example.org')
      .map(({ action }: { action: string }) => action);
    expect(new Set(actions)).toEqual(new Set(['CREATE', 'UPDATE', 'DELETE']));
  });

  test('what was given by hand stays', async () => {
    const of = `/v3/organizations/${world.organizationId}`;
    await addMember(world.base, owner, of, 'dora@example.org', 'EDITOR');
    await owner.must('POST', `/v3/workspaces/${second}/members`, {
      email: 'dora@example.org',
      role: 'ADMIN',
    });
    person('dora', ['cn=viewers,ou=x']);
    expect(await rolesOf((await arrive('dora')).acting)).toEqual(['EDITOR', true]);
    person('dora', []);
    expect(await rolesOf((await arrive('dora')).acting)).toEqual(['EDITOR', true]);
  });

  test('an account that another person made with the address loses its password and sessions', async () => {
    const of = `/v3/organizations/${world.organizationId}`;
    await addMember(world.base, owner, of, 'erin@example.org', 'VIEWER');
    const thief = await signIn(world.base, 'erin@example.org');
    person('erin', []);
    expect(await rolesOf((await arrive('erin')).acting)).toEqual(['VIEWER', true]);
    expect(await rolesOf(thief)).toBe(401);
    await expect(signIn(world.base, 'erin@example.org')).rejects.toThrow('401');
  });

  test('a forwarded invitation gives the account of a provider no password', async () => {
    const other = await owner.must('POST', '/v3/organizations', { name: 'Hostile' });
    const invited = await owner.must('POST', `/v3/organizations/${other.id}/members`, {
      email: 'alice@example.org',
      role: 'ADMIN',
    });
    const token = String(invited.invitationUrl).split('/').at(-1);
    const accepted = await owner.call('POST', `/v3/auth/invitations/${token}`, { password });
    expect([accepted.status, accepted.body.errorCode]).toEqual([403, '40367_PROVIDER_ONLY']);
  });

  test('a second person with the address of the first is refused', async () => {
    person('alice2', ['admins'], { email: 'alice@example.org' });
    expect((await arrive('alice2')).at).toBe('/sign-in?problem=EMAIL_TAKEN');
  });
});

describe('the way back', () => {
  const callback = (query: string) => `${world.platform.publicUrl}/v3/auth/oidc/callback?${query}`;

  test('the cookie is Lax, sent only to the sign-in, sealed, and gone afterwards', async () => {
    const answer = await fetch(start(), { redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^oidc=s1\.[\w+/=]+; Path=\/v3\/auth\/oidc; Max-Age=600; SameSite=Lax; HttpOnly$/,
    );
    const to = new URL(answer.headers.get('location') ?? '');
    expect(to.origin).toBe(server.issuer);
    expect(to.searchParams.get('code_challenge_method')).toBe('S256');
    expect(to.searchParams.get('nonce')).toMatch(/^[\w-]{43}$/);
  });

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/a b', 'x'])(
    'an address to continue at such as %j leads to the start page',
    async (to) => {
      const jar: CookieJar = new Map();
      const page = await signInAtProvider(jar, `${start()}?to=${encodeURIComponent(to)}`, 'alice');
      expect(page.url.href).toBe(`${world.platform.publicUrl}/`);
    },
  );

  test.each([
    ['no cookie', '', ''],
    ['a cookie that is not sealed here', 'oidc=s1.AAAA', ''],
    ['a cookie of another form', 'oidc=x', ''],
  ])('%s: the sign-in has expired', async (_, cookie) => {
    const answer = await fetch(callback('code=x&state=y'), {
      redirect: 'manual',
      headers: { cookie },
    });
    expect(answer.headers.get('location')).toMatch(/\/sign-in\?problem=EXPIRED$/);
  });

  test('a state of another browser, a foreign issuer, and a wrong code lead to no session', async () => {
    for (const [change, why] of [
      [(query: URLSearchParams) => query.set('state', 'x'), 'EXPIRED'],
      [(query: URLSearchParams) => query.set('iss', 'https://evil.example'), 'FAILED'],
      [(query: URLSearchParams) => query.set('code', 'x'), 'FAILED'],
    ] as const) {
      const jar: CookieJar = new Map();
      const begun = await fetch(start(), { redirect: 'manual' });
      const sealed = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
      const { searchParams } = new URL(begun.headers.get('location') ?? '');
      const query = new URLSearchParams({
        code: 'never issued',
        iss: server.issuer,
        state: searchParams.get('state') ?? '',
      });
      change(query);
      jar.set(new URL(start()).origin, new Map([['oidc', sealed.slice('oidc='.length)]]));
      const { url } = await visit(jar, callback(query.toString()));
      expect(url.search).toBe(`?problem=${why}`);
      expect(cookiesOf(jar, url)).toBe('');
    }
  });
});

describe('signing out', () => {
  test('the answer names the page that ends the session at the provider', async () => {
    const { acting } = await arrive('alice');
    const out = await acting.call('POST', '/v3/auth/logout');
    expect(out.status).toBe(200);
    const url = new URL(out.body.endSessionUrl);
    expect(url.origin).toBe(server.issuer);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(
      `${world.platform.publicUrl}/sign-in`,
    );
    expect(url.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await owner.call('GET', '/v3/auth/me')).status).toBe(200);
  });

  test('a logout at the provider ends the session here by the back channel', async () => {
    const { jar, acting } = await arrive('alice');
    const other = await arrive('alice');
    expect(await rolesOf(acting)).toEqual(['ADMIN', true]);
    const page = await visit(jar, `${server.issuer}/session/end`);
    const secret = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    await visit(jar, `${server.issuer}/session/end/confirm`, { xsrf: secret, logout: 'yes' });
    await expect.poll(() => rolesOf(acting)).toBe(401);
    expect(await rolesOf(other.acting)).toEqual(['ADMIN', true]);
  });

  test.each([
    ['no token', ''],
    ['no JWT', 'logout_token=x'],
    ['an unsigned one', `logout_token=${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
  ])('a notification with %s is a 400', async (_, body) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await world.call('POST', '/v3/auth/oidc/back-channel-logout', body, form);
    expect(answer.status).toBe(400);
  });
});

test('the console learns of the provider, and metrics count failures by kind', async () => {
  const about = await owner.must('GET', '/v3/about');
  expect([about.signInKinds, about.provider]).toEqual([
    ['PASSWORD', 'PASSKEY', 'PROVIDER'],
    { label: 'Example' },
  ]);
  const metrics = await (await fetch(`${world.base}/metrics`)).text();
  expect(metrics).toMatch(/heliograph_provider_sign_ins_failed_total\{failure="NO_ENTRY"\} [1-9]/);
});

test('a provider that is down hinders no start and no password, and works as soon as it is there', async () => {
  const down = await startOidcServer('127.0.0.1');
  await down.close();
  const platform = await startWorld({ environment: { ...settings(), OIDC_ISSUER: down.issuer } });
  const answer = await fetch(`${platform.base}/v3/auth/oidc/start`, { redirect: 'manual' });
  expect(answer.headers.get('location')).toMatch(/\/sign-in\?problem=UNREACHABLE$/);
  await signIn(platform.base, 'admin@localhost');
  await platform.close();
});

test('without local sign-in, passwords open nothing', async () => {
  const only = await startWorld({ environment: { ...settings(), LOCAL_SIGN_IN: '0' } });
  const caller = actingBy(only.base, {});
  for (const [path, body] of [
    ['/v3/auth/login', { email: 'admin@localhost', password }],
    ['/v3/auth/password-reset', { email: 'admin@localhost' }],
    ['/v3/auth/password-reset/x', { password }],
    ['/v3/auth/invitations/x', { password }],
  ] as const) {
    const answer = await caller.call('POST', path, body);
    expect([path, answer.body.errorCode]).toEqual([path, '40366_LOCAL_SIGN_IN_OFF']);
  }
  expect((await caller.must('GET', '/v3/about')).signInKinds).toEqual(['PROVIDER']);
  const member = { email: 'new@example.org', role: 'VIEWER' };
  for (const place of [
    `/v3/organizations/${only.organizationId}`,
    `/v3/workspaces/${only.workspaceId}`,
  ]) {
    const refused = await only.call('POST', `${place}/members`, member);
    expect([refused.status, refused.body.errorCode]).toEqual([403, '40389_INVITATIONS_OFF']);
    expect((await only.must('GET', `${place}/members?size=100`)).content).not.toContainEqual(
      expect.objectContaining({ email: member.email }),
    );
  }
  await only.close();
});
