// Connects rules and group calculations: registries, followers of the journal, scripts, timers, runs and simulation.
import { setImmediate as pause, setTimeout as pauseFor } from 'node:timers/promises';
import type { SharedRules } from '../cluster/shared-rules.ts';
import type { RuleDraft } from '../contract/rules.ts';
import { draftedOutputs, draftedRule } from '../inventory/rules/rules.ts';
import type { AvailableOutputs } from '../outputs/connectors/available-outputs.ts';
import { problem } from '../model/problem.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Calendars } from '../query/calendars.ts';
import { learnDay } from '../query/expected-range.ts';
import { offsetsOf } from '../query/expression-reads.ts';
import { RuleTimers, watchClockSteps } from '../operations/clock.ts';
import type { CompiledRule } from '../rules/evaluation/compiled-rule.ts';
import type { SearchedStore } from '../rules/evaluation/last-samples.ts';
import { FormulaValues } from '../rules/evaluation/operands.ts';
import { UsualDays } from '../rules/evaluation/usual-days.ts';
import { RuleRegistry } from '../rules/evaluation/rule-registry.ts';
import { RuleRuns, RunLog } from '../rules/evaluation/run-log.ts';
import {
  createRuleDeviceLookup,
  RuleSimulation,
  type SimulatedRuns,
} from '../rules/rule-simulation.ts';
import { RuleFollower, type RuleFollowerParts } from '../rules/rule-follower.ts';
import type { RuleLaneParts } from '../rules/rule-lanes.ts';
import { RuleScripts } from '../rules/rule-scripts.ts';
import { SilenceWatch } from '../rules/silence-watch.ts';
import type { RuleOutlets } from '../rules/rule-writes.ts';
import {
  positionsAfter,
  type RulePositions,
  rulesFollower,
  rulePositionRows,
} from '../storage/records/rows/positions.ts';
import { ruleTimes } from '../storage/records/rows/rule-state.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import { everywhere } from './shared-work.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { CalculationClock } from '../rules/calculations/calculation-clock.ts';
import {
  CalculationRegistry,
  KnownCalculation,
} from '../rules/calculations/calculation-registry.ts';
import { CalculationResults, zoneOf } from '../rules/calculations/group-results.ts';
import { LateSamples } from '../rules/calculations/late-samples.ts';
import { leaseOfWorkspace } from '../cluster/leases/leases.ts';
import type { PreviewCalculation } from '../http/routes/calculations.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import { countedRows } from '../uplinks/bulk/device-rows.ts';

const entriesWaitMs = 500;
const scriptsWaitMs = 1_500;
/** Longer than another node waits for its own. */
const waitMsMax = 2_500;

