// Rules apart from each other: what goes wrong with one while a batch or round is prepared is told, and the others go on.
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bootstrap } from '../access/bootstrap.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { Rule } from '../model/rule.ts';
import { RuleRegistry } from './evaluation/rule-registry.ts';
import { RunLog } from './evaluation/run-log.ts';
import {
  fromSource,
  condition,
  ruleFor,
  sourceFor,
  noFormulas,
} from './evaluation/testing-rules.ts';
import { type TestSamples, openTestSamples } from '../storage/samples/testing-samples.ts';
import { type OpenRecords, openRecords } from '../storage/records/records.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { RuleFollower } from './rule-follower.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-isolation-'));
const samplesDirectory = join(directory, 'samples');
const now = 60_000;
const deviceId = '02a';
let records: OpenRecords;
let store: TestSamples;
let tenant: { readonly organizationId: string; readonly workspaceId: string };
let failures: string[] = [];

const opened = () => openTestSamples({ directory: samplesDirectory, now: () => 1 });

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
  };
  const { organizationId, workspaceId } = (await bootstrap(records, { ...owner, now: 0 }))!;
  tenant = { organizationId, workspaceId };
  store = await opened();
});
afterAll(async () => {
  await store.close();
  await records.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  failures = [];
});

/** A start of the platform that is asked to judge what comes from now on. */
function started() {
  const registry = new RuleRegistry(
    records,
    store,
    (ruleId, error) => expect.fail(`${ruleId}: ${String(error)}`),
    () => 0,
  );
  const log = new RunLog();
  const follower = new RuleFollower({
    db: records.db,
    registry,
    log,
    formulas: noFormulas,
    lookUp: () => undefined,
    outlets: {
      enqueueDeliveries: async () => undefined,
      applyAlarms: async () => [],
    },
    waiting: { count: () => 0, added: () => undefined },
    timersSet: () => undefined,
    now: () => now,
    newId: () => 'id',
    clock: () => 0,
    pause: async () => undefined,
    position: store.position - 1,
    failed: ({ message, cause }) => failures.push(`${message}: ${String(cause)}`),
  });
  return { registry, log, follower };
}

async function stored(timestamps: readonly number[]): Promise<DurableEntry> {
  const base = {
    ...tenant,
    dataFlowId: null,
    correlationId: 'c',
    stored: true,
    deviceId,
    topic: 'default',
  };
  const samples = timestamps.map((timestamp) => ({ ...base, timestamp, data: { a: 21 } }));
  return store.append({ deviceId, receivedAt: 0, notes: [], samples });
}

async function withRules(rules: readonly Rule[], work: () => Promise<void>): Promise<void> {
  for (const rule of rules) await ruleRows.insert(records.db, { ...rule, ...tenant });
  try {
    await work();
  } finally {
    for (const { id } of rules) await ruleRows.remove(records.db, id);
    await records.db.deleteFrom('processingLog').execute();
  }
}

const notes = () =>
  records.db
    .selectFrom('processingLog')
    .select(['deviceId', 'level', 'message', 'details'])
    .execute();

const broken = (): never => {
  throw new TypeError('nobody thought of this');
};

test('review isolation 3: a rule that throws while a device is planned is told for each batch, and the others go on', async () => {
  const rules = ['21a', '21b'].map((id) => ruleFor(deviceId, { id, name: id, actions: [] }));
  await withRules(rules, async () => {
    const { registry, log, follower } = started();
    await follower.alone(async () => undefined);
    const [source] = registry.rule('21a')!.sources;
    Object.defineProperty(source!.deviceIds, 'includes', { value: broken, configurable: true });
    await follower.handle([await stored([1, 2])]);
    expect(log.runsOf('21a')).toMatchObject([{ outcome: 'FAILED', deviceId }]);
    expect(log.runsOf('21b')).toHaveLength(2);
    await follower.handle([await stored([3])]);
    expect(log.counts).toMatchObject({ FAILED: 2, NOT_FIRED: 3 });
    expect(failures).toHaveLength(2);
    expect(failures[0]).toMatch(
      /^Rule 21a failed for device 02a up to entry \d+: TypeError: nobody thought of this$/,
    );
    expect(await notes()).toMatchObject([1, 2].map(() => ({ deviceId, level: 'ERROR' })));
    // Nothing is kept of a plan without the rule: it is whole as soon as nothing throws.
    Reflect.deleteProperty(source!.deviceIds, 'includes');
    await follower.handle([await stored([4])]);
    expect(log.counts).toMatchObject({ FAILED: 2, NOT_FIRED: 5 });
  });
});

