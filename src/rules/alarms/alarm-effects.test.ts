// Alarm effects in real records: any batches give the same alarms, and a storm on one key is one write.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bootstrap } from '../../access/bootstrap.ts';
import {
  type AlarmEffect,
  type AlarmEvent,
  alarmLimits,
  alarmSeverities,
  type AlarmTrigger,
  openedAlarm,
} from '../../model/alarm.ts';
import { addRowTrigger } from '../../storage/records/engine.ts';
import { openRecords, type OpenRecords, transaction } from '../../storage/records/records.ts';
import { testEngine } from '../../storage/records/testing-engine.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { alarmRows } from '../../storage/records/rows/alarms.ts';
import { dropOldAlarms, dropSurplusAlarms } from './alarm-timers.ts';
import { createApplyAlarms } from './alarm-effects.ts';

let records: OpenRecords;
let place: { readonly organizationId: string; readonly workspaceId: string };
const directory = mkdtempSync(join(tmpdir(), 'heliograph-alarms-'));
beforeAll(async () => {
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  const owner = { adminEmail: 'a@b.test', adminPassword: 'correct horse battery staple' };
  const tenant = (await bootstrap(records, { ...owner, adminApiKey: undefined, now: 0 }))!;
  place = { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId };
  // Alarms in the order of their creation.
  const { db } = records;
  await db.schema
    .createTable('made')
    .addColumn('sequence', 'integer', (column) => column.autoIncrement().primaryKey())
    .addColumn('alarmId', 'text')
    .execute();
  const work = sql`insert into "made" ("alarmId") values (new."id")`;
  await addRowTrigger(db, { name: 'alarmsMade', event: 'insert', table: 'alarms', work });
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  for (const table of ['alarms', 'made'])
    await sql`delete from ${sql.table(table)}`.execute(records.db);
  events = [];
});

let events: AlarmEvent[] = [];

/** Applies the effects in one transaction; rolled back when it `fails`. */
async function apply(effects: readonly AlarmEffect[], fails = false, openMax = 100_000) {
  const parts = {
    sealer: records.sealer,
    pause: async () => undefined,
    now: () => Date.now(),
    linkTo: (workspaceId: string, id: string) => `http://localhost/w/${workspaceId}/alarms/${id}`,
    enqueueDeliveries: async () => undefined,
    changed: (changed: readonly AlarmEvent[]) => void events.push(...changed),
  };
  const applyAlarms = createApplyAlarms(parts, openMax);
  const applied = transaction(records.db, async (step) => {
    const before = events.length;
    const notes = await applyAlarms(step, effects);
    expect(events).toHaveLength(before);
    if (fails) throw new Error('the disk is full');
    return notes;
  });
  return applied.catch((error: unknown) => {
    if (!fails) throw error;
    return [];
  });
}

function trigger(more: Partial<AlarmTrigger> = {}): AlarmTrigger {
  return {
    kind: 'TRIGGER',
    times: 1,
    ...place,
    at: 0,
    hops: 0,
    sampleTime: null,
    key: 'k',
    name: 'Name',
    severity: 'MAJOR',
    source: { ruleId: '21a', connectorId: '09a', deviceId: '02a' },
    isEndless: false,
    device: null,
    ruleName: 'Rule',
    data: {},
    correlationId: 'c',
    orderedBy: '',
    clearAfterMs: null,
    escalateAfterMs: null,
    remindEveryMs: null,
    ...more,
  };
}

/** Without what differs from run to run. */
async function stored() {
  const rows = await sql<Record<string, unknown>>`
    select "key", "name", "severity", "state", "count", "firstTriggered", "lastTriggered", "clearedAt",
      "clearReason", "sources", "version",
      (select count(*) from "alarmSources" where "alarmId" = "alarms"."id") as "kept"
    from "alarms" join "made" on "made"."alarmId" = "alarms"."id"
    order by "key", "firstTriggered", "made"."sequence"`.execute(records.db);
  return rows.rows;
}

