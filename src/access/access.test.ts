// Credentials and permissions on a real database: who is let in, and how far.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Principal, scopes, verbsOfScope } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Place } from '../model/record.ts';
import { openRecords, type OpenRecords } from '../storage/records/records.ts';
import { apiKeyRows } from '../storage/records/rows/credentials.ts';
import { userRows } from '../storage/records/rows/users.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import { ApiKeyAuthenticator, BearerAuthenticator, identify } from './authenticators.ts';
import { authorize } from './authorize.ts';
import { bootstrap, type Bootstrapped } from './bootstrap.ts';
import { Accounts } from './accounts.ts';
import { isPassword } from './password.ts';
import { processorMs } from '../structures/testing-processor-time.ts';

const secret = '0123456789abcdef.0b5e6a4e-9b1c-4a53-8f55-5d7b1f3e2c11';
const now = Date.UTC(2026, 0, 1);
let directory: string;
let records: OpenRecords;
let made: Bootstrapped;
let bearer: BearerAuthenticator;
let keys: ApiKeyAuthenticator;
const check = async () => {
  throw problem('invalidToken');
};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'access-'));
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: (change) => keys.recordChanged(change),
  });
  keys = new ApiKeyAuthenticator({ db: records.db, now: () => now });
  bearer = new BearerAuthenticator({ db: records.db, tokens: { check }, now: () => now });
  made = (await bootstrap(records, { adminEmail: 'Me@Example.org', adminApiKey: secret, now }))!;
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

const refusal = async (work: () => unknown) => {
  try {
    await work();
  } catch (error) {
    return (error as { message: string }).message;
  }
  return 'let in';
};

test('the first start makes an owner with a random password, and a second start makes nothing', async () => {
  const owner = (await userRows.find(records.db, made.userId))!;
  expect(owner.email).toBe('me@example.org');
  expect(await isPassword(made.generatedPassword!, owner.passwordHash!)).toBe(true);
  expect(await isPassword('guess', owner.passwordHash!)).toBe(false);
  expect(await bootstrap(records, { adminEmail: 'x@example.org', now })).toBeUndefined();
});

test('security 9, ASVS 6.4.1: the generated password of the first start is to be replaced', async () => {
  const own = { id: made.userId, organizationId: made.organizationId };
  expect(await new Accounts(records, () => now).account(own)).toMatchObject({
    passwordChangeRequired: true,
  });
  const principal = { ...own, kind: 'USER', name: '', permissions: {}, workspaces: 'all' } as const;
  const change = { currentPassword: made.generatedPassword!, newPassword: 'chosen by the owner' };
  expect(await new Accounts(records, () => now).changePassword(principal, change)).toBe(true);
  expect(await new Accounts(records, () => now).account(own)).not.toHaveProperty(
    'passwordChangeRequired',
  );
});

test.each<[string, Record<string, string | string[]>, string]>([
  ['interface 5 rule 1: the key', { 'x-api-key': secret }, 'let in'],
  ['no header', {}, 'Unauthorized'],
  ['an unknown key', { 'x-api-key': `${secret}0` }, 'Unauthorized'],
  ['an empty key', { 'x-api-key': '' }, 'Unauthorized'],
  ['interface 7: a bearer token nobody issued', { authorization: 'Bearer abc' }, 'invalid token'],
  [
    'interface 5 rule 3: both',
    { authorization: 'Bearer x', 'x-api-key': secret },
    'Two authentication headers received',
  ],
  ['a header as a list', { 'x-api-key': [secret, secret] }, 'Two authentication headers received'],
])('%s', async (_, headers, expected) => {
  expect(await refusal(() => identify([keys, bearer], headers))).toBe(expected);
});

test('interface 2.7: the first key has every verb in every scope and every workspace', async () => {
  const principal = await keys.authenticate(secret);
  expect(principal).toMatchObject({
    kind: 'API_KEY',
    organizationId: made.organizationId,
    workspaces: 'all',
  });
  for (const scope of scopes)
    for (const verb of verbsOfScope[scope]) authorize(principal, scope, verb);
});