test('review isolation 3: a schedule that throws is told and tried again in an hour, and the timers of others go on', async () => {
  const timer = {
    enabled: true,
    type: 'INTERVAL',
    schedule: 'PT10S',
    startAt: null,
    timeZone: null,
  } as const;
  const rules = ['21a', '21b'].map((id) =>
    ruleFor(deviceId, { id, name: id, actions: [], timer, nextExecution: now }),
  );
  await withRules(rules, async () => {
    const { registry, log, follower } = started();
    await follower.alone(async () => undefined);
    Object.assign(registry.rule('21a')!, { schedule: { next: broken } });
    await follower.runDue();
    expect(log.runsOf('21a')).toMatchObject([{ outcome: 'FAILED', trigger: 'TIMER' }]);
    expect(log.runsOf('21b')).toHaveLength(1);
    expect(failures).toEqual([
      'Rule 21a failed for timer 60000: TypeError: nobody thought of this',
    ]);
    expect(await notes()).toMatchObject([{ deviceId, level: 'ERROR' }]);
    expect((await ruleRows.find(records.db, '21a'))!.nextExecution).toBe(now + 3_600_000);
    expect((await ruleRows.find(records.db, '21b'))!.nextExecution).toBe(now + 10_000);
    await follower.runDue();
    expect(log.counts['FAILED']).toBe(1);
  });
});

/** Two rules that compare a sample with the one before. */
function comparing(): Rule[] {
  const dataSources = [sourceFor('s1', deviceId), sourceFor('s2', deviceId, { lastSample: true })];
  const conditions = [condition(fromSource('s1'), 'GT', fromSource('s2'))];
  return ['21a', '21b'].map((id) => {
    const { logic, ...rule } = ruleFor(deviceId, { id, name: id, actions: [] });
    return {
      ...rule,
      logic: { ...logic, dataSources, logicBlocks: [{ conditions, actionIds: [] }] },
    };
  });
}

test('review isolation 2: stored samples that the search for a last sample cannot read are noted once per rule and device', async () => {
  await stored(Array.from({ length: 500 }, (_, i) => 1_000 + i));
  await store.sealAll();
  await store.close();
  const segments = join(samplesDirectory, 'segments');
  for (const name of readdirSync(segments).filter((one) => !one.endsWith('.json'))) {
    const file = openSync(join(segments, name), 'r+');
    writeSync(file, Buffer.alloc(16, 0xa5), 0, 16, 64);
    closeSync(file);
  }
  store = await opened();
  await withRules(comparing(), async () => {
    for (const timestamp of [100, 200]) {
      const { follower } = started();
      await records.db.deleteFrom('ruleLastSamples').execute();
      await follower.handle([await stored([timestamp])]);
      const noted = await notes();
      expect(noted.map(({ message }) => message.slice(0, 8)).sort()).toEqual([
        'Rule 21a',
        'Rule 21b',
      ]);
      const [first] = noted;
      expect(first).toMatchObject({
        deviceId,
        level: 'WARN',
        message: expect.stringContaining('unreadable'),
      });
      expect(first!.details).toContain('1970-01-01T00:00:01');
    }
    expect(store.damage).not.toEqual([]);
  });
});

test('review isolation 1: a search that so many waiting entries cut by time is noted once per rule and device', async () => {
  await withRules(comparing(), async () => {
    const { follower } = started();
    const first = await stored([10_000]);
    await Promise.all(Array.from({ length: 2_001 }, (_, i) => stored([20_000 + i])));
    await follower.handle([first]);
    const backlog = (await notes()).filter(({ message }) =>
      message.includes('rule evaluation is behind'),
    );
    expect(backlog.map(({ level, message }) => [level, message.slice(0, 8)]).sort()).toEqual([
      ['WARN', 'Rule 21a'],
      ['WARN', 'Rule 21b'],
    ]);
  });
});
