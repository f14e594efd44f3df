// Script runs of custom logic: one at a time per rule, so that a slow script delays only its rule.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { ScriptRunner } from '../scripting/script-machine.ts';
import type { CommitPlace } from '../storage/records/commit-order.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  type WaitingTrigger,
  scriptTimerRows,
  triggerRows,
  conditionStateRows,
  scriptStateRows,
} from '../storage/records/rows/rule-state.ts';
import { KeyedQueue } from '../structures/work-queues.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { AlarmSources } from './evaluation/alarm-sources.ts';
import { keepAlarmSources, sampleTimeOf, scriptAlarms } from './rule-alarms.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import type { RuleSample } from './evaluation/rule-reading.ts';
import type { RunLog } from './evaluation/run-log.ts';
import {
  actionsFor,
  clearsAlarm,
  emittedReason,
  scriptOutcome,
  type ScriptOutcome,
  scriptRunLimits,
} from './evaluation/script-run.ts';
import { type Origin, ruleDelivery, ruleNote, runDeviceId } from './rule-effects.ts';
import { firedNote } from './rule-batch.ts';
import { emptyWrite, type RuleOutlets, type RuleWrite, writeRuleEffects } from './rule-writes.ts';

/** Runs whose effects are written together. */
const runsPerWrite = 20;
const retryMs = 1_000;

interface RuleScriptsParts {
  readonly db: RecordsDb;
  readonly scripts: ScriptRunner;
  readonly alarmSources: AlarmSources;
  readonly log: RunLog;
  readonly now: () => EpochMs;
  /** Returns the current rule. */
  readonly ruleOf: (ruleId: string) => Promise<CompiledRule | undefined>;
  readonly outlets: RuleOutlets;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
  /** Whether the scripts of the rule run here; with one node, all. */
  readonly isOwn?: (ruleId: string) => boolean;
  /** Rejects when another node runs the scripts of the rule; in the transaction of the effects. */
  readonly fence?: (step: RecordsDb, ruleId: string) => Promise<void>;
  /** Called when a script set timers. */
  readonly timersSet: () => void;
}

export class RuleScripts {
  readonly #parts: RuleScriptsParts;
  readonly #queue: KeyedQueue;
  /** Number of waiting runs by rule. */
  readonly #waiting = new Map<string, number>();
  /** Rules to which runs were added since their queue was last read. */
  readonly #unread = new Set<string>();
  /** Rules that failed and wait for their retry. */
  readonly #failing = new Set<string>();
  #isClosed = false;

