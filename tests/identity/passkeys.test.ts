// Passkeys: created, used to sign in and as second factor, removed; forged, replayed and foreign ones are refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acting, actingBy, addMember, password, signIn } from '../access/access-world.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Changed, type SoftwarePasskey, softwarePasskey } from './software-passkey.ts';

let world: World;
let now = Date.parse('2026-03-01T12:00:00Z');
let owner: Acting;
let nobody: Acting;
let origin: string;
let count = 0;
let email: string;

beforeAll(async () => {
  world = await startWorld({ now: () => now });
  origin = world.platform.publicUrl;
  nobody = actingBy(world.base, {});
  owner = await signIn(world.base, 'admin@localhost');
});
afterAll(() => world.close());
beforeEach(async () => {
  now += 1_000;
  email = `user-${++count}@example.org`;
  await addMember(world.base, owner, `/v3/organizations/${world.organizationId}`, email, 'VIEWER');
});

const path = '/v3/auth/passkeys';

async function create(acting: Acting, passkey: SoftwarePasskey, flags?: number) {
  const { ticket, options } = await acting.must('POST', `${path}/options`, { password });
  const credential = passkey.attest(options.challenge, flags);
  return acting.call('POST', path, { ticket, name: 'Laptop', credential });
}

async function created(): Promise<{ acting: Acting; passkey: SoftwarePasskey; id: string }> {
  const acting = await signIn(world.base, email);
  const passkey = softwarePasskey(origin);
  const { status, body } = await create(acting, passkey);
  expect(status).toBe(201);
  return { acting, passkey, id: body.passkey.id };
}

async function challenged(): Promise<{ ticket: string; challenge: string }> {
  now += 1_000;
  const { ticket, options } = await nobody.must('POST', '/v3/auth/login/passkey-options');
  return { ticket, challenge: options.challenge };
}

async function enter(passkey: SoftwarePasskey, changed?: Changed) {
  const { ticket, challenge } = await challenged();
  return send({ ticket, passkey: passkey.sign(challenge, changed) });
}

async function send(body: object) {
  const {
    status,
    body: answer,
    headers,
  } = await nobody.call('POST', '/v3/auth/login/passkey', body);
  return [status, answer.errorCode ?? answer.email, headers.getSetCookie().length];
}

const refused = [401, '40163_PASSKEY_REFUSED', 0];

describe('a passkey', () => {
  test('is created with the password; the first one ends other sessions and brings recovery codes', async () => {
    const [acting, other] = [await signIn(world.base, email), await signIn(world.base, email)];
    const wrong = await acting.call('POST', `${path}/options`, { password: 'x' });
    expect([wrong.status, wrong.body.errorCode]).toEqual([401, '40160_WRONG_PASSWORD']);
    const { options } = await acting.must('POST', `${path}/options`, { password });
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Heliograph' },
      user: { name: email },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
    });
    const first = await create(acting, softwarePasskey(origin));
    expect(first.body).toMatchObject({ passkey: { name: 'Laptop', lastUsed: null } });
    expect(first.body.recoveryCodes).toHaveLength(10);
    expect((await create(acting, softwarePasskey(origin))).body.recoveryCodes).toEqual([]);
    expect((await other.call('GET', '/v3/auth/me')).status).toBe(401);
    const { passkeys } = await acting.must('GET', '/v3/auth/second-factor');
    expect(passkeys).toHaveLength(2);
  });

  test('signs in without a name, and the list shows when it was used', async () => {
    const { acting, passkey } = await created();
    expect(await enter(passkey)).toEqual([200, email, 2]);
    const { passkeys } = await acting.must('GET', '/v3/auth/second-factor');
    expect(passkeys[0].lastUsed).toEqual(expect.any(String));
    const sessions = (await acting.must('GET', '/v3/auth/sessions')).content;
    expect(sessions.map((one: { signInKind: string }) => one.signInKind)).toContain('PASSKEY');
  });

  test('is the second factor of a sign-in with the password', async () => {
    const { passkey } = await created();
    const first = await nobody.call('POST', '/v3/auth/login', { email, password });
    expect([first.status, first.body.secondFactors]).toEqual([202, ['PASSKEY', 'RECOVERY_CODE']]);
    const { ticket, passkeyOptions } = first.body;
    expect(passkeyOptions.allowCredentials).toMatchObject([{ id: passkey.id }]);
    const body = { ticket, passkey: passkey.sign(passkeyOptions.challenge) };
    const second = () => nobody.call('POST', '/v3/auth/login/second-factor', body);
    expect((await second()).status).toBe(200);
    expect((await second()).body.errorCode).toBe('40163_PASSKEY_REFUSED');
  });

  test('is enough where a second factor is demanded, and the last one then stays', async () => {
    const { organizationId } = world;
    const admin = `admin-${email}`;
    await addMember(world.base, owner, `/v3/organizations/${organizationId}`, admin, 'ADMIN');
    const demanding = await signIn(world.base, admin);
    expect((await create(demanding, softwarePasskey(origin))).status).toBe(201);
    const [{ acting, id }, setting] = [
      await created(),
      `/v3/organizations/${organizationId}/second-factor`,
    ];
    await demanding.must('PUT', setting, { secondFactorRequired: true });
    expect((await acting.call('GET', '/v3/tags')).status).toBe(200);
    const other = (await create(acting, softwarePasskey(origin))).body.passkey.id;
    const remove = async (which: string) =>
      (await acting.call('POST', `${path}/${which}/remove`, { password })).body?.errorCode;
    expect(await remove(id)).toBeUndefined();
    expect(await remove(other)).toBe('40993_SECOND_FACTOR_DEMANDED');
    await demanding.must('PUT', setting, { secondFactorRequired: false });
    expect(await remove(other)).toBeUndefined();
  });

  test('is renamed and removed by its user; the password is then enough', async () => {
    const { acting, passkey, id } = await created();
    expect((await acting.call('PUT', `${path}/${id}`, { name: 'Phone' })).status).toBe(204);
    expect((await acting.must('GET', '/v3/auth/second-factor')).passkeys[0].name).toBe('Phone');
    const foreign = [
      await owner.call('PUT', `${path}/${id}`, { name: 'Mine' }),
      await owner.call('POST', `${path}/${id}/remove`, { password }),
    ];
    expect(foreign.map(({ status }) => status)).toEqual([404, 404]);
    expect((await acting.call('POST', `${path}/${id}/remove`, { password })).status).toBe(204);
    expect(await enter(passkey)).toEqual(refused);
    const state = await acting.must('GET', '/v3/auth/second-factor');
    expect(state).toMatchObject({ passkeys: [], recoveryCodes: 0 });
    expect((await nobody.call('POST', '/v3/auth/login', { email, password })).status).toBe(200);
  });
});

