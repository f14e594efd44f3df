// Provider client: which statements of a provider count, by tokens that a real issuer signed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderClient, newTransaction } from './provider.ts';

const clientId = 'heliograph';
const subject = 'subject-1';
let issuer: string;
let server: Server;
let said: { token: JWTPayload; info: JWTPayload } = { token: {}, info: {} };
let sign: (claims: JWTPayload, typ: string | undefined) => Promise<string>;

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: '1' }];
  sign = (claims, typ) =>
    new SignJWT({ sub: subject, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: '1', ...(typ !== undefined && { typ }) })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime('5 minutes')
      .sign(privateKey);
  server = createServer((request, response) => {
    const answers: Record<string, () => Promise<object>> = {
      '/.well-known/openid-configuration': async () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/keys': async () => ({ keys }),
      '/token': async () => ({
        access_token: 'x',
        token_type: 'Bearer',
        id_token: await sign(said.token, undefined),
      }),
      '/userinfo': async () => ({ sub: subject, ...said.info }),
    };
    const answer = answers[request.url ?? '']?.() ?? Promise.resolve({});
    response.setHeader('content-type', 'application/json');
    void answer.then((body) => response.end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

function clientOf(trustsEmail: boolean): ProviderClient {
  const roles = { roles: [], allowedDomains: [], groupsClaim: 'groups', label: 'x' };
  return new ProviderClient(
    { ...roles, issuer, clientId, clientSecret: 'a secret', scopes: 'openid', trustsEmail },
    (url, options) => fetch(url, options as RequestInit),
    () => 'http://localhost:1',
    Date.now,
  );
}

const mine = 'mix1@corp.example';
const theirs = 'admin@corp.example';

describe('security 5: an address and its verification are of one token', () => {
  test.each([
    ['both in the ID token', { email: mine, email_verified: true }, {}, mine],
    ['both in the user info', {}, { email: mine, email_verified: true }, mine],
    [
      'another address in the user info',
      { email: mine, email_verified: true },
      { email: theirs },
      mine,
    ],
    [
      'another address in the ID token',
      { email: theirs },
      { email: mine, email_verified: true },
      mine,
    ],
    ['only the flag in the ID token', { email_verified: true }, { email: theirs }, undefined],
    ['only the flag in the user info', { email: theirs }, { email_verified: true }, undefined],
    ['the flag as text', { email: theirs, email_verified: 'true' }, {}, undefined],
    [
      'a letter that becomes another one',
      { email: 'mi\u212Ae@corp.example', email_verified: true },
      {},
      'mi\u212Ae@corp.example',
    ],
  ])('%s', async (_, token, info, email) => {
    const client = clientOf(false);
    const transaction = newTransaction('/');
    said = { token: { ...token, nonce: transaction.nonce }, info };
    const came = new URL(
      `http://localhost:1/v3/auth/oidc/callback?code=1&state=${transaction.state}`,
    );
    expect((await client.finish(came, transaction)).person.email).toBe(email);
  });

  test('trusted without the flag, it is still that of one token', async () => {
    const client = clientOf(true);
    const transaction = newTransaction('/');
    said = { token: { email: mine, nonce: transaction.nonce }, info: { email: theirs } };
    const came = new URL(
      `http://localhost:1/v3/auth/oidc/callback?code=1&state=${transaction.state}`,
    );
    expect((await client.finish(came, transaction)).person.email).toBe(mine);
  });
});

describe('security 5, ASVS 9.2.2 and 10.5.5: only a logout token ends sessions', () => {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  test.each([
    ['logout+jwt', true],
    ['application/logout+jwt', true],
    ['JWT', false],
    ['at+jwt', false],
    [undefined, false],
  ])('typ %s: %s', async (typ, isRead) => {
    const token = await sign({ events, sid: 's', jti: '1' }, typ);
    const read = clientOf(false).readLogoutToken(token);
    if (isRead) expect(await read).toMatchObject({ issuer, subject, providerSession: 's' });
    else await expect(read).rejects.toThrow('typ');
  });
});
