// Rule lanes: a storm in one workspace delays no other, and every entry is evaluated once and in order.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrap } from '../access/bootstrap.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { positionsAfter, rulePositionRows } from '../storage/records/rows/positions.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import { type OpenRecords, openRecords } from '../storage/records/records.ts';
import { testEngine } from '../storage/records/testing-engine.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import { RuleRegistry } from './evaluation/rule-registry.ts';
import { RunLog } from './evaluation/run-log.ts';
import { ruleFor, noFormulas } from './evaluation/testing-rules.ts';
import { openTestSamples } from '../storage/samples/testing-samples.ts';
import { Followers } from '../uplinks/followers/followers.ts';
import { RuleFollower } from './rule-follower.ts';
import { RuleLanes, laneLimits, neededFrom, type RuleTurn } from './rule-lanes.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-lanes-'));
let records: OpenRecords;
let tenant: { readonly organizationId: string; readonly workspaceId: string };
beforeAll(async () => {
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  const owner = { adminEmail: 'a@b.test', adminPassword: 'correct horse battery staple' };
  tenant = (await bootstrap(records, { ...owner, adminApiKey: undefined, now: 0 }))!;
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true });
});

const tiny = { ...laneLimits, shareMax: 2, lanesMax: 2, entriesMax: 5, turnEntriesFirst: 2 };

function entryOf(position: number, workspaceId: string): DurableEntry {
  const summary = { count: 1, workspaceId, dataFlowId: null, oldest: 0 };
  return { deviceId: 'd', receivedAt: 0, notes: [], samples: [], duplicates: 0, position, summary };
}

const step = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  turns: fc.integer({ min: 0, max: 3 }),
  happens: fc.constantFrom('nothing', 'nothing', 'failure', 'silent', 'crash', 'stop' as const),
});

test('property: every entry is evaluated once and in the order of its workspace, after failures, stops and turns without effect', async () => {
  const rules = () =>
    ['a', 'b', 'c', 'd'].map((workspaceId) => ({ rule: { workspaceId } }) as CompiledRule);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', 'd'), { maxLength: 120 }),
      fc.infiniteStream(step),
      async (workspaces, steps) => {
        const journal = workspaces.map((workspaceId, i) => entryOf(i, workspaceId));
        const log = {
          async *entriesFrom(from: number) {
            for (let at = from; at < journal.length; at += 3) yield journal.slice(at, at + 3);
          },
        };
        await rulePositionRows.save(records.db, { evaluated: -1, behind: new Map() });
        // What a transaction writes, and what only memory has.
        let durable: readonly number[] = [];
        let seen: readonly number[] = [];
        let known = 0;
        let knownBefore = 0;
        const opened = async () => {
          const saved = positionsAfter(await rulePositionRows.find(records.db), known);
          return new RuleLanes({ saved, rules, log, limits: tiny });
        };
        let lanes = await opened();
        const run = async (turn: RuleTurn | undefined, happens: string) => {
          if (turn === undefined || happens === 'failure') return;
          // Without effect nothing is written, and a crash evaluates the entries again.
          seen = [...seen, ...turn.entries.map(({ position }) => position)];
          if (happens !== 'silent') {
            await turn.save(records.db);
            durable = seen;
          }
          turn.done();
        };
        for (let next = 0; next < journal.length || lanes.all().length > 0; ) {
          const { size, turns, happens } = steps.next().value;
          const batch = journal.slice(next, next + size);
          await run(lanes.turnOfBatch(batch), happens);
          if (happens !== 'failure') next += batch.length;
          for (let turn = 0; turn < turns || next >= journal.length; turn++) {
            const [lane] = lanes.all();
            if (lane === undefined) break;
            await lanes.readOn(lane);
            await run(lanes.turnOfLane(lane), happens);
            lanes.took(lane, happens === 'silent' ? 1_000 : 0);
            if (happens !== 'nothing') break;
          }
          known = Math.min(next, neededFrom(lanes));
          if (happens !== 'crash' && happens !== 'stop') continue;
          // A crash may take away the last position that the log got.
          if (happens === 'crash') known = knownBefore;
          seen = seen.filter((position) => durable.includes(position) || position < known);
          knownBefore = known;
          lanes = await opened();
          next = neededFrom(lanes);
        }
        expect([...seen].sort((x, y) => x - y)).toEqual(journal.map(({ position }) => position));
        for (const wanted of ['a', 'b', 'c', 'd']) {
          const own = seen.filter((position) => workspaces[position] === wanted);
          expect(own).toEqual([...own].sort((x, y) => x - y));
        }
      },
    ),
    { numRuns: 150 },
  );
}, 240_000);

