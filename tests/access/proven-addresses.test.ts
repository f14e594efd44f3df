// Proven addresses: membership elsewhere, password reset by mail, and the pages of mailed links.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  actingBy,
  addMember,
  password,
  signIn,
  startAccessWorld,
} from './access-world.ts';
import { CodeSecret } from '../../src/access/second-factor.ts';
import { type MailBox, openMailBox } from './mail-box.ts';

let box: MailBox;
let at: AccessWorld;
let ofOrganization: string;
let ofOther: string;
beforeAll(async () => {
  box = await openMailBox();
  at = await startAccessWorld({ SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' });
  ofOrganization = `/v3/organizations/${at.world.organizationId}`;
  ofOther = `/v3/organizations/${at.otherOrganizationId}`;
});
afterAll(async () => {
  await at.close();
  await box.close();
});

const tokenIn = (text: string) => /\/(?:invitations|password-reset)\/([\w-]{43})/.exec(text)![1]!;
const accept = (token: string, body: object) =>
  at.nobody.call('POST', `/v3/auth/invitations/${token}`, body);
const login = (email: string, secret: string) =>
  at.nobody.call('POST', '/v3/auth/login', { email, password: secret });
const asked = (email: string) => at.nobody.call('POST', '/v3/auth/password-reset', { email });
const chosen = 'a password of the real owner';

describe('review security 11: an address that another user took', () => {
  test('is taken over by its owner with the mailed link of another organization; the old sessions end', async () => {
    const email = 'victim@example.org';
    await addMember(at.base, at.otherOwner, ofOther, email, 'VIEWER');
    await box.newest(email);
    const thief = await signIn(at.base, email);
    const app = '/v3/auth/second-factor/app';
    const { secret } = await thief.must('POST', app, { password });
    const code = CodeSecret.parse(secret).codeOf(Math.floor(Date.now() / 30_000));
    await thief.must('POST', `${app}/confirm`, { code });
    const invited = await at.owner.must('POST', `${ofOrganization}/members`, {
      email,
      role: 'EDITOR',
    });
    const { text } = await box.newest(email, 1);
    const handed = tokenIn(invited.invitationUrl);
    // The link that the inviter has sets no password, and does not say whether there is an account.
    expect((await accept(handed, { name: 'Thief', password: chosen })).status).toBe(401);
    expect((await at.nobody.call('GET', `/v3/auth/invitations/${handed}`)).body.newUser).toBeNull();
    expect(
      (await at.nobody.call('GET', `/v3/auth/invitations/${tokenIn(text)}`)).body.newUser,
    ).toBe(true);
    expect((await accept(tokenIn(text), { name: 'Owner', password: chosen })).status).toBe(200);
    expect((await thief.call('GET', '/v3/auth/me')).status).toBe(401);
    expect((await login(email, password)).status).toBe(401);
    // The app of the other person keeps the owner out no more.
    const owner = await signIn(at.base, email, { password: chosen });
    expect(await owner.must('GET', '/v3/auth/me')).toMatchObject({ name: 'Owner' });
  });

  test('once proven it is not taken over again: the own password is asked for', async () => {
    const email = 'proven@example.org';
    await at.owner.must('POST', `${ofOrganization}/members`, { email, role: 'VIEWER' });
    expect((await accept(tokenIn((await box.newest(email)).text), { password })).status).toBe(200);
    await at.otherOwner.must('POST', `${ofOther}/members`, { email, role: 'VIEWER' });
    const token = tokenIn((await box.newest(email, 1)).text);
    expect((await at.nobody.call('GET', `/v3/auth/invitations/${token}`)).body.newUser).toBe(false);
    expect((await accept(token, { password: chosen })).status).toBe(401);
    expect((await accept(token, { password })).status).toBe(200);
  });

  test('only a user with a proven address makes organizations', async () => {
    await addMember(at.base, at.owner, ofOrganization, 'handed@example.org', 'ADMIN');
    const handed = await signIn(at.base, 'handed@example.org');
    const refused = await handed.call('POST', '/v3/organizations', { name: 'Mine' });
    expect([refused.status, refused.body.errorCode]).toEqual([403, '40365_ADDRESS_NOT_PROVEN']);
    expect(
      (
        await (
          await signIn(at.base, 'proven@example.org')
        ).call('POST', '/v3/organizations', { name: 'M' })
      ).status,
    ).toBe(201);
  });
});

describe('contract 36: passwords are reset by mail', () => {
  test('the link works once, ends every session and proves the address', async () => {
    const email = 'forgot@example.org';
    await addMember(at.base, at.owner, ofOrganization, email, 'VIEWER');
    const before = await signIn(at.base, email);
    const mailsBefore = box.mails.filter(({ to }) => to === email).length;
    expect((await asked(' Forgot@Example.org ')).status).toBe(202);
    const token = tokenIn((await box.newest(email, mailsBefore)).text);
    const set = (secret: string) =>
      at.nobody.call('POST', `/v3/auth/password-reset/${token}`, { password: secret });
    expect((await set('password1234')).body.errorCode).toBe('40061_PASSWORD_TOO_WEAK');
    expect((await set(chosen)).status).toBe(204);
    expect((await set(chosen)).status).toBe(404);
    expect((await before.call('GET', '/v3/auth/me')).status).toBe(401);
    expect((await login(email, password)).status).toBe(401);
    const now = await signIn(at.base, email, { password: chosen });
    expect((await now.call('POST', '/v3/organizations', { name: 'Own' })).status).toBe(201);
  });

  test('security 9: a request of a stranger does not end the link that was mailed before', async () => {
    const email = 'twice@example.org';
    await addMember(at.base, at.owner, ofOrganization, email, 'VIEWER');
    const before = box.mails.filter(({ to }) => to === email).length;
    await asked(email);
    const first = tokenIn((await box.newest(email, before)).text);
    await asked(email);
    const second = tokenIn((await box.newest(email, before + 1)).text);
    const set = (token: string) =>
      at.nobody.call('POST', `/v3/auth/password-reset/${token}`, { password: chosen });
    expect((await set(first)).status).toBe(204);
    // One that was used ends the others.
    expect((await set(second)).status).toBe(404);
  });

  test('security 7, ASVS 6.4.3: the mailbox alone does not outweigh a second factor, proven or not', async () => {
    const email = 'factor@example.org';
    await addMember(at.base, at.owner, ofOrganization, email, 'VIEWER');
    const member = await signIn(at.base, email);
    const app = '/v3/auth/second-factor/app';
    const { secret } = await member.must('POST', app, { password });
    const step = Math.floor(Date.now() / 30_000);
    const code = (later: number) => CodeSecret.parse(secret).codeOf(step + later);
    await member.must('POST', `${app}/confirm`, { code: code(0) });
    const mailsBefore = box.mails.filter(({ to }) => to === email).length;
    await asked(email);
    const token = tokenIn((await box.newest(email, mailsBefore)).text);
    const set = { password: chosen };
    const reset = await at.nobody.call('POST', `/v3/auth/password-reset/${token}`, set);
    expect(reset.status).toBe(204);
    expect((await member.call('GET', '/v3/auth/me')).status).toBe(401);
    const first = await login(email, chosen);
    expect([first.status, first.body.secondFactors]).toEqual([
      202,
      ['ONE_TIME_CODE', 'RECOVERY_CODE'],
    ]);
    const second = await at.nobody.call('POST', '/v3/auth/login/second-factor', {
      ticket: first.body.ticket,
      code: code(1),
    });
    expect(second.status).toBe(200);
    // Whoever set the factor up without proof gets no proof by it: an invitation that is mailed to
    // the owner of the address takes the account over with all of its factors.
    const invited = await at.otherOwner.must('POST', `${ofOther}/members`, {
      email,
      role: 'VIEWER',
    });
    expect(invited.invitationUrl).toEqual(expect.any(String));
    const mailed = tokenIn((await box.newest(email, mailsBefore + 1)).text);
    expect((await accept(mailed, { name: 'Owner', password })).status).toBe(200);
    expect((await login(email, password)).status).toBe(200);
  });

  test('known and unknown addresses get the same answer, and one address few mails', async () => {
    const known = await asked('proven@example.org');
    const unknown = await asked('nobody@example.org');
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    const resets = () =>
      box.mails.filter(
        ({ to, text }) =>
          to === 'proven@example.org' && text.includes('Reset your Heliograph password'),
      ).length;
    for (let n = 0; n < 5; n += 1) expect((await asked('proven@example.org')).status).toBe(202);
    await expect.poll(resets, { timeout: 60_000 }).toBe(3);
    for (let n = 0; n < 15; n += 1) await asked(`n${n}@example.org`);
    expect((await asked('one-more@example.org')).status).toBe(429);
    expect(resets()).toBe(3);
    expect(box.mails.filter(({ to }) => to === 'nobody@example.org')).toEqual([]);
  });
});

describe('review security 10: the pages of mailed links', () => {
  test.each([
    '/invitations/some-secret-token',
    '/password-reset/some-secret-token',
    '/password-reset',
  ])(
    '%s is a page that runs nothing but scripts of this server and contains no secret',
    async (path) => {
      const answer = await at.nobody.call('GET', path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'/,
      );
      expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.body).not.toContain('some-secret-token');
      expect(answer.body).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style=/);
      for (const [, name] of String(answer.body).matchAll(/(?:src|href)="([^"]+)"/g)) {
        const part = await fetch(new URL(name!, at.base + path));
        expect(part.status).toBe(200);
        expect(part.headers.get('content-type')).toMatch(/^(text|image)\//);
      }
    },
  );

  test.each([
    '/invitations/some-secret-token/more',
    '/password-reset/some-secret-token/x',
    '/Invitations/some-secret-token',
  ])('%s: the refusal does not repeat it', async (path) => {
    const answer = await actingBy(at.base, {}).call('GET', path);
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).not.toContain('some-secret-token');
  });
});
