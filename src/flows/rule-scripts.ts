// Runs of custom logic scripts, one after the other for each rule, so that a slow or failing script holds up its own rule alone.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { ConditionStates } from '../rules/condition-states.ts';
import type { RuleSample } from '../rules/rule-reading.ts';
import type { RunLog } from '../rules/run-log.ts';
import {
  actionsFor,
  type ScriptOutcome,
  scriptOutcome,
  scriptRunLimits,
} from '../rules/script-run.ts';
import type { ScriptMachine } from '../scripting/script-machine.ts';
import type { RecordsDb } from '../records/records.ts';
import { countScriptTimers, findScriptState } from '../records/rows/rule-state.ts';
import { countTriggers, findTriggers, type WaitingTrigger } from '../records/rows/rule-queue.ts';
import { type Origin, ruleDelivery, ruleNote } from './rule-effects.ts';
import {
  type EnqueueDeliveries,
  nothingToWrite,
  type RuleWrite,
  writeRuleEffects,
} from './rule-writes.ts';
import { createKeyedQueue } from '../structures/keyed-queue.ts';
import type { SetTimer } from '../structures/timers.ts';

/** Runs whose effects are written together. */
const runsPerWrite = 20;
const retryMs = 1_000;

export interface RuleScriptsParts {
  readonly db: RecordsDb;
  readonly scripts: Pick<ScriptMachine, 'run'>;
  readonly holds: ConditionStates;
  /** The rule as it is now. */
  readonly ruleOf: (ruleId: string) => Promise<CompiledRule | undefined>;
  readonly enqueueDeliveries: EnqueueDeliveries;
  readonly log: RunLog;
  readonly now: () => EpochMs;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
  /** Told when a script set timers. */
  readonly timersSet: () => void;
}

export interface RuleScripts {
  count(ruleId: string): number;
  added(ruleIds: readonly string[]): void;
  /** Goes on with what waited when the platform stopped. */
  start(): Promise<void>;
  /** Resolves when nothing waits and nothing runs. */
  settled(): Promise<void>;
  /** Ends after the runs under way; what waits is done after the next start. */
  close(): Promise<void>;
}

export function createRuleScripts(parts: RuleScriptsParts): RuleScripts {
  const waiting = new Map<string, number>();
  /** Rules to which runs were added since their queue was last read. */
  const unread = new Set<string>();
  /** Rules that failed and wait for their retry. */
  const failing = new Set<string>();
  let closed = false;
  const queue = createKeyedQueue({
    work,
    failed: parts.failed,
    setTimer: parts.setTimer,
    runningMax: Infinity,
    retryMs,
  });

  async function work(ruleId: string): Promise<void> {
    failing.delete(ruleId);
    try {
      await runWaiting(ruleId);
    } catch (error) {
      failing.add(ruleId);
      throw error;
    }
  }

  async function runWaiting(ruleId: string): Promise<void> {
    while (!closed) {
      unread.delete(ruleId);
      const found = await findTriggers(parts.db, ruleId, runsPerWrite);
      if (found.length === 0) {
        if (!unread.has(ruleId)) waiting.delete(ruleId);
        return;
      }
      const compiled = await parts.ruleOf(ruleId);
      const { taken, write } = await runAll(compiled, found);
      await writeRuleEffects(parts.db, write, parts.enqueueDeliveries);
      for (const { deviceId, holds } of write.holds) parts.holds.load(ruleId, deviceId, holds);
      waiting.set(ruleId, Math.max(0, (waiting.get(ruleId) ?? 0) - taken));
      if (write.timers.length > 0) parts.timersSet();
    }
  }

  function schedule(ruleId: string): void {
    if (!failing.has(ruleId)) queue.schedule(ruleId);
  }

  async function runAll(
    compiled: CompiledRule | undefined,
    found: readonly WaitingTrigger[],
  ): Promise<{ readonly taken: number; readonly write: RuleWrite }> {
    const collected = collectorOf(parts);
    let taken = 0;
    for (const trigger of found) {
      if (closed) break;
      if (compiled?.rule.activation === trigger.activation) await collected.run(compiled, trigger);
      taken += 1;
    }
    const upTo = found[taken - 1]?.sequence;
    const done = upTo === undefined ? [] : [{ ruleId: found[0]!.ruleId, upTo }];
    return { taken, write: { ...collected.write(), done } };
  }

  return {
    count: (ruleId) => waiting.get(ruleId) ?? 0,
    added(ruleIds) {
      for (const id of ruleIds) {
        waiting.set(id, (waiting.get(id) ?? 0) + 1);
        unread.add(id);
        schedule(id);
      }
    },
    async start() {
      for (const [ruleId, count] of await countTriggers(parts.db)) {
        waiting.set(ruleId, count);
        schedule(ruleId);
      }
    },
    settled: queue.idle,
    async close() {
      closed = true;
      await queue.close();
    },
  };
}

type Run = {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  readonly outcome: ScriptOutcome;
};