test('contract 23: the last use is written on demand', async () => {
  await keys.authenticate(secret);
  await keys.saveUses();
  expect((await apiKeyRows.find(records.db, made.apiKeyId!))?.lastUsed).toBe(now);
});

const principal = (
  workspaces: 'all' | string[],
  permissions: Principal['permissions'],
): Principal => ({
  kind: 'API_KEY',
  id: 'k',
  name: 'k',
  organizationId: 'o1',
  workspaces: workspaces === 'all' ? 'all' : new Set(workspaces),
  permissions,
});
const place = (organizationId: string | null, workspaceId: string | null): Place => ({
  organizationId,
  workspaceId,
  what: 'tag',
  id: 't',
});
const readUpdate = { asset: ['read', 'update'], deviceType: ['read', 'update'] } as const;

test.each([
  ['own workspace', principal(['w1'], readUpdate), 'asset', 'update', place('o1', 'w1'), 'let in'],
  [
    'another workspace: 403',
    principal(['w1'], readUpdate),
    'asset',
    'read',
    place('o1', 'w2'),
    'Permission denied',
  ],
  ['all workspaces', principal('all', readUpdate), 'asset', 'read', place('o1', 'w2'), 'let in'],
  [
    'a missing verb: 403',
    principal('all', readUpdate),
    'asset',
    'delete',
    place('o1', 'w1'),
    'Permission denied',
  ],
  [
    'a missing scope: 403',
    principal('all', readUpdate),
    'rule',
    'read',
    place('o1', 'w1'),
    'Permission denied',
  ],
  [
    'another organization: 404',
    principal('all', readUpdate),
    'asset',
    'read',
    place('o2', 'w9'),
    'No tag with id t',
  ],
  [
    '404 comes before 403',
    principal('all', {}),
    'asset',
    'read',
    place('o2', 'w9'),
    'No tag with id t',
  ],
  [
    'organization read is always granted',
    principal(['w1'], {}),
    'organization',
    'read',
    place('o1', null),
    'let in',
  ],
  [
    'organization update is not',
    principal('all', {}),
    'organization',
    'update',
    place('o1', null),
    'Permission denied',
  ],
  [
    'restricted: reads types',
    principal(['w1'], readUpdate),
    'deviceType',
    'read',
    place('o1', null),
    'let in',
  ],
  [
    'restricted: changes none',
    principal(['w1'], readUpdate),
    'deviceType',
    'update',
    place('o1', null),
    'Permission denied',
  ],
  [
    'installation: read',
    principal(['w1'], readUpdate),
    'deviceType',
    'read',
    place(null, null),
    'let in',
  ],
  [
    'installation: unchanged',
    principal('all', readUpdate),
    'deviceType',
    'update',
    place(null, null),
    'Permission denied',
  ],
] as const)('%s', async (_, who, scope, verb, where, expected) => {
  expect(await refusal(() => authorize(who, scope, verb, where))).toBe(expected);
});

test('goal 20,000 authentications a second: a known key needs no query', () => {
  const before = processorMs();
  for (let n = 0; n < 20_000; n += 1) {
    if (keys.authenticate(secret) instanceof Promise) throw new Error('a known key was read again');
  }
  expect(processorMs() - before).toBeLessThan(1_000);
});

test('interface 5 rule 6: a deleted key is refused at once, and its preferences end with it', async () => {
  const key = { id: made.apiKeyId! };
  const accounts = new Accounts(records, () => now);
  await accounts.replacePreferences(key, { theme: 'dark' });
  expect(await accounts.preferences(key)).toEqual({ theme: 'dark' });
  await apiKeyRows.remove(records.db, made.apiKeyId!);
  records.announce({ kind: 'apiKey', id: made.apiKeyId!, action: 'deleted' });
  expect(await refusal(() => keys.authenticate(secret))).toBe('Unauthorized');
  expect(await accounts.preferences(key)).toEqual({});
});
