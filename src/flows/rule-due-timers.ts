// Due timers of rules: scheduled rules and the timers that scripts have set.
import { type EpochMs, hourMs } from '../model/instant.ts';
import { latestDue, nextDue, type RuleSchedule } from '../model/rule-schedule.ts';
import type { RecordsDb } from '../records/records.ts';
import {
  findDueRules,
  findDueScriptTimers,
  findPlannedRules,
  moveScriptTimers,
  type ScriptTimer,
} from '../records/rows/rule-state.ts';
import { saveNextExecution } from '../records/rows/rules.ts';
import { transaction } from '../records/transaction.ts';
import { trackAlarms } from '../rules/alarm-tracking.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import { evaluateTimed, evaluateWithoutDevice } from '../rules/evaluation.ts';
import type { RuleRegistry } from '../rules/rule-registry.ts';
import type { RunLog } from '../rules/run-log.ts';
import type { RuleBatch } from './rule-batch.ts';
import type { Origin } from './rule-effects.ts';

/** Timers per transaction. */
const dueMax = 100;
/** Delay until a timer is tried again whose next due time cannot be computed. */
const brokenTimerMs = hourMs;

export interface DueTimersParts {
  readonly db: RecordsDb;
  readonly registry: RuleRegistry;
  readonly log: RunLog;
  readonly newId: () => string;
  readonly newBatch: () => RuleBatch;
  /** Resolves when the effects of the batch are durable. */
  readonly write: (batch: RuleBatch) => Promise<void>;
  /** The workspaces whose timers run here; all without it. */
  readonly workspaces: (() => readonly string[]) | undefined;
  /** Position of the next journal entry of the workspace to evaluate. */
  readonly nextPosition: (workspaceId: string) => number;
}

/** Both resolve when the effects are durable: to true when more may be due. */
export interface DueTimers {
  runRules(at: EpochMs): Promise<boolean>;
  runScriptTimers(at: EpochMs): Promise<boolean>;
  /** The clock was set back: what is planned too late for it is planned anew. */
  setBack(at: EpochMs, byMs: number): Promise<void>;
}

export function createDueTimers(parts: DueTimersParts): DueTimers {
  const { db, registry, newBatch } = parts;

  async function runScheduled(rule: ScheduledRule, at: EpochMs, batch: RuleBatch): Promise<void> {
    const { compiled, schedule, due } = rule;
    const next = parts.nextPosition(compiled.rule.workspaceId);
    await registry.prepareRule(compiled, next, batch.failures);
    let nextExecution: EpochMs | null = at + brokenTimerMs;
    let origin = originOf('TIMER', `timer ${due}`, at);
    try {
      // Missed earlier times are merged into one run, for the latest due time.
      const latest = latestDue(schedule, due, at);
      nextExecution = nextDue(schedule, latest, at) ?? null;
      origin = { ...origin, key: `timer ${latest}` };
      addTimed(compiled, origin, batch);
    } catch (error) {
      batch.failures.failed(compiled, origin, [], error);
    }
    const { id: ruleId, activation } = compiled.rule;
    batch.write.due.push({ ruleId, activation, nextExecution });
  }

  function addTimed(compiled: CompiledRule, origin: Origin, batch: RuleBatch): void {
    const triggered = evaluateTimed(compiled, registry.memory);
    if (triggered === undefined) return batch.failures.aborted(compiled, origin);
    const { reading, places, verdict } = triggered;
    if (verdict === undefined) return batch.addTriggered(triggered, origin);
    parts.log.addEvaluated({ compiled, origin, samples: reading.samples, places, verdict });
    const ended = trackAlarms(compiled, verdict, origin.deviceId, registry.alarmSources);
    if (verdict.firings.length > 0 || ended.length > 0)
      batch.addTriggered({ ...triggered, ended }, origin);
  }

  async function runScriptTimer(timer: ScriptTimer, at: EpochMs, batch: RuleBatch): Promise<void> {
    batch.write.firedTimers.push(timer.id);
    const compiled = registry.rule(timer.ruleId);
    if (compiled === undefined || compiled.rule.activation !== timer.activation) return;
    const next = parts.nextPosition(compiled.rule.workspaceId);
    await registry.prepareRule(compiled, next, batch.failures);
    await batch.addTimerRun({
      compiled,
      origin: originOf('SCRIPT_TIMER', `timer ${timer.id}`, at),
      timerMeta: timer.meta,
      evaluate: () => evaluateWithoutDevice(compiled, registry.memory),
    });
  }

  function originOf(cause: Origin['cause'], key: string, at: EpochMs): Origin {
    return { cause, key, deviceId: '', correlationId: parts.newId(), hops: 0, at };
  }

  return {
    async runRules(at) {
      const batch = newBatch();
      for (const { id, due } of await findDueRules(db, at, dueMax, parts.workspaces?.())) {
        const compiled = registry.rule(id);
        // A rule that is not active, or has no schedule, does not become due again.
        if (compiled?.schedule === undefined) await saveNextExecution(db, id, null);
        else await runScheduled({ compiled, schedule: compiled.schedule, due }, at, batch);
      }
      await batch.addEffects();
      await parts.write(batch);
      return batch.write.due.length === dueMax;
    },
    async setBack(at, byMs) {
      const workspaces = parts.workspaces?.();
      await transaction(db, async (step) => {
        for (const { id, due } of await findPlannedRules(step.db, at, workspaces)) {
          const schedule = registry.rule(id)?.schedule;
          const next = schedule && nextDue(schedule, at, at);
          if (next !== undefined && next < due) await saveNextExecution(step.db, id, next);
        }
        await moveScriptTimers(step.db, { now: at, byMs }, workspaces);
      });
    },
    async runScriptTimers(at) {
      const batch = newBatch();
      const timers = await findDueScriptTimers(db, at, dueMax, parts.workspaces?.());
      for (const timer of timers) await runScriptTimer(timer, at, batch);
      await parts.write(batch);
      return timers.length === dueMax;
    },
  };
}

interface ScheduledRule {
  readonly compiled: CompiledRule;
  readonly schedule: RuleSchedule;
  /** Since when it is due. */
  readonly due: EpochMs;
}
