// Signing in with a password, the session cookie, csrf, signing out, and guessing (contract, decisions and section 35).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import {
  type AccessWorld,
  actingBy,
  addMember,
  password,
  signIn,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

const login = (body: object, headers: Record<string, string> = {}) =>
  at.nobody.call('POST', '/v3/auth/login', body, headers);
const me = (headers: Record<string, string>) =>
  at.nobody.call('GET', '/v3/auth/me', undefined, headers);

describe('signing in', () => {
  test('answers the user and sets two cookies: one for the server only, one for the page', async () => {
    const { status, body, headers } = await login({ email: ' Admin@LOCALHOST ', password });
    expect([status, body]).toMatchObject([
      200,
      { email: 'admin@localhost', role: 'OWNER', csrfToken: expect.any(String) },
    ]);
    expect(body.organizationId).toBe(at.world.organizationId);
    const [session, csrf] = headers.getSetCookie();
    expect(session).toMatch(
      /^session=[\w-]{43}; Path=\/; Max-Age=604800; SameSite=Strict; HttpOnly$/,
    );
    expect(csrf).toBe(`csrf=${body.csrfToken}; Path=/; Max-Age=604800; SameSite=Strict`);
  });

  test('over https cookies are secure, and browsers must stay with https', async () => {
    const secure = await startAccessWorld({ PUBLIC_URL: 'https://platform.example' });
    const answer = await secure.nobody.call('POST', '/v3/auth/login', {
      email: 'admin@localhost',
      password,
    });
    for (const cookie of answer.headers.getSetCookie()) expect(cookie).toMatch(/; Secure$/);
    expect(answer.headers.get('strict-transport-security')).toContain('max-age=31536000');
    await secure.close();
  });

  test.each([
    ['a wrong password', { email: 'admin@localhost', password: 'wrong' }],
    ['an unknown address', { email: 'nobody@localhost', password }],
    ['a password with a space more', { email: 'admin@localhost', password: `${password} ` }],
    ['the hash as password', { email: 'admin@localhost', password: '!' }],
  ])('%s: 401 with one and the same answer', async (_, body) => {
    const answer = await login(body);
    expect([answer.status, answer.body.errorCode, answer.headers.getSetCookie()]).toEqual([
      401,
      '40160_WRONG_PASSWORD',
      [],
    ]);
  });

  test('an unknown address takes as long as a wrong password', async () => {
    // Of the processor, which hashes for either; the clock also counts what the machine does besides.
    const worked = async (email: string) => {
      const taken: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const before = process.cpuUsage();
        await login({ email, password: 'wrong' });
        const { user, system } = process.cpuUsage(before);
        taken.push(user + system);
      }
      return taken.sort((a, b) => a - b)[2]!;
    };
    const [known, unknown] = [await worked('admin@localhost'), await worked('nobody2@localhost')];
    expect(unknown).toBeGreaterThan(known / 3);
    expect(unknown).toBeLessThan(known * 3);
  });
});

describe('a session', () => {
  test('reads without csrf token and changes only with it', async () => {
    const { headers } = await signIn(at.base, 'admin@localhost');
    const cookie = headers['cookie']!;
    expect((await me({ cookie })).status).toBe(200);
    const change = (more: Record<string, string>) =>
      at.nobody.call(
        'POST',
        '/v3/tags',
        { workspaceId: at.world.workspaceId, name: 'csrf' },
        { cookie, ...more },
      );
    for (const more of [
      {},
      { 'x-csrf-token': '' },
      { 'x-csrf-token': 'x' },
      { 'x-csrf-token': cookie },
    ]) {
      const refused = await change(more);
      expect([refused.status, refused.body.errorCode]).toEqual([403, '40360_CSRF_TOKEN_MISSING']);
    }
    const another = await signIn(at.base, 'admin@localhost');
    expect((await change({ 'x-csrf-token': another.headers['x-csrf-token']! })).status).toBe(403);
    expect((await change({ 'x-csrf-token': headers['x-csrf-token']! })).status).toBe(201);
  });

  test('a key has priority over the cookie, so that a page with a key acts as the key', async () => {
    const key = await at.key({ permissions: { asset: ['read'] } });
    const both = { cookie: at.owner.headers['cookie']!, ...key.headers };
    expect((await me(both)).body).toMatchObject({ kind: 'API_KEY', id: key.id });
    expect(
      (await at.nobody.call('GET', '/v3/organizations', undefined, both)).body.content,
    ).toHaveLength(1);
  });

  test('other cookies of the host do not matter', async () => {
    const cookie = at.owner.headers['cookie']!;
    expect((await me({ cookie: `a=1; ${cookie}; b="x;y"` })).status).toBe(200);
    expect((await me({ cookie: 'a=1' })).status).toBe(401);
    expect((await me({ cookie: 'xsession=1; session=' })).status).toBe(401);
  });

  test('signing out ends only this session, and its live connections', async () => {
    const [here, there] = [
      await signIn(at.base, 'admin@localhost'),
      await signIn(at.base, 'admin@localhost'),
    ];
    const live = await liveBy(here.headers['cookie']!);
    const closed = new Promise<number>((resolve) => live.socket.on('close', resolve));
    const out = await here.call('POST', '/v3/auth/logout');
    expect(out.status).toBe(204);
    expect(out.headers.getSetCookie()[0]).toMatch(/^session=; Path=\/; Max-Age=0/);
    expect((await here.call('GET', '/v3/auth/me')).status).toBe(401);
    expect((await there.call('GET', '/v3/auth/me')).status).toBe(200);
    expect(await closed).toBe(4401);
  });

  test('signing out everywhere ends every session of the user', async () => {
    const { base, owner, world } = at;
    await addMember(
      base,
      owner,
      `/v3/organizations/${world.organizationId}`,
      'many@example.org',
      'VIEWER',
    );
    const sessions = [
      await signIn(base, 'many@example.org'),
      await signIn(base, 'many@example.org'),
    ];
    expect(await sessions[0]!.must('POST', '/v3/auth/logout-everywhere')).toEqual({ sessions: 2 });
    for (const session of sessions)
      expect((await session.call('GET', '/v3/auth/me')).status).toBe(401);
    expect((await owner.call('GET', '/v3/auth/me')).status).toBe(200);
  });

  test('a changed password ends the other sessions; a weak or wrong one changes nothing', async () => {
    const { base, owner, world } = at;
    await addMember(
      base,
      owner,
      `/v3/organizations/${world.organizationId}`,
      'changes@example.org',
      'VIEWER',
    );
    const [here, there] = [
      await signIn(base, 'changes@example.org'),
      await signIn(base, 'changes@example.org'),
    ];
    const change = (currentPassword: string, newPassword: string) =>
      here.call('PUT', '/v3/auth/password', { currentPassword, newPassword });
    expect((await change('wrong', 'another good one')).status).toBe(401);
    expect((await change(password, 'short')).body.errorCode).toBe('40061_PASSWORD_TOO_WEAK');
    expect((await change(password, 'Changes@example.org')).status).toBe(400);
    expect((await change(password, 'another good one')).status).toBe(204);
    expect((await here.call('GET', '/v3/auth/me')).status).toBe(200);
    expect((await there.call('GET', '/v3/auth/me')).status).toBe(401);
    await signIn(base, 'changes@example.org', { password: 'another good one' });
  });

  async function liveBy(cookie: string) {
    const { WebSocket } = await import('ws');
    const url = `${at.base.replace('http', 'ws')}/v3/data-streams`;
    const socket = new WebSocket(url, { headers: { cookie, origin: at.base } });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return { socket };
  }
});

