// Rule batch: the triggered rules of one transaction and their effects.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { RuleRegistry } from '../rules/rule-registry.ts';
import type { RunLog } from '../rules/run-log.ts';
import { type LookUpDevice, type Origin, ruleContext } from './rule-effects.ts';
import type { RuleTurn } from './rule-lanes.ts';
import { createRunFailures, isolated, type RunFailures } from './rule-failures.ts';
import { createTriggerList, type TriggerEntry } from './rule-trigger-list.ts';
import { firedEffects, waitingRun } from './rule-triggers.ts';
import { type CollectedWrite, emptyWrite } from './rule-writes.ts';

/** Waiting script runs of one rule. Further runs are reported and dropped. */
const waitingRunsMax = 1_000;
/** Work on effects without a pause. */
const effectsSliceMs = 5;

export interface RuleBatchParts {
  readonly log: RunLog;
  readonly registry: Pick<RuleRegistry, 'alarmSources'>;
  readonly lookUp: LookUpDevice;
  /** Waiting script runs of the rule, without those of the batch. */
  readonly waiting: { count(ruleId: string): number };
  readonly now: () => EpochMs;
  /** Milliseconds since any fixed moment. */
  readonly clock: () => number;
  /** When the platform started, by the wall clock as it is now. */
  readonly platformStart: () => EpochMs;
  readonly pause: (ms: number) => Promise<void>;
  readonly newId: () => string;
  /**
   * Called for a rule that failed, once per batch. The failure is noted and the other rules
   * continue.
   */
  readonly failed: (error: Error) => void;
}

export interface RuleBatch {
  readonly write: CollectedWrite;
  /** Identifies a trigger by the sample permanently. */
  readonly keyOf: (sample: Pick<StoredSample, 'cursor'>) => string;
  readonly failures: RunFailures;
  /** Keeps a triggered rule until `addEffects` builds its effects. */
  addTriggered(triggered: Triggered, origin: Origin): void;
  /**
   * Builds deliveries, alarms and notes of firings, and waiting runs of scripts, in slices. Rejects
   * when the records cannot be read.
   */
  addEffects(): Promise<void>;
  /**
   * Adds a run that a timer of the rule's script triggered. There is no limit on waiting runs for
   * these.
   */
  addTimerRun(timed: TimedScript): Promise<void>;
}

export interface TimedScript {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  /** What the script set the timer with. */
  readonly timerMeta: JsonObject | null;
  readonly evaluate: () => Triggered;
}

/** `turn` is what the batch is of; undefined for timers. */
export function createRuleBatch(
  parts: RuleBatchParts,
  turn?: Pick<RuleTurn, 'save' | 'upTo' | 'journal'>,
): RuleBatch {
  const write = emptyWrite();
  if (turn !== undefined) Object.assign(write, { savePositions: turn.save, upTo: turn.upTo });
  const failures = createRunFailures(write, parts);
  const { alarmSources } = parts.registry;
  const triggers = createTriggerList();
  const addedRuns = new Map<string, number>();

  function hasRoom(ruleId: string): boolean {
    return parts.waiting.count(ruleId) + (addedRuns.get(ruleId) ?? 0) < waitingRunsMax;
  }

  async function addFirings(entry: TriggerEntry, lookUp: LookUpDevice) {
    const { triggered, origin, times } = entry;
    const context = await ruleContext(triggered, origin, lookUp);
    const { deliveries, alarms, notes } = firedEffects(triggered, origin, context, times);
    const { id: ruleId, activation } = triggered.compiled.rule;
    if ((triggered.verdict?.firings.length ?? 0) > 0)
      write.fired.push({ ruleId, activation, at: origin.at, times });
    write.deliveries.push(...deliveries);
    write.alarms.push(...alarms);
    write.notes.push(...notes);
  }

  function addWaitingRun({ compiled: { rule } }: Triggered, trigger: JsonObject): void {
    addedRuns.set(rule.id, (addedRuns.get(rule.id) ?? 0) + 1);
    write.triggers.push({ ruleId: rule.id, activation: rule.activation, trigger });
  }

  async function addEffectsOf(entry: TriggerEntry): Promise<void> {
    const { triggered, origin } = entry;
    const { compiled, places, verdict } = triggered;
    if (verdict === undefined && !hasRoom(compiled.rule.id)) {
      failures.dropped(triggered, origin, waitingRunsMax);
      return;
    }
    const failed = (error: unknown): void => {
      // The next evaluation that is false ends them.
      for (const connectorId of triggered.ended ?? [])
        alarmSources.add({ ruleId: compiled.rule.id, connectorId, deviceId: origin.deviceId });
      failures.failed(compiled, origin, places, error);
    };
    await isolated(parts.lookUp, failed, async (lookUp) => {
      if (verdict !== undefined) await addFirings(entry, lookUp);
      else
        addWaitingRun(
          triggered,
          await waitingRun(triggered, origin, lookUp, parts.platformStart()),
        );
    });
  }

  return {
    write,
    keyOf: ({ cursor }) => (turn?.journal === undefined ? cursor : `${turn.journal} ${cursor}`),
    failures,
    addTriggered: triggers.add,
    async addEffects() {
      let sliceEndMs = parts.clock() + effectsSliceMs;
      for (const entry of triggers.all()) {
        await addEffectsOf(entry);
        if (parts.clock() < sliceEndMs) continue;
        await parts.pause(1);
        sliceEndMs = parts.clock() + effectsSliceMs;
      }
    },
    addTimerRun({ compiled, origin, timerMeta, evaluate }) {
      const failed = (error: unknown): void => failures.failed(compiled, origin, [], error);
      return isolated(parts.lookUp, failed, async (lookUp) => {
        const triggered = evaluate();
        addWaitingRun(
          triggered,
          await waitingRun(triggered, origin, lookUp, parts.platformStart(), timerMeta),
        );
      });
    },
  };
}