const source = fc.record({
  ruleId: fc.constantFrom('21a', '21b'),
  connectorId: fc.constantFrom('09a', '09b'),
  deviceId: fc.constantFrom('02a', '02b'),
});
const key = fc.constantFrom('k', 'l');
const anEffect: fc.Arbitrary<AlarmEffect> = fc.oneof(
  fc
    .record({
      key,
      source,
      severity: fc.constantFrom(...alarmSeverities),
      isEndless: fc.boolean(),
    })
    .map((more) => trigger({ ...more, name: more.severity })),
  source.map((of) => ({
    kind: 'SOURCE_ENDED' as const,
    reason: 'RULE_FALSE' as const,
    at: 0,
    hops: 0,
    sampleTime: null,
    ...place,
    source: of,
  })),
  key.map((of) => ({
    kind: 'KEY_ENDED' as const,
    at: 0,
    hops: 0,
    sampleTime: null,
    ...place,
    key: of,
    reason: 'r',
  })),
);
const history = fc
  .array(anEffect, { maxLength: 20 })
  .map((effects) => effects.map((effect, at): AlarmEffect => ({ ...effect, at })));

/**
 * The same rules over plain objects: the alarms, by key in the order of their opening.
 */
function reference(effects: readonly AlarmEffect[]) {
  type Known = {
    readonly key: string;
    severity: number;
    count: number;
    cleared: string | null;
    readonly by: Set<string>;
  };
  const alarms: Known[] = [];
  const nameOf = (of: AlarmTrigger['source'], isEndless: boolean) =>
    [of.ruleId, of.connectorId, isEndless ? '*' : of.deviceId].join();
  for (const effect of effects) {
    if (effect.kind === 'SOURCE_ENDED') {
      const name = nameOf(effect.source, false);
      for (const alarm of alarms)
        if (alarm.by.delete(name) && alarm.cleared === null && alarm.by.size === 0)
          alarm.cleared = 'RULE_FALSE';
      continue;
    }
    let open = alarms.find((alarm) => alarm.key === effect.key && alarm.cleared === null);
    if (effect.kind === 'KEY_ENDED') {
      if (open !== undefined) open.cleared = effect.reason;
      continue;
    }
    if (open === undefined)
      alarms.push(
        (open = { key: effect.key, severity: 0, count: 0, cleared: null, by: new Set() }),
      );
    open.count += 1;
    open.severity = Math.max(open.severity, alarmSeverities.indexOf(effect.severity));
    open.by.add(nameOf(effect.source, effect.isEndless));
  }
  return alarms
    .map(({ severity, by, cleared, ...alarm }) => ({
      ...alarm,
      severity: alarmSeverities[severity],
      clearReason: cleared,
      kept: cleared === null ? by.size : 0,
    }))
    .sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key));
}

test('property: in any batches, also repeated after a failure, alarms are those of a slow reference', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.infiniteStream(fc.boolean()), async (effects, cuts) => {
      await sql`delete from alarms`.execute(records.db);
      let batch: AlarmEffect[] = [];
      for (const effect of effects) {
        batch.push(effect);
        if (cuts.next().value === true) continue;
        if (cuts.next().value === true) await apply(batch, true);
        await apply(batch);
        batch = [];
      }
      await apply(batch);
      const found = await stored();
      expect(found).toMatchObject(reference(effects));
      expect(found.filter(({ sources, kept }) => sources !== kept)).toEqual([]);
      const open = found.filter(({ state }) => state !== 'CLEARED');
      expect(new Set(open.map((alarm) => alarm['key'])).size).toBe(open.length);
    }),
    { numRuns: 60 },
  );
});

test('a storm: 5,000 triggers of one key are one row, one write and two events', async () => {
  const { db } = records;
  await sql`create table "writes" ("row" text not null)`.execute(db);
  for (const table of ['alarms', 'alarmSources'])
    for (const event of ['insert', 'update', 'delete'] as const) {
      const work = sql`insert into "writes" values (${sql.lit(`${event} ${table}`)})`;
      await addRowTrigger(db, { name: `counted${table}${event}`, event, table, work });
    }
  await apply(Array.from({ length: 5_000 }, (_, at) => trigger({ at })));
  const { rows } = await sql<{ row: string }>`select "row" from "writes"`.execute(db);
  expect(rows.map(({ row }) => row)).toEqual(['insert alarms', 'insert alarmSources']);
  expect(await stored()).toMatchObject([{ count: 5_000, firstTriggered: 0, lastTriggered: 4_999 }]);
  expect(events.map(({ change, alarm }) => [change, alarm.count])).toEqual([
    ['OPENED', 1],
    ['UPDATED', 5_000],
  ]);
});