/** Collects what some runs of one rule cause; each sees the state that the one before left. */
function collectorOf({ db, scripts, holds, log, now }: RuleScriptsParts) {
  const deliveries: RuleWrite['deliveries'][number][] = [];
  const notes: RuleWrite['notes'][number][] = [];
  const timers: RuleWrite['timers'][number][] = [];
  const held = new Map<string, RuleWrite['holds'][number]>();
  let state: JsonObject | undefined;
  let stateOf: RuleWrite['states'][number] | undefined;
  let timersWaiting: number | undefined;

  function fire({ compiled, origin, outcome }: Run, context: TemplateContext): readonly string[] {
    const { logic, rule, consecutive } = compiled;
    if (logic.type !== 'CUSTOM_LOGIC') return [];
    const of = { ruleId: rule.id, activation: rule.activation };
    const before = held.get(origin.deviceId)?.holds ?? holds.get(rule.id, origin.deviceId);
    const fired: string[] = [];
    for (const actionId of logic.actionIds) {
      const isConsecutive = consecutive.get(actionId);
      if (isConsecutive === undefined) continue;
      for (const [i, result] of actionsFor(
        outcome.actions,
        isConsecutive,
        before === '1',
      ).entries()) {
        const firing = { actionId, cause: `action ${i}` };
        deliveries.push({
          ...ruleDelivery(compiled, origin, firing, { ...context, result }),
          activation: of.activation,
        });
        fired.push(actionId);
      }
    }
    const after = outcome.actions.length > 0 ? '1' : '0';
    if (after !== before && !(before === '' && after === '0')) {
      held.set(origin.deviceId, { ...of, deviceId: origin.deviceId, holds: after });
    }
    return fired;
  }

  async function setTimers(
    { compiled, origin, outcome }: Run,
    wrong: (message: string) => void,
  ): Promise<void> {
    const { id: ruleId, activation } = compiled.rule;
    for (const [i, timer] of outcome.timers.entries()) {
      timersWaiting ??= await countScriptTimers(db, ruleId);
      if (timersWaiting >= scriptRunLimits.timersMax) {
        wrong(
          `${scriptRunLimits.timersMax} timers of its script wait already; another was not set`,
        );
        return;
      }
      timersWaiting += 1;
      timers.push({ id: `${ruleId}:${origin.key}:${i}`, ruleId, activation, ...timer });
    }
  }

  return {
    async run(compiled: CompiledRule, { trigger }: WaitingTrigger): Promise<void> {
      const { rule, logic } = compiled;
      if (logic.type !== 'CUSTOM_LOGIC') return;
      const { origin, event, context, samples, places } = trigger as unknown as WaitingRun;
      const of = { ruleId: rule.id, activation: rule.activation };
      state ??= (await findScriptState(db, of)) ?? {};
      const source = logic.block.script;
      const { emits } = await scripts.run({
        tenant: rule.organizationId,
        source,
        event: { ...event, state },
      });
      const outcome = scriptOutcome(emits, now());
      if (outcome.state !== undefined) {
        state = outcome.state;
        stateOf = { ...of, state };
      }
      const run = { compiled, origin, outcome };
      const actionIds = fire(run, context);
      const deviceId =
        origin.deviceId === '' ? (compiled.sources[0]?.deviceIds[0] ?? '') : origin.deviceId;
      const errors = outcome.notes.map(({ message }) => message);
      await setTimers(run, (message) => errors.push(message));
      notes.push(
        ...errors.map((message, i) =>
          ruleNote(compiled, origin, deviceId, { level: 'ERROR', message }, i),
        ),
      );
      if (actionIds.length > 0) {
        const message = `fired, ${actionIds.length} action${actionIds.length === 1 ? '' : 's'}`;
        notes.push(
          ruleNote(compiled, origin, deviceId, { level: 'INFO', message, details: { actionIds } }),
        );
      }
      const { at, cause, correlationId } = origin;
      const seen = samples.map((sample) => sample ?? undefined);
      const told = {
        at,
        cause,
        deviceId: origin.deviceId,
        correlationId,
        samples: seen,
        places,
        actionIds,
      };
      log.add(compiled, { ...told, ...judged(outcome, errors, actionIds) });
    },
    write: (): RuleWrite => ({
      ...nothingToWrite,
      deliveries,
      notes: notes.filter(({ deviceId }) => deviceId !== ''),
      timers,
      holds: [...held.values()],
      states: stateOf === undefined ? [] : [stateOf],
    }),
  };
}

interface WaitingRun {
  readonly origin: Origin;
  readonly event: JsonObject;
  readonly context: TemplateContext;
  readonly samples: readonly (RuleSample | null)[];
  readonly places: readonly number[];
}

function judged(
  { actions }: ScriptOutcome,
  errors: readonly string[],
  actionIds: readonly string[],
) {
  const [error] = errors;
  if (error !== undefined) return { outcome: 'FAILED', reason: error } as const;
  if (actionIds.length > 0)
    return { outcome: 'FIRED', reason: `the script emitted ${actions.length} actions` } as const;
  if (actions.length === 0)
    return { outcome: 'NOT_FIRED', reason: 'the script emitted no action' } as const;
  return {
    outcome: 'SUPPRESSED',
    reason: 'the run before emitted an action too; actions fire after a run without one',
  } as const;
}