describe('live connections end with their credential', () => {
  const closing = async (parameters: string) => {
    const live = await openLive(`${at.base.replace('http', 'ws')}/v3/data-streams?${parameters}`);
    return new Promise<number>((resolve) => live.socket.on('close', resolve));
  };
  test('interface 5 rule 6: a deleted key', async () => {
    const key = await at.key();
    const live = await openLive(
      `${at.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${key.secret}`,
    );
    const closed = new Promise<number>((resolve) => live.socket.on('close', resolve));
    await at.owner.must('DELETE', `/v3/api-keys/${key.id}`);
    expect(await closed).toBe(4401);
    await expect(closing(`xApiKey=${key.secret}`)).rejects.toThrow('401');
  });
  test('interface 5 rules 9 and 11: the token of a deleted client', async () => {
    const client = await at.client();
    const live = await openLive(
      `${at.base.replace('http', 'ws')}/v3/data-streams?access_token=${client.token}`,
    );
    const closed = new Promise<number>((resolve) => live.socket.on('close', resolve));
    await at.owner.must('DELETE', `/v3/oauth-clients/${client.id}`);
    expect(await closed).toBe(4401);
    await expect(closing(`access_token=${client.token}`)).rejects.toThrow('401');
  });
});

describe('guessing', () => {
  test('the eleventh wrong password for an account from an address is a 429; others are let in, and so is a foreign account', async () => {
    const email = 'guessed@example.org';
    const { base, owner, world } = at;
    await addMember(base, owner, `/v3/organizations/${world.organizationId}`, email, 'VIEWER');
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1)
      statuses.push((await login({ email, password: `guess ${n}` })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
    const refused = await login({ email, password });
    expect([refused.status, refused.body.errorCode]).toEqual([429, '42901_TOO_MANY_ATTEMPTS']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await login({ email: 'admin@localhost', password })).status).toBe(200);
  });
  test('concurrent guesses have no advantage', async () => {
    const all = Array.from({ length: 30 }, (_, n) =>
      login({ email: 'burst@example.org', password: `guess ${n}` }),
    );
    const statuses = (await Promise.all(all)).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  });
  test('behind a trusted proxy, addresses are distinguished', async () => {
    const behind = await startAccessWorld({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const from = (ip: string, email: string) =>
      behind.nobody.call(
        'POST',
        '/v3/auth/login',
        { email, password: 'wrong' },
        { 'x-forwarded-for': ip },
      );
    for (let n = 0; n < 10; n += 1) await from('203.0.113.1', 'admin@localhost');
    expect((await from('203.0.113.1', 'admin@localhost')).status).toBe(429);
    expect((await from('203.0.113.2', 'admin@localhost')).status).toBe(401);
    await behind.close();
    // By default no proxy is trusted: then the header has no effect.
    expect(
      (
        await actingBy(at.base, {}).call(
          'POST',
          '/v3/auth/login',
          { email: 'guessed@example.org', password },
          { 'x-forwarded-for': '203.0.113.9' },
        )
      ).status,
    ).toBe(429);
  });
});