describe('attacks', () => {
  test.each([
    ['signed for another page', { origin: 'https://evil.example' }],
    ['of another host', { rpId: 'evil.example' }],
    ['without finger, face or PIN', { flags: 0x01 }],
  ])('a signature %s is refused', async (_, changed) => {
    const { passkey } = await created();
    expect(await enter(passkey, changed)).toEqual(refused);
  });

  test('an answer counts once, also of two requests together, and not after a later one', async () => {
    const { passkey } = await created();
    const [early, late] = [await challenged(), await challenged()];
    const answerTo = ({ ticket, challenge }: typeof early) => ({
      ticket,
      passkey: passkey.sign(challenge),
    });
    const [earlyAnswer, lateAnswer] = [answerTo(early), answerTo(late)];
    const both = await Promise.all([send(lateAnswer), send(lateAnswer)]);
    expect(both.map(([status]) => status).sort()).toEqual([200, 401]);
    expect(await send(earlyAnswer)).toEqual(refused);
  });

  test('an unknown passkey, and one that answers the challenge of another ticket, are refused', async () => {
    const { passkey } = await created();
    expect(await enter(softwarePasskey(origin))).toEqual(refused);
    const [one, other] = [await challenged(), await challenged()];
    const mixed = { ticket: one.ticket, passkey: passkey.sign(other.challenge) };
    expect(await send(mixed)).toEqual(refused);
    now += 5 * 60_000;
    const old = { ticket: one.ticket, passkey: passkey.sign(one.challenge) };
    expect(await send(old)).toEqual([401, '40162_TICKET_EXPIRED', 0]);
  });

  test('the passkey of another user is refused as second factor', async () => {
    const { passkey } = await created();
    email = `user-${++count}@example.org`;
    await addMember(
      world.base,
      owner,
      `/v3/organizations/${world.organizationId}`,
      email,
      'VIEWER',
    );
    await created();
    const { body } = await nobody.call('POST', '/v3/auth/login', { email, password });
    const shown = { ticket: body.ticket, passkey: passkey.sign(body.passkeyOptions.challenge) };
    const answer = await nobody.call('POST', '/v3/auth/login/second-factor', shown);
    expect([answer.status, answer.body.errorCode]).toEqual([401, '40163_PASSKEY_REFUSED']);
  });

  test('a credential is registered once, verified, and by the user who asked', async () => {
    const acting = await signIn(world.base, email);
    const passkey = softwarePasskey(origin);
    expect((await create(acting, passkey, 0x01)).body.errorCode).toBe('40163_PASSKEY_REFUSED');
    const { ticket, options } = await acting.must('POST', `${path}/options`, { password });
    const body = { ticket, name: 'X', credential: passkey.attest(options.challenge) };
    const stolen = await owner.call('POST', path, body);
    expect([stolen.status, stolen.body.errorCode]).toEqual([401, '40162_TICKET_EXPIRED']);
    expect((await acting.call('POST', path, body)).status).toBe(201);
    const twice = await acting.call('POST', path, body);
    expect([twice.status, twice.body.errorCode]).toEqual([409, '40987_PASSKEY_EXISTS']);
  });
});

test('an address has no passkeys, and says so', async () => {
  const other = await startWorld({ environment: { PUBLIC_URL: 'http://192.0.2.1:8080' } });
  const guest = actingBy(other.base, {});
  const answer = await guest.call('POST', '/v3/auth/login/passkey-options');
  expect([answer.status, answer.body.errorCode]).toEqual([403, '40386_PASSKEYS_OFF']);
  expect((await guest.must('GET', '/v3/about')).signInKinds).toEqual(['PASSWORD']);
  await other.close();
});
