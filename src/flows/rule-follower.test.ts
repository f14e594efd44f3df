// Rules behind the journal across restarts and failures: what fires is delivered, once; state is as if nothing had happened.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrap } from '../access/bootstrap.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { createRuleBook } from '../rules/rule-book.ts';
import { createRunLog } from '../rules/run-log.ts';
import { referenceFirings, type ReferenceWorld } from '../rules/testing-reference.ts';
import { randomWorld } from '../rules/testing-worlds.ts';
import { type OpenRecords, openRecords, type RecordsDb } from '../store/records/database.ts';
import { findFollowerPosition } from '../store/records/follower-positions.ts';
import { rulesFollower } from '../store/records/recorded-positions.ts';
import { insertOutputConnector } from '../store/records/output-connectors.ts';
import { insertRule, removeRule } from '../store/records/rules.ts';
import type { RuleDelivery } from './rule-effects.ts';
import { createRuleFollower, type RuleFollower } from './rule-follower.ts';

let records: OpenRecords;
let organizationId: string;
let workspaceId: string;
const directory = mkdtempSync(join(tmpdir(), 'heliograph-rules-'));
beforeAll(async () => {
  records = await openRecords({ directory, announce: () => undefined });
  const owner = {
    adminEmail: 'a@b.test',
    adminPassword: 'correct horse battery staple',
    adminApiKey: undefined,
    now: 0,
  };
  const tenant = (await bootstrap(records, owner))!;
  ({ organizationId, workspaceId } = tenant);
  await sql`create table delivered (idempotencyKey text primary key, tries integer not null)`.execute(records.db);
  for (const [id, sendConsecutiveAlerts] of [
    ['09once', false],
    ['09again', true],
  ] as const) {
    await insertOutputConnector(records, {
      id,
      organizationId,
      workspaceId,
      name: id,
      scope: 'RULE_ACTION',
      type: 'WEBHOOK',
      sendConsecutiveAlerts,
      invokeRuleEngine: false,
      useCustomPayload: false,
      customPayload: null,
      properties: {},
      created: 0,
      updated: null,
      version: 0,
    });
  }
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true });
});

/** Fails on command, as a full disk would, after it has written. */
let failing = false;

async function enqueue(deliveries: readonly RuleDelivery[], step: RecordsDb): Promise<void> {
  for (const { idempotencyKey } of deliveries) {
    await sql`insert into delivered values (${idempotencyKey}, 1) on conflict (idempotencyKey) do update set tries = tries + 1`.execute(
      step,
    );
  }
  if (failing) throw new Error('the disk is full');
}

/** A start of the platform: everything in memory is new. */
async function started(): Promise<RuleFollower> {
  return createRuleFollower({
    db: records.db,
    book: createRuleBook(records, { samples: async () => [] }),
    log: createRunLog(),
    lookUp: () => undefined,
    enqueueDeliveries: enqueue,
    waiting: { count: () => 0, added: () => undefined },
    now: () => 0,
    newId: () => 'id',
    clock: () => performance.now(),
    pause: async () => undefined,
    position: (await findFollowerPosition(records.db, rulesFollower)) ?? -1,
  });
}

let nextPosition = 0;

function entriesOf({ samples }: ReferenceWorld): DurableEntry[] {
  return samples.map((sample, i) => ({
    deviceId: sample.deviceId,
    receivedAt: 0,
    notes: [],
    position: nextPosition++,
    duplicates: 0,
    samples: [
      {
        ...sample,
        organizationId,
        workspaceId,
        dataFlowId: null,
        correlationId: 'c',
        storedAt: 0,
        stored: true,
        cursor: String(i),
      },
    ],
  }));
}

async function prepared(world: ReferenceWorld): Promise<void> {
  const { db } = records;
  for (const table of ['delivered', 'ruleLastSamples', 'ruleDeviceStates', 'processingLog']) {
    await sql`delete from ${sql.table(table)}`.execute(db);
  }
  await sql`delete from deviceTags`.execute(db);
  for (const rule of world.rules) {
    await removeRule(db, rule.id);
    await insertRule(db, { ...rule, organizationId, workspaceId });
  }
}

async function cleared({ rules }: ReferenceWorld): Promise<void> {
  for (const { id } of rules) await removeRule(records.db, id);
}

/** Random batches; after some the platform stops, before others the write fails, and some are handed over twice. */
const history = fc.infiniteStream(
  fc.record({
    size: fc.integer({ min: 1, max: 6 }),
    happens: fc.constantFrom('nothing', 'nothing', 'restart', 'failure', 'repetition' as const),
  }),
);

const cases = Number(process.env['RULE_RESTARTS'] ?? 25);

test(`${cases} random streams with restarts, failures and repetitions: every delivery is there, and was made once`, async () => {
  let fired = 0;
  await fc.assert(
    fc.asyncProperty(randomWorld, history, async (drawn, steps) => {
      // No device carries a tag here: memberships are told from records, which the whole platform's tests do.
      const world = { ...drawn, tags: {} };
      await prepared(world);
      const entries = entriesOf(world);
      let follower = await started();
      for (let from = 0; from < entries.length; ) {
        const { size, happens } = steps.next().value;
        const batch = entries.slice(from, from + size);
        if (happens === 'failure') {
          failing = true;
          await follower.handle(batch).catch(() => undefined);
          failing = false;
        }
        await follower.handle(batch);
        if (happens === 'restart') follower = await started();
        // After a crash the journal may give again what was written already.
        if (happens === 'repetition') await (await started()).handle(entries.slice(Math.max(0, from - 3), from + size));
        if (happens === 'repetition') follower = await started();
        from += size;
      }
      const wanted = referenceFirings(world).map((firing) => {
        const [, rule, at, cause, action] = /^(\S+) (\d+) (.+) (\S+)$/.exec(firing)!;
        return `${rule}:${at}:${cause}:${action}`;
      });
      fired += wanted.length;
      const made = await sql<{ idempotencyKey: string; tries: number }>`select * from delivered`.execute(records.db);
      expect(made.rows.map((row) => row.idempotencyKey).sort()).toEqual([...new Set(wanted)].sort());
      expect(made.rows.filter(({ tries }) => tries !== 1)).toEqual([]);
      await cleared(world);
    }),
    { numRuns: cases },
  );
  expect(fired).toBeGreaterThan(cases);
}, 120_000);