  constructor(parts: RuleScriptsParts) {
    this.#parts = parts;
    this.#queue = new KeyedQueue({
      work: (ruleId) => this.#workOn(ruleId),
      failed: parts.failed,
      setTimer: parts.setTimer,
      runningMax: Infinity,
      retryMs,
    });
  }

  /** Resolves when no run waits or is in progress. */
  readonly settled = (): Promise<void> => this.#queue.idle();

  /** Resolves after the runs in progress. Waiting runs are executed after the next start. */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    await this.#queue.close();
  };

  count(ruleId: string): number {
    return this.#waiting.get(ruleId) ?? 0;
  }

  /** Rules with waiting runs. */
  waitingRules(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  added(ruleIds: readonly string[]): void {
    for (const id of ruleIds) {
      this.#waiting.set(id, (this.#waiting.get(id) ?? 0) + 1);
      this.#unread.add(id);
      this.#schedule(id);
    }
  }

  /** Resumes the runs that waited when the platform, or another node, stopped. */
  async start(): Promise<void> {
    for (const [ruleId, count] of await triggerRows.counts(this.#parts.db)) {
      if (this.#parts.isOwn?.(ruleId) === false) continue;
      this.#waiting.set(ruleId, count);
      this.#schedule(ruleId);
    }
  }

  #schedule(ruleId: string): void {
    if (!this.#failing.has(ruleId)) this.#queue.schedule(ruleId);
  }

  async #workOn(ruleId: string): Promise<void> {
    this.#failing.delete(ruleId);
    try {
      await this.#runWaiting(ruleId);
    } catch (error) {
      this.#failing.add(ruleId);
      throw error;
    }
  }

  async #runWaiting(ruleId: string): Promise<void> {
    const { db, isOwn, ruleOf, fence, outlets, alarmSources, timersSet } = this.#parts;
    while (!this.#isClosed) {
      this.#unread.delete(ruleId);
      if (isOwn?.(ruleId) === false) return void this.#waiting.delete(ruleId);
      const found = await triggerRows.first(db, ruleId, runsPerWrite);
      if (found.length === 0) {
        if (!this.#unread.has(ruleId)) this.#waiting.delete(ruleId);
        return;
      }
      const { taken, write } = await this.#runAll(await ruleOf(ruleId), found);
      const fenced =
        fence === undefined
          ? write
          : { ...write, savePositions: (step: RecordsDb) => fence(step, ruleId) };
      await writeRuleEffects(db, fenced, outlets);
      keepAlarmSources(
        write.alarms.map(({ effect }) => effect),
        alarmSources,
      );
      this.#waiting.set(ruleId, Math.max(0, this.count(ruleId) - taken));
      if (write.timers.length > 0) timersSet();
    }
  }

  async #runAll(
    compiled: CompiledRule | undefined,
    found: readonly WaitingTrigger[],
  ): Promise<{ readonly taken: number; readonly write: RuleWrite }> {
    const collected = new CollectedRuns(this.#parts);
    const done = new Map<string, CommitPlace>();
    let taken = 0;
    for (const trigger of found) {
      if (this.#isClosed) break;
      const { ruleId, activation, place } = trigger;
      if (compiled?.rule.activation === activation) await collected.run(compiled, trigger);
      taken += 1;
      done.set(ruleId, place);
    }
    const removed = [...done].map(([ruleId, upTo]) => ({ ruleId, upTo }));
    return { taken, write: { ...collected.write(), done: removed } };
  }
}

// Effects of script runs: deliveries, state, timers, notes and logged runs of one rule, collected for one write.

interface Run {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  readonly outcome: ScriptOutcome;
  readonly sampleTime: EpochMs | null;
}

/** The effects of some runs of one rule. Each run reads the state of the previous one. */
class CollectedRuns {
  readonly #parts: RuleScriptsParts;
  readonly #write = emptyWrite();
  readonly #held = new Map<string, RuleWrite['holds'][number]>();
  #state: JsonObject | undefined;
  #timersWaiting: number | undefined;

  constructor(parts: RuleScriptsParts) {
    this.#parts = parts;
  }

  write(): RuleWrite {
    const notes = this.#write.notes.filter(({ deviceId }) => deviceId !== '');
    return { ...this.#write, notes, holds: [...this.#held.values()] };
  }

  async run(compiled: CompiledRule, { trigger }: WaitingTrigger): Promise<void> {
    const { db, scripts, now, log } = this.#parts;
    const { rule, logic } = compiled;
    if (logic.type !== 'CUSTOM_LOGIC') return;
    const { origin, event, context, samples, places } = trigger as unknown as WaitingRun;
    this.#state ??= (await scriptStateRows.find(db, activationOf(compiled))) ?? {};
    const { emits } = await scripts.run({
      tenant: rule.organizationId,
      source: logic.block.script,
      event: { ...event, state: this.#state },
    });
    const outcome = scriptOutcome(emits, now());
    const run = { compiled, origin, outcome, sampleTime: sampleTimeOf(samples, places) };
    this.#keepState(run);
    const actionIds = this.#fire(run, context, await this.#holdsBefore(run));
    const errors = outcome.notes.map(({ message }) => message);
    await this.#setTimers(run, (message) => errors.push(message));
    this.#addNotes(run, errors, actionIds);
    const { at, cause, deviceId, correlationId } = origin;
    log.add(compiled, {
      at,
      cause,
      deviceId,
      correlationId,
      places,
      actionIds,
      samples: samples.map((sample) => sample ?? undefined),
      ...resultOf(run, errors, actionIds),
    });
  }

  #keepState({ compiled, outcome: { state } }: Run): void {
    if (state === undefined) return;
    this.#state = state;
    this.#write.states = [{ ...activationOf(compiled), state }];
  }

  #addNotes(
    { compiled, origin }: Run,
    errors: readonly string[],
    actionIds: readonly string[],
  ): void {
    const deviceId = runDeviceId(compiled, origin);
    for (const [number, message] of errors.entries())
      this.#write.notes.push(
        ruleNote(compiled, origin, deviceId, { level: 'ERROR', message, number }),
      );
    // Alarms are noted when they open and end, not with each trigger.
    const sent = actionIds.filter((id) => !compiled.alarms.has(id));
    if (sent.length > 0)
      this.#write.notes.push(ruleNote(compiled, origin, deviceId, firedNote(sent)));
  }

  /** The condition state before the run; empty when unknown. */
  async #holdsBefore({ compiled, origin: { deviceId } }: Run): Promise<string> {
    const known = this.#held.get(deviceId);
    if (known !== undefined) return known.holds;
    const { ruleId, activation } = activationOf(compiled);
    const [saved] = await conditionStateRows.find(this.#parts.db, [{ ruleId, deviceId }]);
    return saved?.activation === activation ? saved.holds : '';
  }

  /**
   * Adds the deliveries and alarms of the emitted actions. Returns the ids of the actions, one per
   * delivery or trigger.
   */
  #fire(
    { compiled, origin, outcome, sampleTime }: Run,
    context: TemplateContext,
    before: string,
  ): readonly string[] {
    const { logic, rule, consecutive, alarms } = compiled;
    if (logic.type !== 'CUSTOM_LOGIC') return [];
    const { activation } = rule;
    const fired: string[] = [];
    const firing = firingActions(compiled, outcome);
    for (const actionId of logic.actionIds) {
      const isConsecutive = consecutive.get(actionId);
      if (isConsecutive === undefined) continue;
      const results = actionsFor(firing, isConsecutive, before === '1');
      const output = alarms.get(actionId);
      if (output !== undefined) {
        const run = { compiled, origin, context, outcome, results, sampleTime };
        const effects = scriptAlarms(run, output, actionId, this.#parts.alarmSources);
        for (const effect of effects)
          this.#write.alarms.push({ ...activationOf(compiled), effect });
        fired.push(...effects.flatMap(({ kind }) => (kind === 'TRIGGER' ? [actionId] : [])));
        continue;
      }
      for (const [i, result] of results.entries()) {
        const firing = { actionId, cause: `action ${i}` };
        const delivery = ruleDelivery(compiled, origin, firing, { ...context, result });
        this.#write.deliveries.push({ ...delivery, activation });
        fired.push(actionId);
      }
    }
    const holds = String(Number(firing.length > 0));
    if (holds !== before && !(before === '' && holds === '0')) {
      const { deviceId } = origin;
      this.#held.set(deviceId, { ...activationOf(compiled), deviceId, holds, waits: null });
    }
    return fired;
  }

  async #setTimers(
    { compiled, origin, outcome }: Run,
    wrong: (message: string) => void,
  ): Promise<void> {
    const { id: ruleId, activation } = compiled.rule;
    for (const [i, timer] of outcome.timers.entries()) {
      this.#timersWaiting ??= await scriptTimerRows.count(this.#parts.db, ruleId);
      if (this.#timersWaiting >= scriptRunLimits.timersMax) {
        wrong(
          `the script already has ${scriptRunLimits.timersMax} pending timers; another was not set`,
        );
        return;
      }
      this.#timersWaiting += 1;
      const id = `${ruleId}:${origin.key}:${i}`;
      this.#write.timers.push({ id, ruleId, activation, ...timer });
    }
  }
}

