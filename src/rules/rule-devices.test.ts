// Devices of rules: which errors of a look-up rules survive. Runs of rules: when they are saved.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { Json } from '../model/json.ts';
import { problem, UnreadableRecord } from '../model/problem.ts';
import { ruleRunRows } from '../storage/records/rows/rule-state.ts';
import { manualTimers } from '../structures/testing-timers.ts';
import { createRuleDeviceLookup, RuleSimulation } from './rule-simulation.ts';
import { RuleRuns } from './evaluation/run-log.ts';
import { openTestRecords, type TestRecords } from '../storage/records/testing-records.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

async function lookedUp(outcome: UplinkRoute | Error) {
  const failures: string[] = [];
  const lookUp = createRuleDeviceLookup({
    findRoute: () => {
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    failed: (what) => failures.push(what),
  });
  return { found: await lookUp('d'), failures };
}

test('a device, one that does not exist and one that cannot be read', async () => {
  const route = {} as UplinkRoute;
  expect(await lookedUp(route)).toEqual({ found: route, failures: [] });
  const missing = problem('notFound', { what: 'device', id: 'd' });
  expect(await lookedUp(missing)).toEqual({ found: undefined, failures: [] });
  const unreadable = await lookedUp(new UnreadableRecord('Data flow f is missing'));
  expect(unreadable).toEqual({ found: undefined, failures: ['reading device d for rules'] });
});

test.each([problem('storageFull'), new Error('database is locked')])(
  '%s is passed on',
  async (error) => {
    await expect(lookedUp(error)).rejects.toBe(error);
  },
);

/** A run log with unsaved runs of these rules. */
function logOf(ids: readonly string[]) {
  const runs = new Map<string, Json[]>(ids.map((id) => [id, [{ rule: id }]]));
  const before = new Map<string, readonly Json[]>();
  const changed = [...ids];
  return {
    changed,
    isLoaded: (id: string) => before.has(id),
    lastOf: () => undefined,
    load: (id: string, loaded: readonly Json[]) => void before.set(id, loaded),
    runsOf: (id: string) => [...(runs.get(id) ?? []), ...(before.get(id) ?? [])],
    takeChanged: (max: number) => changed.splice(0, max),
  };
}

test('runs are saved four rules at a time, the rest at the stop, and loaded when they are read', async () => {
  const { db } = opened.records;
  const timers = manualTimers();
  const ids = Array.from({ length: 30 }, (_, index) => `rule ${index}`);
  const log = logOf(ids);
  const parts = { db, setRepeatingTimer: timers.setTimer, failed: () => undefined };
  const runs = new RuleRuns({ ...parts, log });
  expect(timers.delays()).toEqual([1_000]);
  timers.fire();
  expect(log.changed).toHaveLength(26);
  await runs.close();
  expect(log.changed).toEqual([]);
  for (const id of ids) expect(await ruleRunRows.find(db, id)).toEqual([{ rule: id }]);
  const later = new RuleRuns({ ...parts, log: logOf([]) });
  expect(await later.runsOf('rule 7')).toEqual([{ rule: 'rule 7' }]);
  expect(await later.runsOf('unknown')).toEqual([]);
  const timestamp = '2026-06-01T12:00:00.000Z';
  await ruleRunRows.save(db, 'saved', [{ timestamp, outcome: 'FIRED' }, { timestamp: 'older' }]);
  expect(await later.lastRunsOf(db, ['saved', 'unknown'])).toEqual(
    new Map([['saved', { timestamp, outcome: 'FIRED' }]]),
  );
  await later.close();
});

test('runs of before the start stay when a rule runs again before anybody reads them', async () => {
  const { db } = opened.records;
  await ruleRunRows.save(db, 'again', [{ rule: 'before the start' }]);
  const timers = manualTimers();
  const failed = () => undefined;
  const log = logOf(['again']);
  const runs = new RuleRuns({ db, log, setRepeatingTimer: timers.setTimer, failed });
  await runs.saveAll();
  const all = [{ rule: 'again' }, { rule: 'before the start' }];
  expect(await ruleRunRows.find(db, 'again')).toEqual(all);
  expect(await runs.runsOf('again')).toEqual(all);
  await runs.close();
});

test('a save that fails is reported', async () => {
  const closed = await openTestRecords();
  await closed.close();
  const timers = manualTimers();
  const failure = Promise.withResolvers<unknown>();
  new RuleRuns({
    db: closed.records.db,
    log: logOf(['a']),
    setRepeatingTimer: timers.setTimer,
    failed: failure.resolve,
  });
  timers.fire();
  expect(await failure.promise).toBeInstanceOf(Error);
});

test('a rule that does not exist cannot be simulated', async () => {
  const parts = { db: opened.records.db } as ConstructorParameters<typeof RuleSimulation>[0];
  const simulated = new RuleSimulation(parts).ofStored('unknown', { from: 0, to: 1 });
  await expect(simulated).rejects.toMatchObject({ status: 404 });
});
