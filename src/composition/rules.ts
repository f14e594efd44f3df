// Composes the rules: the rule registry, their follower of the journal, scripts, timers, runs and dry runs.
import { setImmediate as turn } from 'node:timers/promises';
import { closeInOrder } from '../structures/closers.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { createRuleFollower } from '../flows/rule-follower.ts';
import { createRuleScripts, type RuleScripts } from '../flows/rule-scripts.ts';
import { type SimulatedRuns, simulateRule } from '../flows/rule-simulation.ts';
import { createRuleTimers } from '../flows/rule-timers.ts';
import type { EnqueueDeliveries } from '../flows/rule-writes.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { Problem, problem } from '../model/problem.ts';
import { UnreadableRecord } from '../model/unreadable-record.ts';
import { compileRule } from '../rules/compiled-rule.ts';
import { inputsInWorkspace } from '../rules/rule-loader.ts';
import type { SearchedStore } from '../rules/last-sample-search.ts';
import { createRuleRegistry } from '../rules/rule-registry.ts';
import { createRunLog } from '../rules/run-log.ts';
import { findCustomLogics } from '../records/rows/custom-logic.ts';
import { lazyTransaction } from '../records/records.ts';
import { findFollowerPosition } from '../records/rows/follower-positions.ts';
import { findOpenOutputConnectors } from '../records/rows/output-connectors.ts';
import { rulesFollower } from '../records/rows/recorded-positions.ts';
import { nextRuleTime } from '../records/rows/rule-state.ts';
import { findRuns, saveRuns } from '../records/rows/rule-queue.ts';
import { findRule } from '../records/rows/rules.ts';
import { deviceIdsOfTag, tagsOfDevices } from '../records/rows/tags.ts';
import { setTimer } from '../structures/timers.ts';

/** Rules whose runs are saved in one go: few, so that no answer waits for it; more at the end. */
const runsSavedMax = 4;
const runsSavedAtEndMax = 20;
const runsSavedEveryMs = 1_000;

export interface Rules {
  /** The last runs of a rule, newest first. */
  readonly runsOf: (ruleId: string) => Promise<readonly Json[]>;
  readonly simulate: (
    ruleId: string,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ) => Promise<SimulatedRuns>;
  /** Resolves when rules have judged what is durable now, and their scripts have run. */
  readonly settled: () => Promise<void>;
  /** Runs the timers that are due now; done by itself every second. */
  readonly runDue: () => Promise<void>;
  readonly close: () => Promise<void>;
}

function searchedStore({ store, log }: Parts): SearchedStore {
  return {
    samples: store.samples,
    entriesFrom: log.entriesFrom,
    get position() {
      return log.position;
    },
  };
}

/** The position of the last entry that was evaluated: what had no effect is not in the records, and the journal was told of it. */
async function evaluatedPosition({ records, log }: Parts): Promise<number> {
  const written = (await findFollowerPosition(records.db, rulesFollower)) ?? -1;
  return Math.max(written, (log.followerPosition(rulesFollower) ?? 0) - 1);
}

export async function composeRules(
  parts: Parts,
  uplinks: Pick<Uplinks, 'scripts' | 'scriptTrials'>,
  enqueueDeliveries: EnqueueDeliveries,
): Promise<Rules> {
  const { records, store, telemetry, directory, now, newId } = parts;
  const { db } = records;
  const registry = createRuleRegistry(records, searchedStore(parts), (ruleId, error) =>
    telemetry.backgroundFailed(`reading rule ${ruleId}`, error),
  );
  const log = createRunLog();
  parts.followChanges((change) => registry.recordChanged(change));
  const lookUp = async (deviceId: string) => {
    try {
      return await directory.byDevice(deviceId);
    } catch (error) {
      if (error instanceof UnreadableRecord)
        telemetry.backgroundFailed(`reading device ${deviceId} for rules`, error);
      else if (!(error instanceof Problem && error.status === 404)) throw error;
      return undefined;
    }
  };
  const failed = (what: string) => (error: unknown) => telemetry.backgroundFailed(what, error);
  const follower = createRuleFollower({
    db,
    registry,
    log,
    lookUp,
    enqueueDeliveries,
    waiting: { count: (id) => scripts.count(id), added: (ids) => scripts.added(ids) },
    now,
    newId,
    clock: () => performance.now(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    position: await evaluatedPosition(parts),
    failed: failed('evaluating a rule'),
  });
  const timers = createRuleTimers({
    nextTime: () => nextRuleTime(db),
    runDue: follower.runDue,
    now,
    setTimer,
    failed: failed('running timers of rules'),
  });
  const scripts: RuleScripts = createRuleScripts({
    db,
    scripts: uplinks.scripts,
    holds: registry.memory.states,
    ruleOf: (id) => follower.alone(async () => registry.rule(id)),
    enqueueDeliveries,
    log,
    now,
    failed: failed('running scripts of rules'),
    setTimer,
    timersSet: () => timers.changed(),
  });
  parts.followChanges(({ kind }) => {
    if (kind === 'rule') timers.changed();
  });
  const entries = parts.followers.start('rules', {
    handle: follower.handle,
    failed: failed('judging samples by rules'),
  });
  telemetry.counts('rule_runs_total', 'Runs of rules by outcome.', 'outcome', () => log.counts);
  await scripts.start();
  timers.changed();

  const saveSome = async (max = runsSavedMax): Promise<number> => {
    const ids = log.takeChanged(max);
    if (ids.length > 0) {
      await lazyTransaction(db, async (step) => {
        for (const id of ids) await saveRuns(step, id, log.runsOf(id) ?? []);
      });
    }
    return ids.length;
  };
  const runsOf = async (ruleId: string): Promise<readonly Json[]> => {
    if (!log.has(ruleId)) log.load(ruleId, await findRuns(db, ruleId));
    return log.runsOf(ruleId) ?? [];
  };
  const saving = setInterval(
    () => void saveSome().catch(failed('saving runs of rules')),
    runsSavedEveryMs,
  );
  saving.unref();

  const settled = async (): Promise<void> => {
    await entries.settled();
    await scripts.settled();
  };
  return {
    runsOf,
    simulate: async (ruleId, range) => {
      const rule = await findRule(db, ruleId);
      if (rule === undefined) throw problem('notFound', { what: 'rule', id: ruleId });
      const connectors = await findOpenOutputConnectors(
        db,
        rule.actions.map(({ id }) => id),
      );
      const blocks = await findCustomLogics(db, [rule.logic.customLogic?.customLogicId ?? '']);
      const compiled = compileRule(rule, {
        connectors: new Map(connectors.map((connector) => [connector.id, connector])),
        customLogic: new Map(blocks.map((block) => [block.id, block])),
        isInWorkspace: await inputsInWorkspace(db, [rule]),
      });
      if (compiled === undefined) throw new Error(`Rule ${ruleId} cannot be compiled`);
      return simulateRule(compiled, range, {
        store,
        scripts: uplinks.scriptTrials,
        lookUp,
        tagsOf: async (deviceIds) =>
          new Map(
            [...(await tagsOfDevices(db, deviceIds))].map(([id, tags]) => [
              id,
              new Set(tags.map((tag) => tag.id)),
            ]),
          ),
        devicesOfTag: (tagId) => deviceIdsOfTag(db, tagId),
        pause: () => turn(),
      });
    },
    settled,
    runDue: async () => {
      await follower.runDue();
      await scripts.settled();
    },
    async close() {
      clearInterval(saving);
      await closeInOrder(timers.close, entries.close, scripts.close, async () => {
        while ((await saveSome(runsSavedAtEndMax)) > 0);
      });
    },
  };
}