test('events of a batch are in order, and alarms of a key never overlap', async () => {
  const end = {
    kind: 'SOURCE_ENDED',
    reason: 'RULE_FALSE',
    ...place,
    at: 1,
    hops: 0,
    sampleTime: null,
    source: trigger().source,
  } as const;
  await apply([trigger(), trigger(), end, trigger({ at: 2 }), end, end]);
  expect(events.map(({ change }) => change)).toEqual([
    'OPENED',
    'UPDATED',
    'CLEARED',
    'OPENED',
    'CLEARED',
  ]);
  expect(await stored()).toMatchObject([
    { count: 2, state: 'CLEARED' },
    { count: 1, state: 'CLEARED' },
  ]);
});

describe('limits', () => {
  const filled = async (count: number, state: 'OPEN' | 'CLEARED') =>
    alarmRows.save(
      records.db,
      Array.from({ length: count }, (_, at) => ({
        ...openedAlarm(`22${at}`, trigger({ key: `key ${at}`, at })),
        state,
        ...(state === 'CLEARED' && { cleared: { at, by: null, reason: null } }),
      })),
    );

  test('a workspace with too many open alarms opens no other, says so, and counts what is open', async () => {
    await filled(alarmLimits.openPerWorkspaceMax, 'OPEN');
    const notes = await apply([
      trigger({ key: 'more' }),
      trigger({ key: 'even more' }),
      trigger({ key: 'key 7', at: 99_999 }),
    ]);
    expect(notes).toMatchObject([{ deviceId: '02a', level: 'ERROR', source: 'RULE' }]);
    expect(events).toMatchObject([{ change: 'UPDATED', alarm: { key: 'key 7', count: 2 } }]);
    const { open } = await alarmRows.count(records.db, place.workspaceId);
    expect(open).toMatchObject({ MAJOR: alarmLimits.openPerWorkspaceMax, CRITICAL: 0 });
  });

  test('security 8: an organization with too many open alarms opens no other, and what is cleared makes room', async () => {
    const { organizationId } = place;
    const open = () => organizationRows.countOf(records.db, organizationId, 'openAlarms');
    await filled(2, 'OPEN');
    expect(await open()).toBe(2);
    const [third, fourth] = [trigger({ key: 'third' }), trigger({ key: 'fourth' })];
    const [note] = await apply([third, fourth], false, 3);
    expect(note?.message).toContain('because the organization has 3 alarms');
    expect([events.length, await open()]).toEqual([1, 3]);
    const at = { ...place, at: 1, hops: 0, sampleTime: null };
    const end = { kind: 'KEY_ENDED', ...at, key: 'third', reason: 'x' } as const;
    await apply([end], false, 3);
    expect(await open()).toBe(2);
    expect(await apply([fourth], false, 3)).toEqual([]);
    expect(await open()).toBe(3);
    await sql`delete from "alarms"`.execute(records.db);
    expect(await open()).toBe(0);
  });

  test('cleared alarms are removed after 90 days, or beyond their number; open ones stay', async () => {
    await filled(500, 'CLEARED');
    await apply([trigger({ key: 'open' })]);
    const drop = async (now: number) => {
      const parts = { db: records.db, now: () => now, pause: async () => undefined };
      await dropOldAlarms(parts);
      await dropSurplusAlarms(parts, [place.workspaceId]);
    };
    const count = async () => (await stored()).length;
    await drop(alarmLimits.clearedKeptMs + 250);
    expect(await count()).toBe(251);
    await drop(2 * alarmLimits.clearedKeptMs);
    expect(await stored()).toMatchObject([{ key: 'open' }]);
  });

  test('large data is replaced by its size', async () => {
    await apply([trigger({ data: { text: 'x'.repeat(alarmLimits.dataCharactersMax) } })]);
    expect(events[0]!.alarm.data).toEqual({ omitted: '16395 characters of data' });
  });
});
