// Property of grants: no sequence of calls gives a credential, role or link more than its creator has (contract 36).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { composeAccess, guardOf } from '../../src/app/access.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { createServer } from '../../src/http/edge/server.ts';
import { machineCredentialRoutes } from '../../src/http/routes/tokens.ts';
import { RecordRoutes } from '../../src/http/routes/record-routes.ts';
import { memberRoutes } from '../../src/http/routes/members.ts';
import type { RecordChange } from '../../src/model/record.ts';
import { openRecords } from '../../src/storage/records/records.ts';
import { isPostgres, testEngine } from '../../src/storage/records/testing-engine.ts';
import { runGrantSequence } from './grant-sequence.ts';
import type { GrantParts } from './grant-world.ts';

// 10,000 by command: GRANT_SEQUENCES=10000 npm test -- tests/access/grants.test.ts
const sequences = Number(process.env['GRANT_SEQUENCES'] ?? 500);
const steps = 8;
const directory = mkdtempSync(join(tmpdir(), 'grants-'));
let parts: GrantParts;
let failures: unknown[];

beforeAll(async () => {
  const follow: ((change: RecordChange) => void)[] = [];
  const announce = (change: RecordChange) => follow.forEach((told) => told(change));
  const records = await openRecords({ directory, engine: testEngine(directory), announce });
  // Nothing here is about what survives a power cut.
  if (!isPostgres) await sql`pragma synchronous = off`.execute(records.db);
  const config = readConfig({ PORT: '0', DATA_DIR: directory });
  const access = composeAccess(
    () => config.publicUrl,
    records,
    (_, work) => work(),
    Date.now,
  );
  follow.push(access.recordChanged);
  // No request here has an Idempotency-Key.
  const once = undefined as never;
  const common = new RecordRoutes(records, once, Date.now, config);
  failures = [];
  const app = await createServer({
    routes: [
      ...machineCredentialRoutes(common, () => ''),
      ...memberRoutes(common, () => 'http://localhost', true, undefined),
    ],
    guard: guardOf(access, config, Date.now),
    events: { answered: () => undefined, failed: (error) => void failures.push(error) },
    now: Date.now,
    publicUrl: 'http://localhost',
  });
  parts = { records, access, app };
});
afterAll(async () => {
  await parts.app.close();
  await parts.records.close();
  rmSync(directory, { recursive: true, force: true });
});

test(`review security 2, 3: no caller grants more than it has, in ${sequences} random sequences`, {
  timeout: 1_800_000,
}, async () => {
  const tally = { granted: 0, refused: 0 };
  const start = Number(process.env['GRANT_SEED'] ?? 1);
  for (let seed = start; seed < start + sequences; seed += 1) {
    expect(await runGrantSequence(parts, seed, steps, tally), `GRANT_SEED=${seed}`).toEqual([]);
  }
  expect(failures).toEqual([]);
  // A program that refuses or grants everything must not pass.
  expect(tally.granted).toBeGreaterThan(sequences);
  expect(tally.refused).toBeGreaterThan(sequences);
});
