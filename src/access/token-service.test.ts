// Tokens against a clock that a test moves: expiry, skew, rotation of keys, and every forgery that the literature knows.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OAuthClient } from '../model/credential.ts';
import { newId } from '../model/ids.ts';
import { dayMs } from '../model/instant.ts';
import { type OpenRecords, openRecords } from '../storage/records/records.ts';
import { oauthClientRows, signingKeyRows } from '../storage/records/rows/credentials.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import { BearerAuthenticator } from './authenticators.ts';
import { bootstrap } from './bootstrap.ts';
import { createSigningKeys, TokenService } from './token-service.ts';

const publicUrl = 'https://platform.example';
const start = Date.UTC(2026, 0, 1);
let clock = start;
const now = () => clock;
let directory: string;
let records: OpenRecords;
let client: OAuthClient;

const services = (url = publicUrl) => {
  const keys = createSigningKeys({ records, now, tokenLifetimeMs: 910_000 });
  return { keys, tokens: new TokenService(records.db, keys, now, () => url) };
};
let keys: ReturnType<typeof services>['keys'];
let tokens: TokenService;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tokens-'));
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  const { organizationId } = (await bootstrap(records, {
    adminEmail: 'a@b.c',
    adminPassword: 'x',
    now: start,
  }))!;
  client = {
    id: newId('oauthClient'),
    name: 'c',
    description: null,
    organizationId,
    allWorkspaces: true,
    workspaceIds: [],
    permissions: {},
    clientId: 'client',
    secretHash: secretHash('secret'),
    created: start,
  };
  await oauthClientRows.insert(records.db, client);
  ({ keys, tokens } = services());
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

async function issued(from: TokenService = tokens): Promise<string> {
  const answer = await from.issue(
    'grant_type=client_credentials&client_id=client&client_secret=secret',
    undefined,
  );
  if ('error' in answer) throw new Error(answer.error);
  return answer.access_token;
}

async function refusal(token: string, by: TokenService = tokens): Promise<string> {
  return by.check(token).then(
    () => 'let in',
    (error: Error) => error.message,
  );
}

