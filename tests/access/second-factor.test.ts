// Second factor: set up with a first code, asked for at sign-in, used once, guessed in vain, and removed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CodeSecret } from '../../src/access/second-factor.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Acting, actingBy, addMember, password, signIn } from './access-world.ts';

let world: World;
let now = Date.parse('2026-03-01T12:00:00Z');
let nobody: Acting;
let owner: Acting;
let count = 0;
let email = '';

beforeAll(async () => {
  world = await startWorld({ now: () => now });
  nobody = actingBy(world.base, {});
  owner = await signIn(world.base, 'admin@localhost');
});
afterAll(() => world.close());
beforeEach(async () => {
  email = `user-${++count}@example.org`;
  await addMember(world.base, owner, `/v3/organizations/${world.organizationId}`, email, 'VIEWER');
});

const path = '/v3/auth/second-factor';
/** Codes count once, so that each needs its own interval. */
function nextCode(secret: string): string {
  now += 30_000;
  return CodeSecret.parse(secret).codeOf(Math.floor(now / 30_000));
}

async function setUp(): Promise<{ acting: Acting; secret: string; recoveryCodes: string[] }> {
  const acting = await signIn(world.base, email);
  const { secret } = await acting.must('POST', `${path}/app`, { password });
  const { recoveryCodes } = await acting.must('POST', `${path}/app/confirm`, {
    code: nextCode(secret),
  });
  return { acting, secret, recoveryCodes };
}

const firstStep = async () =>
  (await nobody.call('POST', '/v3/auth/login', { email, password })).body.ticket as string;
const secondStep = async (shown: object, ticket?: string) => {
  const { status, body, headers } = await nobody.call('POST', '/v3/auth/login/second-factor', {
    ticket: ticket ?? (await firstStep()),
    ...shown,
  });
  return [status, body.errorCode ?? body.email, headers.getSetCookie().length];
};
const entered = () => [200, email, 2];
const wrong = [401, '40161_WRONG_CODE', 0];

describe('setting up an authenticator app', () => {
  test('asks the password, counts with the first code only, and ends other sessions', async () => {
    const [acting, other] = [await signIn(world.base, email), await signIn(world.base, email)];
    const refused = await acting.call('POST', `${path}/app`, { password: 'wrong' });
    expect([refused.status, refused.body.errorCode]).toEqual([401, '40160_WRONG_PASSWORD']);
    const { secret, address } = await acting.must('POST', `${path}/app`, { password });
    expect(address).toContain(`secret=${secret}`);
    expect(await acting.must('GET', path)).toMatchObject({ authenticatorApp: null });
    expect((await signIn(world.base, email)).headers['cookie']).toContain('session=');
    const bad = await acting.call('POST', `${path}/app/confirm`, { code: '000000' });
    expect([bad.status, bad.body.errorCode]).toEqual([401, '40161_WRONG_CODE']);
    const { recoveryCodes } = await acting.must('POST', `${path}/app/confirm`, {
      code: nextCode(secret),
    });
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await acting.must('GET', path)).toMatchObject({
      available: true,
      authenticatorApp: { created: expect.any(String) },
      recoveryCodes: 10,
    });
    expect((await other.call('GET', '/v3/auth/me')).status).toBe(401);
    const again = await acting.call('POST', `${path}/app`, { password });
    expect([again.status, again.body.errorCode]).toEqual([409, '40985_SECOND_FACTOR_EXISTS']);
    const audit = `/v3/audit-logs?organizationId=${world.organizationId}&action=UPDATE`;
    const [entry] = (await owner.must('GET', audit)).content;
    expect(entry).toMatchObject({
      resourceName: email,
      changes: [{ field: 'authenticatorApp', after: true }],
    });
  });
});

