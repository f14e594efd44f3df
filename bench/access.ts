// Authentication costs: API keys, tokens and sessions with authorization, and the delay until a deleted key is rejected.
// Run: node bench/access.ts [checks]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserSessions } from '../src/access/user-sessions.ts';
import { authorize } from '../src/access/authorize.ts';
import { identify, type RequestHeaders } from '../src/access/authenticators.ts';
import { bootstrap } from '../src/access/bootstrap.ts';
import { composeAccess } from '../src/app/access.ts';
import { readConfig } from '../src/app/config/config.ts';
import { ApiKeys, OAuthClients } from '../src/inventory/members/machine-credentials.ts';
import { everyPermission } from '../src/model/principal.ts';
import type { RecordChange } from '../src/model/record.ts';
import { openRecords } from '../src/storage/records/records.ts';
import { sqliteEngine } from '../src/storage/records/sqlite/sqlite-engine.ts';
import { userRows } from '../src/storage/records/rows/users.ts';
import { figure, markdownTable, publish, verdict } from './load/measure.ts';

const checks = Number(process.argv[2] ?? 500_000);
const keysCount = 1_000;
const goalPerSecond = 20_000;

const directory = mkdtempSync(join(tmpdir(), 'bench-access-'));
const told: ((change: RecordChange) => void)[] = [];
const records = await openRecords({
  directory,
  engine: sqliteEngine(directory),
  announce: (change) => told.forEach((follow) => follow(change)),
});
const made = (await bootstrap(records, {
  adminEmail: 'a@b.c',
  adminPassword: 'x',
  now: Date.now(),
}))!;
const { publicUrl } = readConfig({});
const access = composeAccess(
  () => publicUrl,
  records,
  (_, work) => work(),
  Date.now,
);
told.push(access.recordChanged);

const place = {
  organizationId: made.organizationId,
  workspaceId: made.workspaceId,
  what: 'device',
  id: 'd',
};
const grant = { name: 'k', organizationId: made.organizationId, permissions: everyPermission };
const user = (await userRows.find(records.db, made.userId))!;
const session = await new UserSessions(records, Date.now).start(user, { signInKind: 'PASSWORD' });
const owner = (await access.sessions.current(session.session.id))!;
const keys: { id: string; secret: string }[] = [];
for (let n = 0; n < keysCount; n += 1) keys.push(await new ApiKeys(records).create(owner, grant));
const { clientId, clientSecret } = await new OAuthClients(records).create(owner, grant, '');
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: clientId,
  client_secret: clientSecret,
});
const issued = await access.tokens.issue(form.toString(), undefined);
if ('error' in issued) throw new Error(issued.description);

const rows = [
  await measured(
    `API keys, ${keysCount} of them in turn`,
    keys.map(({ secret }) => ({ 'x-api-key': secret })),
  ),
  await measured('one bearer token', [{ authorization: `Bearer ${issued.access_token}` }]),
  await measured('one session cookie', [{ cookie: `session=${session.sessionToken}` }]),
];
publish('Access checks', [markdownTable(['credential', 'checks a second', 'goal'], rows)]);
await revoked();
await records.close();
rmSync(directory, { recursive: true, force: true });

async function measured(name: string, headers: readonly RequestHeaders[]): Promise<string[]> {
  // The first check reads the records; only later checks are measured.
  for (const one of headers) await identify(access.authenticators, one);
  const startedAt = performance.now();
  for (let n = 0; n < checks; n += 1) {
    const principal = identify(access.authenticators, headers[n % headers.length]!);
    if (principal instanceof Promise) throw new Error('A known credential was read again');
    authorize(principal, 'asset', 'read', place);
  }
  const perSecond = checks / ((performance.now() - startedAt) / 1_000);
  return [
    name,
    figure(perSecond),
    `at least ${figure(goalPerSecond)}: ${verdict(perSecond >= goalPerSecond)}`,
  ];
}

/** Every key is deleted and used again immediately. */
async function revoked(): Promise<void> {
  let letIn = 0;
  for (const { id, secret } of keys) {
    await new ApiKeys(records).remove(id);
    const known = await Promise.resolve()
      .then(() => identify(access.authenticators, { 'x-api-key': secret }))
      .then(
        () => true,
        () => false,
      );
    if (known) letIn += 1;
  }
  console.log(`revoked: ${keys.length} keys deleted, ${letIn} let in afterwards`);
}