export interface Rules extends Pick<RuleRuns, 'lastRunsOf' | 'runsOf'> {
  readonly simulate: (
    ruleId: string,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ) => Promise<SimulatedRuns>;
  readonly simulateDraft: (
    draft: RuleDraft,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ) => Promise<SimulatedRuns>;
  /** Resolves when the entries of this node were evaluated, here or at other nodes. */
  readonly judged: () => Promise<void>;
  /**
   * Resolves when all durable samples were evaluated, and the scripts that they triggered have run.
   */
  readonly settled: () => Promise<void>;
  /**
   * The same for an organization, but soon: it does not wait for the scripts of others, and for no
   * more than two seconds.
   */
  readonly settledFor: (organizationId: string) => Promise<void>;
  /** Runs the timers that are due now, as happens every second. */
  readonly runDue: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function composeRules(
  parts: Parts,
  uplinks: Uplinks,
  outlets: RuleOutlets,
  available: AvailableOutputs,
  calendars: Calendars,
): Promise<Rules> {
  const { records, store, now, followers } = parts;
  const { db } = records;
  const { sharedWork } = parts;
  const sharing = sharedWork && (await import('./shared-work.ts'));
  const searched = sharedWork === undefined ? searchedStore(parts) : searchedAlone(parts);
  const state = composeRuleState(parts, searched, calendars);
  const { registry, log, lookUp, failed, usual, simulated } = state;
  const waiting: RuleFollowerParts['waiting'] = {
    count: (id) => scripts.count(id),
    added: (ids) => scripts.added(ids),
  };
  const evaluated = () => entries.tell();
  const shared: SharedRules | undefined =
    sharedWork &&
    sharing?.composeSharedRules(parts, sharedWork, { registry, follower: () => follower }, () => ({
      async begin() {
        await follower.alone(() => scripts.start());
        timers.changed();
      },
      end: () => runs.saveAll(),
    }));
  const follower: RuleFollower = await composeRuleFollower(parts, state, {
    outlets,
    waiting,
    evaluated,
    timersSet: () => timers.changed(),
    ...(shared !== undefined && { shared }),
  });
  const { runDue, handle } = follower;
  const timers = new RuleTimers({
    nextTime: () => ruleTimes.next(db, shared?.workspaces()),
    runDue,
    now,
    setTimer,
    failed: failed('running timers of rules'),
  });
  const stopWatching = watchClockSteps({
    now,
    clock: () => performance.now(),
    setRepeatingTimer,
    setBack(byMs) {
      follower.setBack(byMs).then(timers.changed, failed('planning timers of rules anew'));
    },
  });
  const scripts: RuleScripts = new RuleScripts({
    db,
    scripts: uplinks.scripts,
    alarmSources: registry.alarmSources,
    ruleOf: (id) => follower.alone(async () => registry.rule(id)),
    outlets,
    log,
    now,
    failed: failed('running scripts of rules'),
    setTimer,
    timersSet: () => timers.changed(),
    ...(shared !== undefined && { isOwn: shared.isOwn, fence: shared.fence }),
  });
  parts.followChanges({
    recordChanged({ kind }) {
      if (kind === 'rule') timers.changed();
    },
    changesMissed: () => timers.changed(),
  });
  const silence = new SilenceWatch({
    db,
    rules: registry.rules,
    rule: registry.rule,
    inBatch: (work) => follower.inBatch(work),
    settled: uplinks.settled,
    isOwn: (workspaceId) => shared?.workspaces().includes(workspaceId) ?? true,
    platformStart: follower.platformStart,
    now,
    newId: parts.newId,
    pause: () => pause(),
    setRepeatingTimer,
    failed: failed('finding silent devices'),
  });
  parts.followChanges(silence);
  const entries = followers.start('rules', {
    ...(shared === undefined
      ? { handle, neededFrom: follower.neededFrom }
      : { handle: shared.handle, retryDelaysMs: movingDelaysMs }),
    failed: failed('judging samples by rules'),
  });
  // With several nodes, they start with the leases of their rules.
  if (shared === undefined) await scripts.start();
  follower.start();
  timers.changed();
  const saving = { db, log, setRepeatingTimer, failed: failed('saving runs of rules') };
  const runs: RuleRuns = new RuleRuns({
    ...saving,
    ...(shared !== undefined && { isOwn: shared.isOwn }),
    ...(sharedWork && sharing && sharing.createRemoteRuleRuns(sharedWork, parts, () => runs)),
  });
  const simulation = new RuleSimulation({
    db,
    store,
    scripts: uplinks.scriptTrials,
    lookUp,
    formulas: simulated,
    pause: () => pause(),
    now,
  });
  const entriesHere = async (organizationId: string) => {
    const own = workspacesWithRules(registry.rules(), organizationId);
    const caughtUp = () => follower.caughtUp((id) => own.has(id));
    await soon(settleInOrder(entries.settled, caughtUp), entriesWaitMs);
  };
  const scriptsHere = async (organizationId: string) => {
    const isOwn = (id: string) => registry.rule(id)?.rule.organizationId === organizationId;
    if (scripts.waitingRules().some(isOwn)) await soon(scripts.settled(), scriptsWaitMs);
  };
  // Entries of one node are evaluated at others.
  const [entriesSettled, scriptsSettled] = [
    everywhere(sharedWork, { call: 'rulesSettled', here: entriesHere, askMsMax: waitMsMax }),
    everywhere(sharedWork, { call: 'scriptsSettled', here: scriptsHere, askMsMax: waitMsMax }),
  ];
  return {
    runsOf: runs.runsOf,
    lastRunsOf: runs.lastRunsOf,
    simulate: (ruleId, range) => simulation.ofStored(ruleId, range),
    async simulateDraft(draft, range) {
      const { workspaceId } = draft;
      const { rule, outputs } = await draftedOutputs(records, available, workspaceId, draft);
      const drafted = await draftedRule(records, rule, outputs);
      return simulation.of(drafted, range, outputs);
    },
    judged: () => entries.settled(),
    settled: () => settleInOrder(entries.settled, () => follower.caughtUp(all), scripts.settled),
    async settledFor(organizationId) {
      await entriesSettled(organizationId);
      await scriptsSettled(organizationId);
    },
    runDue: () => settleInOrder(runDue, silence.look, scripts.settled),
    close: () =>
      closeInOrder(
        async () => stopWatching(),
        async () => usual.close(),
        ...[timers.close, silence.close, entries.close, follower.close, scripts.close, runs.close],
      ),
  };
}

function searchedStore({ store, log }: Parts): SearchedStore {
  return {
    samples: store.samples,
    entriesFrom: (position) => log.entriesFrom(position),
    get position() {
      return log.position;
    },
  };
}

/** Entries of several journals are evaluated: positions do not say which of them follow a batch. */
function searchedAlone({ store }: Parts): SearchedStore {
  return { samples: store.samples, entriesFrom: async function* none() {}, position: 0 };
}

/** What evaluation, scripts and simulation share. */
function composeRuleState(parts: Parts, searched: SearchedStore, calendars: Calendars) {
  const { records, telemetry, directory, followChanges, liveEvents, now } = parts;
  const { backgroundFailed } = telemetry;
  const registry = new RuleRegistry(
    records,
    searched,
    (ruleId, error) => backgroundFailed(`reading rule ${ruleId}`, error),
    now,
  );
  followChanges(registry);
  const log = new RunLog({
    wants: (workspaceId) => liveEvents.wants(workspaceId, 'RULE_RUN'),
    ran: liveEvents.ran,
  });
  telemetry.counts('rule_runs_total', 'Rule runs by outcome.', 'outcome', () => log.counts);
  const findRoute = (id: string) => directory.byDevice(id);
  const lookUp = createRuleDeviceLookup({ findRoute, failed: backgroundFailed });
  const failed = (what: string) => (error: unknown) => backgroundFailed(what, error);
  return { registry, log, lookUp, failed, ...composeFormulas(parts, lookUp, calendars) };
}

function composeFormulas(
  { store, telemetry }: Parts,
  lookUp: ReturnType<typeof createRuleDeviceLookup>,
  calendars: Calendars,
) {
  const usualDays = (isPatient: boolean) =>
    new UsualDays(
      ({ deviceId: id, workspaceId, topic, key: dataKey }, at) =>
        learnDay({ id, workspaceId }, { topic, dataKey }, at, store, calendars),
      () => performance.now(),
      (ms) => pauseFor(ms, undefined, { ref: false }),
      (error) => telemetry.backgroundFailed('learning what is usual for a rule', error),
      isPatient,
    );
  const valuesWith = (usual: UsualDays) =>
    new FormulaValues(
      (request) => store.values(request),
      async (deviceId) => {
        const found = await lookUp(deviceId);
        return found && { workspaceId: found.device.workspaceId, fields: found.customFields };
      },
      async (workspaceId) => offsetsOf(await calendars.zoneOf(null, workspaceId)),
      usual,
    );
  const usual = usualDays(false);
  return { usual, formulas: valuesWith(usual), simulated: () => valuesWith(usualDays(true)) };
}

async function composeRuleFollower(
  parts: Parts,
  { registry, log, lookUp, failed, formulas }: ReturnType<typeof composeRuleState>,
  {
    evaluated,
    ...effects
  }: Pick<RuleFollowerParts, 'outlets' | 'waiting' | 'timersSet' | 'shared'> &
    Pick<RuleLaneParts, 'evaluated'>,
): Promise<RuleFollower> {
  const { records, now, newId } = parts;
  const saved = await evaluatedPositions(parts);
  const hasLanes = effects.shared === undefined;
  return new RuleFollower({
    db: records.db,
    registry,
    log,
    formulas,
    lookUp,
    ...effects,
    now,
    newId,
    clock: () => performance.now(),
    pause: (ms) => pauseFor(ms),
    position: hasLanes ? saved.evaluated : -1,
    ...(hasLanes && {
      lanes: {
        saved,
        log: parts.log,
        evaluated,
        failed: failed('evaluating rules of a workspace'),
        setTimer,
      },
    }),
    failed: failed('evaluating a rule'),
  });
}

/** Another node has the rules a moment later; samples that wait longer are judged late. */
const movingDelaysMs = [200, 500, 1_000] as const;

/** Resolves with the work, or after the time. What failed is reported where it failed. */
async function soon(work: Promise<unknown>, ms: number): Promise<void> {
  await Promise.race([work.catch(() => undefined), pauseFor(ms, undefined, { ref: false })]);
}

async function settleInOrder(...steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) await step();
}