test('entries are sorted into lanes without making their samples', () => {
  const unread = (position: number): DurableEntry =>
    Object.defineProperty(entryOf(position, 'a'), 'samples', {
      get: () => expect.fail('the samples were made'),
    });
  const saved = { evaluated: -1, behind: new Map<string, number>() };
  const log = { entriesFrom: () => expect.fail('the journal was read') };
  const rules = () => ['a', 'b'].map((workspaceId) => ({ rule: { workspaceId } }) as CompiledRule);
  const lanes = new RuleLanes({ saved, rules, log, limits: tiny });
  lanes.turnOfBatch(Array.from({ length: 4 }, (_, position) => unread(position)))?.done();
  lanes.turnOfBatch([unread(4)])?.done();
  const [lane] = lanes.all();
  expect(lane?.entries.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4]);
});

test('a storm of one workspace delays the rules of another by one turn, and by none of its other entries', async () => {
  const other = await workspaceRows.find(records.db, tenant.workspaceId);
  const { organizationId, workspaceId } = tenant;
  const stormy = { organizationId, workspaceId };
  const quiet = { organizationId, workspaceId: '29quiet' };
  await workspaceRows.insert(records.db, { ...other!, id: quiet.workspaceId, name: 'quiet' });
  const store = await openTestSamples({ directory: join(directory, 'samples'), now: () => 1 });
  const registry = new RuleRegistry(
    records,
    store,
    (_, error) => expect.fail(String(error)),
    () => 0,
  );
  for (const [id, place] of [
    ['stormy', stormy],
    ['calm', quiet],
  ] as const) {
    await outputConnectorRows.insert(records, {
      id,
      ...place,
      name: id,
      scope: 'RULE_ACTION',
      type: 'WEBHOOK',
      properties: {},
      sendConsecutiveAlerts: true,
      invokeRuleEngine: false,
      useCustomPayload: false,
      customPayload: null,
      created: 0,
      updated: null,
      version: 0,
    });
    const { logic, ...rule } = ruleFor(id, { id: `rule-${id}`, ...place });
    const logicBlocks = logic.logicBlocks!.map((block) => ({ ...block, actionIds: [id] }));
    const actions = [{ id, configuration: {} }];
    await ruleRows.insert(records.db, { ...rule, actions, logic: { ...logic, logicBlocks } });
  }
  const send = (deviceId: string, place: typeof quiet, timestamp: number) =>
    store.append({
      deviceId,
      receivedAt: 0,
      notes: [],
      samples: [
        {
          ...place,
          deviceId,
          timestamp,
          data: { a: 21 },
          topic: 'default',
          dataFlowId: null,
          correlationId: 'c',
          stored: true,
        },
      ],
    });
  store.setFollowerPosition('rules', 0);
  await Promise.all(Array.from({ length: 5_000 }, (_, i) => send('stormy', stormy, i)));
  await send('calm', quiet, 1);
  const delivered: string[] = [];
  const follower = new RuleFollower({
    db: records.db,
    registry,
    log: new RunLog(),
    formulas: noFormulas,
    lookUp: () => undefined,
    outlets: {
      enqueueDeliveries: async (drafts) =>
        void delivered.push(...drafts.map(({ deviceId }) => deviceId)),
      applyAlarms: async () => [],
    },
    waiting: { count: () => 0, added: () => undefined },
    timersSet: () => undefined,
    now: () => 0,
    newId: () => 'id',
    clock: () => 0,
    pause: async () => undefined,
    position: -1,
    lanes: {
      saved: { evaluated: -1, behind: new Map() },
      log: store,
      evaluated: () => entries.tell(),
      failed: (error) => expect.fail(String(error)),
      setTimer: () => () => undefined,
    },
    failed: (error) => expect.fail(String(error)),
  });
  const entries = new Followers(store).start('rules', {
    handle: follower.handle,
    neededFrom: follower.neededFrom,
    failed: (error) => expect.fail(String(error)),
  });
  await entries.settled();
  expect(store.followerPosition('rules')).toBeLessThan(4_000);
  await follower.caughtUp(() => true);
  expect(delivered).toHaveLength(5_001);
  // The first batch of the storm may be half evaluated, never all of it.
  expect(delivered.indexOf('calm')).toBeLessThan(2_500);
  expect(store.followerPosition('rules')).toBe(5_001);
  await entries.close();
  await follower.close();
  await store.close();
}, 240_000);
