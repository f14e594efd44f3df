// Rules behind the journal across restarts and failures: what fires is delivered, once; state is as if nothing had happened.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrap } from '../access/bootstrap.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { RecordChange } from '../model/record.ts';
import type { ContextDevice } from '../model/template-context.ts';
import { openRecords, type OpenRecords, type TransactionStep } from '../storage/records/records.ts';
import { rulesFollower, followerPositionRows } from '../storage/records/rows/positions.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { clearRuleState } from '../storage/records/rows/rule-state.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import type { SampleScan } from '../storage/samples/sample-store.ts';
import { RuleRegistry } from './evaluation/rule-registry.ts';
import { RunLog } from './evaluation/run-log.ts';
import { referenceFirings, type ReferenceWorld } from './evaluation/testing-reference.ts';
import {
  condition,
  fromSource,
  noFormulas,
  ruleFor,
  sourceFor,
} from './evaluation/testing-rules.ts';
import { randomHistory } from './evaluation/testing-worlds.ts';
import { RuleFollower, type RuleFollowerParts } from './rule-follower.ts';

let records: OpenRecords;
let organizationId: string;
let workspaceId: string;
const directory = mkdtempSync(join(tmpdir(), 'heliograph-rules-'));
beforeAll(async () => {
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  const owner = {
    adminEmail: 'a@b.test',
    adminPassword: 'correct horse battery staple',
    adminApiKey: undefined,
    now: 0,
  };
  const tenant = (await bootstrap(records, owner))!;
  ({ organizationId, workspaceId } = tenant);
  await sql`create table delivered ("idempotencyKey" text primary key, tries integer not null)`.execute(
    records.db,
  );
  for (const [id, sendConsecutiveAlerts] of [
    ['09once', false],
    ['09again', true],
  ] as const) {
    await outputConnectorRows.insert(records, {
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

const noAlarms = async () => [];

/** Fails on command, as a full disk would, after it has written. */
let failing = false;

async function enqueue(
  deliveries: readonly DeliveryDraft[],
  { db }: TransactionStep,
): Promise<void> {
  for (const { idempotencyKey } of deliveries) {
    await sql`insert into delivered values (${idempotencyKey}, 1) on conflict ("idempotencyKey") do update set tries = delivered.tries + 1`.execute(
      db,
    );
  }
  if (failing) throw new Error('the disk is full');
}

/**
 * What the store has: every entry that became durable, also those that no rule has evaluated yet.
 */
let durable: DurableEntry[] = [];
const store = {
  async samples({ deviceId, topic, to = Infinity, limit, skip }: SampleScan) {
    const found = durable
      .flatMap((entry) => entry.samples)
      .filter((sample) => sample.deviceId === deviceId && sample.timestamp < to)
      .filter((sample) => topic === undefined || sample.topic === topic);
    return found
      .reverse()
      .sort((a, b) => b.timestamp - a.timestamp)
      .slice(skip, skip + limit);
  },
  async *entriesFrom(position: number) {
    yield durable.filter((entry) => entry.position >= position);
  },
  get position() {
    return (durable.at(-1)?.position ?? -1) + 1;
  },
};

interface Started {
  readonly log: RunLog;
  readonly registry: RuleRegistry;
  readonly follower: RuleFollower;
}

/**
 * A start of the platform: everything in memory is new. `told` is the position that the journal was
 * told last.
 */
async function started(
  told: number,
  pause: () => Promise<void> = async () => undefined,
  {
    plansMax,
    now = () => 0,
    ...on
  }: Partial<Pick<RuleFollowerParts, 'failed' | 'lookUp' | 'now' | 'lanes'>> & {
    readonly plansMax?: number;
  } = {},
): Promise<Started> {
  let milliseconds = 0;
  const unreadable = (ruleId: string, error: unknown) => expect.fail(`${ruleId}: ${String(error)}`);
  const registry = new RuleRegistry(records, store, unreadable, now, plansMax);
  const log = new RunLog();
  const follower = new RuleFollower({
    db: records.db,
    registry,
    log,
    formulas: noFormulas,
    lookUp: () => undefined,
    outlets: { enqueueDeliveries: enqueue, applyAlarms: noAlarms },
    waiting: { count: () => 0, added: () => undefined },
    timersSet: () => undefined,
    now,
    newId: () => 'id',
    // Every look at the clock is the end of a slice: others have their turn between any two
    // samples.
    clock: () => milliseconds++,
    pause,
    position: Math.max(
      (await followerPositionRows.find(records.db, rulesFollower)) ?? -1,
      told - 1,
    ),
    failed: (error) => expect.fail(String(error)),
    ...on,
  });
  return { registry, follower, log };
}

let nextPosition = 0;

function entriesOf({ samples }: Pick<ReferenceWorld, 'samples'>): DurableEntry[] {
  return samples.map(({ skipped, ...sample }, i) => ({
    deviceId: sample.deviceId,
    receivedAt: 0,
    notes: [],
    position: nextPosition++,
    duplicates: 0,
    ...(skipped === true ? { trace: { rulesSkipped: true as const } } : {}),
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

async function prepared({ rules }: Pick<ReferenceWorld, 'rules'>): Promise<void> {
  const { db } = records;
  for (const table of [
    'delivered',
    'ruleLastSamples',
    'ruleJudgedTimes',
    'ruleDeviceStates',
    'processingLog',
  ]) {
    await sql`delete from ${sql.table(table)}`.execute(db);
  }
  await sql`delete from "deviceTags"`.execute(db);
  durable = [];
  for (const rule of rules) {
    await ruleRows.remove(db, rule.id);
    await ruleRows.insert(db, { ...rule, organizationId, workspaceId });
  }
}

async function cleared({ rules }: Pick<ReferenceWorld, 'rules'>): Promise<void> {
  for (const { id } of rules) await ruleRows.remove(records.db, id);
}

/** As `updateRule` does. */
async function switchRule(id: string, { registry }: Started): Promise<void> {
  const rule = (await ruleRows.find(records.db, id))!;
  await ruleRows.save(records.db, {
    ...rule,
    active: !rule.active,
    activation: rule.activation + (rule.active ? 1 : 0),
  });
  if (rule.active) await clearRuleState(records.db, id);
  registry.recordChanged({ kind: 'rule', id, action: 'updated' });
}

/** The position behind the batch. */
function nextOf(batch: readonly DurableEntry[]): number {
  return batch.at(-1)!.position + 1;
}

/** Idempotency key of a delivery of each firing. */
function keysOf(world: ReferenceWorld): string[] {
  return referenceFirings(world).map((firing) => {
    const [, rule, at, cause, action] = /^(\S+) (\d+) (.+) (\S+)$/.exec(firing)!;
    return `${rule}:${at}:${cause}:${action}`;
  });
}

async function delivered(): Promise<{ idempotencyKey: string; tries: number }[]> {
  return (
    await sql<{ idempotencyKey: string; tries: number }>`select * from delivered`.execute(
      records.db,
    )
  ).rows;
}

/**
 * Random batches; after some the platform stops, before others the write fails or memory is
 * forgotten, some are handed over twice. While one is evaluated, up to `ahead` further entries wait
 * behind it in the store.
 */
const history = fc.infiniteStream(
  fc.record({
    size: fc.integer({ min: 1, max: 6 }),
    ahead: fc.integer({ min: 0, max: 5 }),
    happens: fc.constantFrom('nothing', 'nothing', 'restart', 'reset', 'failure', 'crash' as const),
  }),
);

/** With few plans, states and last samples are read again and again. */
const plansMaxima = fc.constantFrom(1, 2, 100_000);

const cases = Number(process.env['RULE_RESTARTS'] ?? 40);
/** The same histories every time; another seed looks at others. */
const seed = Number(process.env['RULE_SEED'] ?? 20_261_121);

test(`review bug B1: ${cases} random streams with restarts, failures, repetitions and rules switched off and on: every delivery is there, and was made once`, async () => {
  let fired = 0;
  await fc.assert(
    fc.asyncProperty(randomHistory, history, plansMaxima, async (drawn, steps, plansMax) => {
      // No device carries a tag here: memberships are told from records, which the whole platform's
      // tests do.
      const world = { ...drawn, tags: {} };
      await prepared(world);
      const entries = entriesOf(world);
      const switches = [...(world.switches ?? [])].sort((a, b) => a.at - b.at);
      let told = entries[0]!.position;
      const start = () => started(told, undefined, { plansMax });
      let one = await start();
      for (let from = 0; from < entries.length; ) {
        while (switches[0]?.at === from) await switchRule(switches.shift()!.ruleId, one);
        const { size, ahead, happens } = steps.next().value;
        const to = Math.min(from + size, switches[0]?.at ?? Infinity);
        const batch = entries.slice(from, to);
        durable = entries.slice(0, Math.max(durable.length, to + ahead));
        if (happens === 'reset') one.registry.reset();
        if (happens === 'failure') {
          failing = true;
          await one.follower.handle(batch).catch(() => undefined);
          failing = false;
        }
        await one.follower.handle(batch);
        if (happens === 'restart') told = nextOf(batch);
        // After a crash the journal may give again what was handled already, but nothing from
        // before it was told.
        if (happens === 'crash') told = Math.max(told, nextOf(batch) - 4);
        if (happens === 'restart' || happens === 'crash') {
          one = await start();
          await one.follower.handle(
            entries.filter(({ position }) => position >= told && position < nextOf(batch)),
          );
        }
        from = to;
      }
      const wanted = keysOf(world);
      fired += wanted.length;
      const made = await delivered();
      expect(made.map((row) => row.idempotencyKey).sort()).toEqual([...new Set(wanted)].sort());
      expect(made.filter(({ tries }) => tries !== 1)).toEqual([]);
      await cleared(world);
    }),
    { numRuns: cases, endOnFailure: true, seed },
  );
  // Histories that fire nothing would prove nothing.
  expect(fired).toBeGreaterThan(cases / 2);
}, 240_000);

test('condition states of devices that make room are read again: nothing fires twice, and memory is bounded', async () => {
  const plansMax = 5;
  const devices = Array.from({ length: 40 }, (_, i) => `02d${String(i).padStart(2, '0')}`);
  const rules = devices.map((deviceId, i) => {
    const rule = ruleFor(deviceId, { actions: [{ id: '09once', configuration: {} }] });
    const logicBlocks = rule.logic.logicBlocks!.map((block) => ({
      ...block,
      actionIds: ['09once'],
    }));
    return { ...rule, id: `0ad${i}`, logic: { ...rule.logic, logicBlocks } };
  });
  await prepared({ rules });
  const one = await started(nextPosition, undefined, { plansMax });
  // True, still true, false, true again.
  const samples = [25, 26, 1, 25].flatMap((a, timestamp) =>
    devices.map((deviceId) => ({ deviceId, topic: 'default', timestamp, data: { a } })),
  );
  const entries = entriesOf({ samples });
  const fired: number[] = [];
  for (let from = 0; from < entries.length; from += 4) {
    await one.follower.handle(entries.slice(from, from + 4));
    expect(one.registry.memory.states.size).toBeLessThanOrEqual(plansMax);
    if ((from + 4) % devices.length === 0) fired.push((await delivered()).length);
  }
  expect(fired).toEqual([40, 40, 40, 80]);
  expect((await delivered()).filter(({ tries }) => tries !== 1)).toEqual([]);
  await cleared({ rules });
});

test('review bug B1: a sample of the time when its rule was switched off is the last one, with a restart and without', async () => {
  const sources = [sourceFor('s1', '02a'), sourceFor('s2', '02a', { lastSample: true })];
  const rises = condition(fromSource('s1'), 'GT', fromSource('s2'));
  const { logic, ...base } = ruleFor('02a', { actions: [{ id: '09again', configuration: {} }] });
  const logicBlocks = [{ conditions: [rises], actionIds: ['09again'] }];
  const rule = { ...base, logic: { ...logic, dataSources: sources, logicBlocks } };
  const samples = [10, 50, 20].map((a, i) => ({
    deviceId: '02a',
    topic: 'default',
    timestamp: i,
    data: { a },
  }));
  for (const restarts of [false, true]) {
    await prepared({ rules: [rule] });
    const entries = entriesOf({ samples });
    let one = await started(0);
    for (const [i, entry] of entries.entries()) {
      durable = entries.slice(0, i + 1);
      if (i > 0) await switchRule(rule.id, one);
      if (restarts && i === 2) one = await started(entry.position);
      await one.follower.handle([entry]);
    }
    expect([restarts, await delivered()]).toEqual([restarts, []]);
    await cleared({ rules: [rule] });
  }
});

test('review reliability 1: whatever record changes between two samples of a batch, every sample meets its rule', async () => {
  const { logic, ...base } = ruleFor('02a', { actions: [{ id: '09again', configuration: {} }] });
  const logicBlocks = logic.logicBlocks!.map((block) => ({ ...block, actionIds: ['09again'] }));
  const rule = { ...base, logic: { ...logic, logicBlocks } };
  const samples = Array.from({ length: 30 }, (_, i) => ({
    deviceId: '02a',
    topic: 'default',
    timestamp: i,
    data: { a: 21 },
  }));
  const changes: readonly RecordChange[] = (
    ['tag', 'device', 'rule', 'outputConnector', 'customLogic'] as const
  ).flatMap((kind) =>
    (['created', 'updated', 'deleted'] as const).map((action) => ({ kind, id: '02a', action })),
  );
  for (const change of changes) {
    await prepared({ rules: [rule] });
    const entries = entriesOf({ samples });
    durable = entries;
    const one: Started = await started(0, async () => one.registry.recordChanged(change));
    await one.follower.handle(entries);
    expect([change, (await delivered()).length]).toEqual([change, samples.length]);
    await cleared({ rules: [rule] });
  }
});

test('review reliability 1: a device whose plan was not made is an error, not a device without rules', async () => {
  const { registry } = await started(0);
  await registry.refresh();
  expect(() => registry.planOf('02a')).toThrow('The rules of device 02a were not prepared');
});

/** Two rules that fire for every sample of the device, of which something breaks the first. */
function twoRules() {
  return ['02a', '02b'].map((id) => {
    const { logic, ...base } = ruleFor('02a', {
      id: `21${id}`,
      actions: [{ id: '09again', configuration: {} }],
    });
    const logicBlocks = logic.logicBlocks!.map((block) => ({ ...block, actionIds: ['09again'] }));
    return { ...base, logic: { ...logic, logicBlocks } };
  });
}

const fives = [0, 1, 2, 3, 4].map((timestamp) => ({
  deviceId: '02a',
  topic: 'default',
  timestamp,
  data: { a: 21 },
}));

async function notesOfRules(): Promise<{ message: string; level: string }[]> {
  const { rows } = await sql<{
    message: string;
    level: string;
  }>`select * from "processingLog"`.execute(records.db);
  return rows.filter(({ level }) => level === 'ERROR');
}

test('review rules 1: a rule that throws is noted, counted and told, and the others and the position go on', async () => {
  const [broken, sound] = twoRules();
  await prepared({ rules: [broken!, sound!] });
  const failures: string[] = [];
  const one = await started(0, undefined, {
    failed: ({ message, cause }) => failures.push(`${message} ${cause}`),
  });
  await one.registry.refresh();
  const { logic } = one.registry.rule(broken!.id)!;
  if (logic.type !== 'COMPARISON') expect.fail('not a comparison');
  const test = (): never => {
    throw new TypeError('nobody thought of this');
  };
  Object.assign(logic.blocks[0]!, { test });
  durable = entriesOf({ samples: fives });
  await one.follower.handle(durable);
  expect((await delivered()).map((row) => row.idempotencyKey.split(':')[0])).toEqual(
    fives.map(() => sound!.id),
  );
  expect(one.log.counts).toMatchObject({ FAILED: 5, FIRED: 5 });
  expect(one.log.runsOf(broken!.id)).toMatchObject(fives.map(() => ({ outcome: 'FAILED' })));
  const notes = await notesOfRules();
  expect(notes.map(({ message }) => message)).toEqual([
    expect.stringContaining('an internal error'),
  ]);
  expect(notes[0]!.message).not.toContain('nobody thought of this');
  expect(failures).toEqual([expect.stringContaining('TypeError: nobody thought of this')]);
  expect(await followerPositionRows.find(records.db, rulesFollower)).toBe(durable.at(-1)!.position);
  await cleared({ rules: [broken!, sound!] });
});

test('review rules 1: a sample that throws, and a device that does, cost only themselves', async () => {
  const [rule] = twoRules();
  await prepared({ rules: [rule!] });
  const failures: string[] = [];
  const thrower = (message: string) => (): never => {
    throw new RangeError(message);
  };
  const brokenDevice = Object.defineProperty({} as ContextDevice, 'device', {
    get: thrower('an odd device'),
  });
  const hostile = Object.defineProperty({}, 'a', { enumerable: true, get: thrower('odd data') });
  const entries = entriesOf({ samples: fives });
  durable = entries.map((entry, i) =>
    i === 1
      ? { ...entry, samples: entry.samples.map((one) => ({ ...one, data: hostile })) }
      : entry,
  );
  const failed: RuleFollowerParts['failed'] = ({ cause }) => failures.push(String(cause));
  const one = await started(0, undefined, { failed });
  await one.follower.handle(durable);
  expect(await delivered()).toHaveLength(fives.length - 1);
  const more = entriesOf({ samples: fives.map((one) => ({ ...one, timestamp: 100 })) });
  durable = [...durable, ...more];
  const other = await started(0, undefined, { failed, lookUp: () => brokenDevice });
  await other.follower.handle(more);
  expect(other.log.counts).toMatchObject({ FAILED: 5 });
  expect(failures).toEqual(['RangeError: odd data', 'RangeError: an odd device']);
  expect(await notesOfRules()).toHaveLength(2);
  await cleared({ rules: [rule!] });
});

test('review rules 1: records that cannot be read are nobody to blame: everything is tried again', async () => {
  const [rule] = twoRules();
  await prepared({ rules: [rule!] });
  let isBroken = true;
  const lookUp = () => {
    if (isBroken) throw new Error('database is locked');
    return undefined;
  };
  durable = entriesOf({ samples: fives });
  const one = await started(0, undefined, { lookUp });
  await expect(one.follower.handle(durable)).rejects.toThrow('database is locked');
  isBroken = false;
  await one.follower.handle(durable);
  expect(await delivered()).toHaveLength(fives.length);
  await cleared({ rules: [rule!] });
});

test('a block that waits does not change while a sample that may end it is stored and not evaluated', async () => {
  const rule = ruleFor('00held');
  const held = { ...rule.logic.logicBlocks![0]!, holdsFor: 'PT10S', actionIds: ['09again'] };
  const rules = [
    {
      ...rule,
      logic: { ...rule.logic, logicBlocks: [held] },
      actions: [{ id: '09again', configuration: {} }],
    },
  ];
  await prepared({ rules });
  let nowMs = 0;
  const first = nextPosition;
  const { follower } = await started(first, undefined, {
    now: () => nowMs,
    lanes: {
      saved: { evaluated: first - 1, behind: new Map() },
      log: store,
      evaluated: () => undefined,
      failed: (error) => expect.fail(String(error)),
      setTimer: () => () => undefined,
    },
  });
  const sampleOf = (a: number, timestamp: number) => ({
    deviceId: '00held',
    topic: 'default',
    timestamp,
    data: { a },
  });
  durable = entriesOf({ samples: [sampleOf(21, 0), sampleOf(19, 1), sampleOf(21, 2)] });
  const [hot, cold, hotAgain] = durable.map((entry) => [entry]);
  await follower.handle(hot!);
  nowMs = 11_000;
  await follower.runDue();
  expect(await delivered()).toEqual([]);
  await follower.handle(cold!);
  await follower.handle(hotAgain!);
  nowMs = 20_000;
  await follower.runDue();
  const key = `${rule.id}:wait 00held 10000:block 0:09again`;
  expect(await delivered()).toEqual([{ idempotencyKey: key, tries: 1 }]);
  nowMs = 40_000;
  await follower.runDue();
  expect(await delivered()).toHaveLength(1);
  await cleared({ rules });
  await follower.close();
});
