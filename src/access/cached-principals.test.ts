// Cached principals: a change drops those that it concerns, and what another tenant changes drops none.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordChange } from '../model/record.ts';
import { openRecords, type OpenRecords } from '../storage/records/records.ts';
import { oauthClientRows } from '../storage/records/rows/credentials.ts';
import { userRows } from '../storage/records/rows/users.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import {
  ApiKeyAuthenticator,
  type Authenticator,
  BearerAuthenticator,
  cookieNames,
  SessionAuthenticator,
} from './authenticators.ts';
import { bootstrap, type Bootstrapped } from './bootstrap.ts';
import { UserSessions } from './user-sessions.ts';

const secret = '0123456789abcdef.0b5e6a4e-9b1c-4a53-8f55-5d7b1f3e2c11';
const now = Date.UTC(2026, 0, 1);
const directory = mkdtempSync(join(tmpdir(), 'heliograph-principals-'));
let records: OpenRecords;
let made: Bootstrapped;
let sessionId: string;

type Cached = Authenticator & { readonly recordChanged: (change: RecordChange) => void };
type Kind = 'apiKey' | 'oauthClient' | 'session';
const caches: Partial<Record<Kind, Cached>> = {};
const credentials = { apiKey: secret, oauthClient: 'Bearer token', session: '' };

beforeAll(async () => {
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  const owner = { adminEmail: 'a@example.org', adminPassword: 'correct horse battery staple' };
  made = (await bootstrap(records, { ...owner, adminApiKey: secret, now }))!;
  const { organizationId } = made;
  await oauthClientRows.insert(records.db, {
    id: 'client',
    organizationId,
    name: 'c',
    description: null,
    clientId: 'c',
    allWorkspaces: true,
    workspaceIds: [],
    permissions: {},
    secretHash: 'h',
    created: now,
  });
  const user = (await userRows.find(records.db, made.userId))!;
  const { session, sessionToken } = await new UserSessions(records, () => now).start(user, {
    signInKind: 'PASSWORD',
  });
  sessionId = session.id;
  credentials.session = `${cookieNames(false).session}=${sessionToken}`;
  const parts = { db: records.db, now: () => now };
  const check = async () => ({ clientId: 'c', expiresAt: now + 60_000 });
  caches.apiKey = new ApiKeyAuthenticator(parts);
  caches.oauthClient = new BearerAuthenticator({ ...parts, tokens: { check } });
  caches.session = new SessionAuthenticator(parts);
});
afterAll(async () => {
  await Promise.allSettled(reads);
  await records.close();
  rmSync(directory, { recursive: true });
});

const authenticate = (kind: Kind) =>
  caches[kind]!.authenticate(credentials[kind], { method: 'GET', headers: {} });

/** Of credentials that were not known; the records stay open until they have ended. */
const reads: Promise<unknown>[] = [];

/** Whether the credential is known without the records. */
function isCached(kind: Kind): boolean {
  const found = authenticate(kind);
  if (!(found instanceof Promise)) return true;
  reads.push(found);
  return false;
}

const ids = () => ({ ...made, keyId: made.apiKeyId!, sessionId });

/** Changes of another tenant, with ids that no cached principal contains. */
const foreign: readonly RecordChange[] = [
  { kind: 'apiKey', id: 'other', action: 'deleted' },
  { kind: 'oauthClient', id: 'other', action: 'deleted' },
  { kind: 'organization', id: 'other', action: 'updated' },
  { kind: 'organization', id: 'other', action: 'deleted' },
  { kind: 'workspace', id: 'other', action: 'deleted' },
  { kind: 'session', id: 'other', action: 'deleted' },
  { kind: 'user', id: 'other', action: 'updated' },
  { kind: 'member', id: 'other', userId: 'other', action: 'created' },
];

const own: readonly (readonly [Kind, () => RecordChange])[] = [
  ['apiKey', () => ({ kind: 'apiKey', id: ids().keyId, action: 'updated' })],
  ['apiKey', () => ({ kind: 'organization', id: ids().organizationId, action: 'deleted' })],
  ['oauthClient', () => ({ kind: 'oauthClient', id: 'client', action: 'deleted' })],
  ['oauthClient', () => ({ kind: 'organization', id: ids().organizationId, action: 'deleted' })],
  ['session', () => ({ kind: 'session', id: ids().sessionId, action: 'updated' })],
  ['session', () => ({ kind: 'user', id: ids().userId, action: 'updated' })],
  ['session', () => ({ kind: 'organization', id: ids().organizationId, action: 'deleted' })],
  ['session', () => ({ kind: 'member', id: 'new', userId: ids().userId, action: 'created' })],
];

describe.each(['apiKey', 'oauthClient', 'session'] as const)('of kind %s', (kind) => {
  test('no change of another tenant drops it, also during its read', async () => {
    await authenticate(kind);
    expect(isCached(kind)).toBe(true);
    for (const change of foreign) {
      caches[kind]!.recordChanged(change);
      expect(isCached(kind), `after ${change.action} of ${change.kind}`).toBe(true);
    }
    for (const [, change] of own.filter(([of]) => of === kind)) {
      caches[kind]!.recordChanged(change());
      const reading = authenticate(kind);
      expect(reading).toBeInstanceOf(Promise);
      for (const other of foreign) caches[kind]!.recordChanged(other);
      await reading;
      expect(isCached(kind)).toBe(true);
    }
  });

  test('what changes during its read is read again', async () => {
    for (const [, change] of own.filter(([of]) => of === kind)) {
      caches[kind]!.recordChanged(change());
      const reading = authenticate(kind);
      // The token is checked before its client is read.
      await Promise.resolve();
      caches[kind]!.recordChanged(change());
      await reading;
      expect(isCached(kind)).toBe(false);
      await authenticate(kind);
    }
  });
});