function activationOf({ rule }: CompiledRule) {
  return { ruleId: rule.id, activation: rule.activation };
}

/** Without actions that clear an alarm, which mean something only to rules with an output of alarms. */
function firingActions({ alarms }: CompiledRule, { actions }: ScriptOutcome) {
  if (alarms.size === 0) return actions;
  return actions.filter((action) => !clearsAlarm(action));
}

interface WaitingRun {
  readonly origin: Origin;
  readonly event: JsonObject;
  readonly context: TemplateContext;
  readonly samples: readonly (RuleSample | null)[];
  readonly places: readonly number[];
}

function resultOf(
  { compiled, outcome }: Run,
  errors: readonly string[],
  actionIds: readonly string[],
) {
  const { actions } = outcome;
  const [error] = errors;
  if (error !== undefined) return { outcome: 'FAILED', reason: error } as const;
  if (actionIds.length > 0)
    return { outcome: 'FIRED', reason: emittedReason(actions.length) } as const;
  if (actions.length === 0)
    return { outcome: 'NOT_FIRED', reason: 'the script emitted no action' } as const;
  if (firingActions(compiled, outcome).length === 0)
    return { outcome: 'NOT_FIRED', reason: 'the script cleared its alarm' } as const;
  return {
    outcome: 'SUPPRESSED',
    reason: 'suppressed because the previous run also emitted an action',
  } as const;
}