const coded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const parts = (token: string) => {
  const [head, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { head: JSON.parse(head!), claims: JSON.parse(claims!), signature: token.split('.')[2]! };
};

describe('interface 5 rule 2: the 900 seconds', () => {
  test.each([
    ['at once', 0, 'let in'],
    ['after 899 s', 899_000, 'let in'],
    ['3 s late, within the skew of clocks', 903_000, 'let in'],
    ['6 s late', 906_000, 'invalid token'],
    ['a day late', dayMs, 'invalid token'],
    ['on a server whose clock is 4 s behind', -4_000, 'let in'],
    ['on a server whose clock is a minute behind', -60_000, 'invalid token'],
  ])('%s', async (_, later, expected) => {
    clock = start;
    const token = await issued();
    clock = start + later;
    expect(await refusal(token)).toBe(expected);
    clock = start;
  });

  test('a token kept in memory ends in time as well', async () => {
    const bearer = new BearerAuthenticator({ db: records.db, tokens, now });
    const header = `Bearer ${await issued()}`;
    expect((await bearer.authenticate(header)).id).toBe(client.id);
    expect(bearer.authenticate(header)).not.toBeInstanceOf(Promise);
    clock = start + 906_000;
    expect(() => bearer.authenticate(header)).toThrow('invalid token');
    clock = start;
  });
});

describe('forged tokens', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed = (head: object, claims: object, key = pair.privateKey) => {
    const text = `${coded(head)}.${coded(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  };
  const cases: (readonly [string, (token: string) => Promise<string> | string])[] = [
    [
      'alg none',
      (token) => `${coded({ ...parts(token).head, alg: 'none' })}.${coded(parts(token).claims)}.`,
    ],
    [
      'alg None',
      (token) => `${coded({ ...parts(token).head, alg: 'None' })}.${coded(parts(token).claims)}.`,
    ],
    [
      'alg none with the old signature',
      (token) =>
        `${coded({ ...parts(token).head, alg: 'none' })}.${token.split('.')[1]}.${parts(token).signature}`,
    ],
    [
      'HS256 keyed with the public key (confusion)',
      async (token) => {
        const { keys: published } = await keys.published();
        const text = `${coded({ ...parts(token).head, alg: 'HS256' })}.${coded(parts(token).claims)}`;
        return `${text}.${createHmac('sha256', JSON.stringify(published[0])).update(text).digest('base64url')}`;
      },
    ],
    [
      'HS256 keyed with nothing',
      (token) => {
        const text = `${coded({ ...parts(token).head, alg: 'HS256' })}.${coded(parts(token).claims)}`;
        return `${text}.${createHmac('sha256', '').update(text).digest('base64url')}`;
      },
    ],
    [
      'RS256 in the head',
      (token) =>
        `${coded({ ...parts(token).head, alg: 'RS256' })}.${token.split('.').slice(1).join('.')}`,
    ],
    [
      'signed by somebody else under our key id',
      (token) => signed(parts(token).head, parts(token).claims),
    ],
    [
      'signed by somebody else, with the key in the head',
      (token) =>
        signed(
          { ...parts(token).head, jwk: pair.publicKey.export({ format: 'jwk' }) },
          parts(token).claims,
        ),
    ],
    [
      'signed by somebody else, with a URL of keys in the head',
      (token) =>
        signed({ ...parts(token).head, jku: 'https://evil.example/keys' }, parts(token).claims),
    ],
    [
      'an unknown key id',
      (token) => signed({ ...parts(token).head, kid: 'other' }, parts(token).claims),
    ],
    ['no key id', (token) => signed({ alg: 'ES256', typ: 'at+jwt' }, parts(token).claims)],
    [
      'a key id that is a path',
      (token) => signed({ ...parts(token).head, kid: '../../secrets.key' }, parts(token).claims),
    ],
    [
      'a later end',
      (token) =>
        `${token.split('.')[0]}.${coded({ ...parts(token).claims, exp: 9_999_999_999 })}.${parts(token).signature}`,
    ],
    [
      'another client',
      (token) =>
        `${token.split('.')[0]}.${coded({ ...parts(token).claims, sub: 'other' })}.${parts(token).signature}`,
    ],
    [
      'a changed signature',
      (token) => token.slice(0, -4) + (token.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
    ],
    ['no signature', (token) => token.split('.').slice(0, 2).join('.')],
    ['an empty signature', (token) => `${token.split('.').slice(0, 2).join('.')}.`],
    [
      'a signature of zeros (CVE-2022-21449)',
      (token) =>
        `${token.split('.').slice(0, 2).join('.')}.${Buffer.alloc(64).toString('base64url')}`,
    ],
    ['a part too many', (token) => `${token}.x`],
    ['no token at all', () => 'abc'],
    ['an empty text', () => ''],
    ['only dots', () => '..'],
    [
      'a critical extension nobody knows',
      (token) => signed({ ...parts(token).head, crit: ['x'], x: 1 }, parts(token).claims),
    ],
    [
      'the type of another kind of token',
      (token) => signed({ ...parts(token).head, typ: 'logout+jwt' }, parts(token).claims),
    ],
  ];
  test.each(cases)('%s', async (_, forge) => {
    const token = await issued();
    expect(await refusal(token)).toBe('let in');
    expect(await refusal(await forge(token))).toBe('invalid token');
  });

  const resigned = async (
    change: (claims: Record<string, unknown>) => Record<string, unknown>,
    head: object = {},
  ) => {
    const token = parts(await issued());
    const [key] = await signingKeyRows.list(records);
    const { createPrivateKey } = await import('node:crypto');
    const privateKey = createPrivateKey({ key: key!.privateKey, format: 'jwk' });
    return signed({ ...token.head, ...head }, change(token.claims), privateKey);
  };
  test('the helper that re-signs makes valid tokens, so what follows fails for its own reason', async () => {
    expect(await refusal(await resigned((claims) => claims))).toBe('let in');
  });
  test.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['for another audience', (claims) => ({ ...claims, aud: 'https://other.example' })],
    ['without audience', ({ aud: _, ...claims }) => claims],
    ['without end', ({ exp: _, ...claims }) => claims],
    ['without beginning', ({ nbf: _, ...claims }) => claims],
    ['without client', ({ sub: _, ...claims }) => claims],
    [
      'that lives for a year',
      (claims) => ({ ...claims, iat: (claims['iat'] as number) - 31_536_000, exp: 9_999_999_999 }),
    ],
    ['not valid yet', (claims) => ({ ...claims, nbf: (claims['nbf'] as number) + 60 })],
    ['with an end that is a text', (claims) => ({ ...claims, exp: '9999999999' })],
  ])('our own signature under a token %s', async (_, change) => {
    expect(await refusal(await resigned(change))).toBe('invalid token');
  });
  test('a token of another installation with the same keys', async () => {
    expect(await refusal(await issued(services('https://other.example').tokens))).toBe(
      'invalid token',
    );
  });
});

describe('keys are renewed', () => {
  test('after a quarter, without breaking live tokens; the old key is deleted when its last token has ended', async () => {
    clock = start;
    const before = await issued();
    const old = (await keys.current()).id;
    clock = start + 90 * dayMs - 60_000;
    await keys.runMaintenance();
    expect((await keys.current()).id).toBe(old);
    const last = await issued();
    clock = start + 90 * dayMs;
    await keys.runMaintenance();
    expect((await keys.current()).id).not.toBe(old);
    expect((await keys.published()).keys).toHaveLength(2);
    expect([await refusal(last), await refusal(before)]).toEqual(['let in', 'invalid token']);
    expect(parts(await issued()).head.kid).toBe((await keys.current()).id);
    clock += 920_000;
    await keys.runMaintenance();
    expect((await keys.published()).keys).toHaveLength(1);
    expect(await keys.find(old)).toBeUndefined();
  });
  test('keys outlive a restart: another service on the same records accepts the token', async () => {
    const token = await issued();
    expect(await refusal(token, services().tokens)).toBe('let in');
  });
  test('the private part is sealed in the records', async () => {
    const rows = await records.db.selectFrom('signingKeys').selectAll().execute();
    for (const row of rows) expect(row.privateKey).toMatch(/^s1\./);
  });
});

test('review bug B6: a failure of the records is told as it is, and not as an invalid token', async () => {
  const token = await issued();
  const locked = new Error('database is locked');
  const find = () => Promise.reject(locked);
  const failing = new TokenService(records.db, { ...keys, find }, now, () => publicUrl);
  await expect(failing.check(token)).rejects.toBe(locked);
  await expect(failing.check('no.token.at-all')).rejects.toMatchObject({ problem: 'invalidToken' });
});
