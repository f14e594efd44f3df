// Own sessions: listed with where they began, ended one by one, and seen by no other user (contract 35).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  actingBy,
  password,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

async function signInFrom(userAgent: string): Promise<Acting> {
  const body = { email: 'admin@localhost', password };
  const answer = await at.nobody.call('POST', '/v3/auth/login', body, { 'user-agent': userAgent });
  const cookies = answer.headers.getSetCookie().map((one) => one.split(';')[0]);
  return actingBy(at.base, { cookie: cookies.join('; '), 'x-csrf-token': answer.body.csrfToken });
}

const path = '/v3/auth/sessions';
const sessionsOf = async (acting: Acting) => (await acting.must('GET', path)).content;
const me = async (acting: Acting) => (await acting.call('GET', '/v3/auth/me')).status;

describe('own sessions', () => {
  test('the list names browser, address and kind, the newest first, and nothing secret', async () => {
    const phone = await signInFrom('Phone/1');
    const desk = await signInFrom('D'.repeat(5_000));
    const [newest, second] = await sessionsOf(phone);
    expect(newest).toMatchObject({ current: false, userAgent: 'D'.repeat(300) });
    expect(second).toEqual({
      id: expect.stringMatching(/^54/),
      current: true,
      signInKind: 'PASSWORD',
      userAgent: 'Phone/1',
      ip: '127.0.0.1',
      created: expect.any(String),
      lastSeen: expect.any(String),
      expires: expect.any(String),
    });
    for (const acting of [phone, desk]) await acting.must('POST', '/v3/auth/logout');
  });

  test('one is ended: its next request is a 401, others continue, and the audit log has it', async () => {
    const [kept, lost] = [await signInFrom('Kept/1'), await signInFrom('Lost/1')];
    const { id } = (await sessionsOf(lost)).find((one: { current: boolean }) => one.current);
    expect((await kept.call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect([await me(lost), await me(kept)]).toEqual([401, 200]);
    expect((await kept.call('DELETE', `${path}/${id}`)).status).toBe(404);
    const audit = `/v3/audit-logs?organizationId=${at.world.organizationId}&action=LOGOUT`;
    const [entry] = (await kept.must('GET', audit)).content;
    expect(entry.changes).toEqual([
      { field: 'session', before: { id, userAgent: 'Lost/1', ip: '127.0.0.1' } },
    ]);
    await kept.must('POST', '/v3/auth/logout');
  });

  test('the session of another user is not there', async () => {
    const own = (await sessionsOf(at.otherOwner))[0].id;
    expect((await at.owner.call('DELETE', `${path}/${own}`)).status).toBe(404);
    expect(await me(at.otherOwner)).toBe(200);
    const ids = (await sessionsOf(at.owner)).map(({ id }: { id: string }) => id);
    expect(ids).not.toContain(own);
  });

  test('all others are ended together', async () => {
    const [kept, lost] = [await signInFrom('Kept/2'), await signInFrom('Lost/2')];
    const count = (await sessionsOf(kept)).length;
    expect(await kept.must('POST', `${path}/end-others`)).toEqual({ sessions: count - 1 });
    expect([await me(lost), await me(kept), await me(at.owner)]).toEqual([401, 200, 401]);
    expect(await sessionsOf(kept)).toHaveLength(1);
  });

  test('security 9, ASVS 7.2.4: signing in again ends the session that the browser had', async () => {
    const email = 'admin@localhost';
    const first = await fetch(`${at.base}/v3/auth/login`, loginOf(email));
    const cookie = first.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    const was = actingBy(at.base, { cookie });
    expect(await me(was)).toBe(200);
    const again = await fetch(`${at.base}/v3/auth/login`, loginOf(email, { cookie }));
    expect(again.status).toBe(200);
    expect(await me(was)).toBe(401);
  });
});

const loginOf = (email: string, headers: object = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ email, password }),
});

test('security 9, ASVS 7.5.2: a session that began a while ago ends others only with the password', async () => {
  let later = 0;
  const old = await startAccessWorld({}, { now: () => Date.now() + later });
  try {
    const login = async () => {
      const body = { email: 'admin@localhost', password };
      const answer = await old.nobody.call('POST', '/v3/auth/login', body);
      const cookies = answer.headers.getSetCookie().map((one) => one.split(';')[0]);
      const headers = { cookie: cookies.join('; '), 'x-csrf-token': answer.body.csrfToken };
      return actingBy(old.base, headers);
    };
    const [kept, lost] = [await login(), await login()];
    later = 11 * 60_000;
    const { id } = (await sessionsOf(lost)).find((one: { current: boolean }) => one.current);
    for (const [method, where] of [
      ['POST', `${path}/end-others`],
      ['POST', '/v3/auth/logout-everywhere'],
      ['DELETE', `${path}/${id}`],
    ] as const) {
      const plain = await kept.call(method, where);
      expect([plain.status, plain.body.errorCode]).toEqual([403, '40399_AUTHENTICATE_AGAIN']);
      expect((await kept.call(method, where, { password: 'wrong' })).status).toBe(401);
      expect(await me(lost)).toBe(200);
    }
    expect((await kept.call('DELETE', `${path}/${id}`, { password })).status).toBe(204);
    expect(await me(lost)).toBe(401);
    expect((await kept.call('POST', `${path}/end-others`, { password })).status).toBe(200);
    expect(await me(kept)).toBe(200);
    const all = await kept.call('POST', '/v3/auth/logout-everywhere', { password });
    expect([all.status, all.body]).toEqual([200, { sessions: 1 }]);
    expect(await me(kept)).toBe(401);
  } finally {
    await old.close();
  }
});

test('security 9, ASVS 3.3.1 and 3.3.3: by https, cookies are of this host alone', async () => {
  const secure = await startAccessWorld({ PUBLIC_URL: 'https://iot.example.com' });
  try {
    const body = { email: 'admin@localhost', password };
    const answer = await secure.nobody.call('POST', '/v3/auth/login', body);
    const set = answer.headers.getSetCookie();
    expect(set[0]).toMatch(
      /^__Host-session=[^;]+; Path=\/; Max-Age=\d+; SameSite=Strict; HttpOnly; Secure$/,
    );
    expect(set[1]).toMatch(/^__Host-csrf=[^;]+; Path=\/; Max-Age=\d+; SameSite=Strict; Secure$/);
    const token = /=([^;]+)/.exec(set[0] ?? '')?.[1];
    expect(await me(actingBy(secure.base, { cookie: `__Host-session=${token}` }))).toBe(200);
    // Which another site of the same domain could set.
    expect(await me(actingBy(secure.base, { cookie: `session=${token}` }))).toBe(401);
  } finally {
    await secure.close();
  }
});