/**
 * What was evaluated before the stop. Entries without effect are not in the records, only the log
 * knows them.
 */
async function evaluatedPositions({ records, log }: Parts): Promise<RulePositions> {
  const saved = await rulePositionRows.find(records.db);
  return positionsAfter(saved, log.followerPosition(rulesFollower) ?? 0);
}

const all = () => true;

function workspacesWithRules(
  rules: Iterable<CompiledRule>,
  organizationId: string,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { rule } of rules)
    if (rule.organizationId === organizationId) found.add(rule.workspaceId);
  return found;
}

// Connects group calculations: their registry, the follower that marks late samples, and the clock that computes.

/** A late sample is waited for so long, so that many cost one transaction. */
const batchWaitMs = 500;

export interface Calculations {
  readonly preview: PreviewCalculation;
  readonly close: () => Promise<void>;
}

export function composeCalculations(
  parts: Parts,
  { sampleChanges }: Uplinks,
  calendars: Calendars,
): Calculations {
  const { records, store, directory, followers, followChanges, sharedWork, telemetry, now } = parts;
  const { db } = records;
  const registry = new CalculationRegistry(db, (calculation) => zoneOf(calculation, calendars));
  followChanges(registry);
  const stopping = new AbortController();
  const late = new LateSamples(db, registry, store, now, stopping.signal);
  const follower = followers.start('calculations', {
    handle: late.handle,
    keep: late.keep,
    keepRows: (rows) => (registry.mayHave(rows.summary.workspaceId) ? rows : countedRows(rows, 0)),
    batchWaitMs,
    failed(error) {
      if (stopping.signal.aborted) return;
      telemetry.backgroundFailed('marking late samples of calculations', error);
    },
  });
  const { fieldsOfDevice } = createDevicePlaces(directory, records);
  const clock = new CalculationClock({
    db,
    results: new CalculationResults(store, calendars, fieldsOfDevice, now),
    now,
    clock: () => performance.now(),
    calculations: registry.all,
    isOwn: (workspaceId) => sharedWork?.holds(leaseOfWorkspace(workspaceId)) ?? true,
    put: sampleChanges.put,
    setRepeatingTimer,
    failed: (error) => telemetry.backgroundFailed('computing calculations', error),
  });
  return {
    async preview(calculation, periods) {
      const known = new KnownCalculation(calculation, await zoneOf(calculation, calendars));
      const found = await clock.preview(known, periods);
      return {
        ...found,
        periods: found.periods.map(({ timestamp, data }) => ({
          timestamp: formatInstant(timestamp),
          data,
        })),
      };
    },
    async close() {
      stopping.abort(problem('stopping'));
      await follower.close();
      await clock.close();
    },
  };
}