describe('signing in with a second factor', () => {
  test('the password leads to a ticket and no session; the code completes it', async () => {
    const { secret } = await setUp();
    const first = await nobody.call('POST', '/v3/auth/login', { email, password });
    expect([first.status, first.headers.getSetCookie()]).toEqual([202, []]);
    expect(first.body).toEqual({
      ticket: expect.any(String),
      expires: expect.any(String),
      secondFactors: ['ONE_TIME_CODE', 'RECOVERY_CODE'],
      passkeyOptions: null,
    });
    expect(await secondStep({ code: nextCode(secret) }, first.body.ticket)).toEqual(entered());
  });

  test('a wrong password gets the same answer as without a second factor', async () => {
    await setUp();
    const { status, body } = await nobody.call('POST', '/v3/auth/login', { email, password: 'x' });
    expect([status, body.errorCode]).toEqual([401, '40160_WRONG_PASSWORD']);
  });

  test('a code counts once, also of two requests together', async () => {
    const { secret } = await setUp();
    const code = nextCode(secret);
    const both = await Promise.all([secondStep({ code }), secondStep({ code })]);
    expect(both.map(([status]) => status).sort()).toEqual([200, 401]);
    expect(await secondStep({ code })).toEqual(wrong);
  });

  test('a recovery code counts once, however it is written', async () => {
    const { acting, recoveryCodes } = await setUp();
    const [first = ''] = recoveryCodes;
    const recoveryCode = ` ${first.toLowerCase().replaceAll('-', ' ')}`;
    expect(await secondStep({ recoveryCode })).toEqual(entered());
    expect(await secondStep({ recoveryCode })).toEqual(wrong);
    expect((await acting.must('GET', path)).recoveryCodes).toBe(9);
    const renewed = await acting.must('POST', `${path}/recovery-codes`, { password });
    expect(await secondStep({ recoveryCode: recoveryCodes[1] })).toEqual(wrong);
    expect(await secondStep({ recoveryCode: renewed.recoveryCodes[1] })).toEqual(entered());
  });

  test.each([
    ['nothing', {}],
    ['empty members', { code: null, recoveryCode: null }],
    ['a recovery code of nothing', { recoveryCode: '-' }],
  ])('%s is wrong', async (_, shown) => {
    await setUp();
    expect(await secondStep(shown)).toEqual(wrong);
  });

  test('a ticket ends after five minutes, with a new password, and is worth nothing elsewhere', async () => {
    const { acting, secret } = await setUp();
    const expired = [401, '40162_TICKET_EXPIRED', 0];
    const old = await firstStep();
    now += 5 * 60_000;
    expect(await secondStep({ code: nextCode(secret) }, old)).toEqual(expired);
    const before = await firstStep();
    const newPassword = 'another battery horse staple';
    await acting.must('PUT', '/v3/auth/password', { currentPassword: password, newPassword });
    expect(await secondStep({ code: nextCode(secret) }, before)).toEqual(expired);
    expect(await secondStep({ code: nextCode(secret) }, 's1.AAAA')).toEqual(expired);
    const cookie = { cookie: `session=${before}` };
    expect((await nobody.call('GET', '/v3/auth/me', undefined, cookie)).status).toBe(401);
  });

  test('guessing is stopped after a few codes; the user waits and continues', async () => {
    const { secret } = await setUp();
    const ticket = await firstStep();
    for (let n = 0; n < 5; n += 1)
      expect(await secondStep({ code: '12345x' }, ticket)).toEqual(wrong);
    expect((await secondStep({ code: nextCode(secret) }, ticket))[0]).toBe(429);
    now += 120_000;
    expect(await secondStep({ code: nextCode(secret) })).toEqual(entered());
  });

  test('without the app the password is enough again', async () => {
    const { acting, secret } = await setUp();
    await acting.must('POST', `${path}/app/remove`, { password });
    expect(await acting.must('GET', path)).toMatchObject({
      authenticatorApp: null,
      recoveryCodes: 0,
    });
    expect((await signIn(world.base, email)).headers['cookie']).toContain('session=');
    const none = await acting.call('POST', `${path}/app/confirm`, { code: nextCode(secret) });
    expect([none.status, none.body.errorCode]).toEqual([409, '40986_NO_SECOND_FACTOR']);
  });
});
