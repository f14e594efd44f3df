// Effects of script runs: deliveries, state, timers, notes and logged runs of one rule, collected for one write.
import type { JsonObject } from '../model/json.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { WaitingTrigger } from '../records/rows/rule-queue.ts';
import {
  countScriptTimers,
  findConditionStates,
  findScriptState,
} from '../records/rows/rule-state.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { RuleSample } from '../rules/rule-reading.ts';
import {
  actionsFor,
  clearsAlarm,
  type ScriptOutcome,
  scriptOutcome,
  scriptRunLimits,
} from '../rules/script-run.ts';
import { type Origin, ruleDelivery, ruleNote, runDeviceId } from './rule-effects.ts';
import type { RecordsDb } from '../records/records.ts';
import type { AlarmSources } from '../rules/alarm-sources.ts';
import type { RunLog } from '../rules/run-log.ts';
import type { ScriptMachine } from '../scripting/script-machine.ts';
import type { EpochMs } from '../model/instant.ts';
import { firedNote } from './rule-triggers.ts';
import { sampleTimeOf, scriptAlarms } from './rule-alarms.ts';
import { type CollectedWrite, emptyWrite, type RuleWrite } from './rule-writes.ts';

export interface ScriptRunParts {
  readonly db: RecordsDb;
  readonly scripts: Pick<ScriptMachine, 'run'>;
  readonly alarmSources: AlarmSources;
  readonly log: RunLog;
  readonly now: () => EpochMs;
}

interface Run {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  readonly outcome: ScriptOutcome;
  readonly sampleTime: EpochMs | null;
}

/** The effects of some runs of one rule. Each run reads the state of the previous one. */
interface Collector {
  readonly parts: ScriptRunParts;
  readonly write: CollectedWrite;
  readonly held: Map<string, RuleWrite['holds'][number]>;
  state: JsonObject | undefined;
  timersWaiting: number | undefined;
}

export function createCollector(parts: ScriptRunParts): Collector {
  const held = new Map<string, RuleWrite['holds'][number]>();
  const write = emptyWrite();
  return { parts, write, held, state: undefined, timersWaiting: undefined };
}

export function writeOf({ write, held }: Collector): RuleWrite {
  const notes = write.notes.filter(({ deviceId }) => deviceId !== '');
  return { ...write, notes, holds: [...held.values()] };
}

export async function runScript(
  collector: Collector,
  compiled: CompiledRule,
  { trigger }: WaitingTrigger,
): Promise<void> {
  const { db, scripts, now, log } = collector.parts;
  const { rule, logic } = compiled;
  if (logic.type !== 'CUSTOM_LOGIC') return;
  const { origin, event, context, samples, places } = trigger as unknown as WaitingRun;
  collector.state ??= (await findScriptState(db, activationOf(compiled))) ?? {};
  const { emits } = await scripts.run({
    tenant: rule.organizationId,
    source: logic.block.script,
    event: { ...event, state: collector.state },
  });
  const outcome = scriptOutcome(emits, now());
  const run = { compiled, origin, outcome, sampleTime: sampleTimeOf(samples, places) };
  keepState(collector, run);
  const actionIds = fire(collector, run, context, await holdsBefore(collector, run));
  const errors = outcome.notes.map(({ message }) => message);
  await setTimers(collector, run, (message) => errors.push(message));
  addNotes(collector, run, errors, actionIds);
  const { at, cause, deviceId, correlationId } = origin;
  log.add(compiled, {
    ...{ at, cause, deviceId, correlationId, places, actionIds },
    samples: samples.map((sample) => sample ?? undefined),
    ...resultOf(run, errors, actionIds),
  });
}

function activationOf({ rule }: CompiledRule) {
  return { ruleId: rule.id, activation: rule.activation };
}

function keepState(collector: Collector, { compiled, outcome: { state } }: Run): void {
  if (state === undefined) return;
  collector.state = state;
  collector.write.states = [{ ...activationOf(compiled), state }];
}

function addNotes(
  { write }: Collector,
  { compiled, origin }: Run,
  errors: readonly string[],
  actionIds: readonly string[],
): void {
  const deviceId = runDeviceId(compiled, origin);
  for (const [number, message] of errors.entries())
    write.notes.push(ruleNote(compiled, origin, deviceId, { level: 'ERROR', message, number }));
  // Alarms are noted when they open and end, not with each trigger.
  const sent = actionIds.filter((id) => !compiled.alarms.has(id));
  if (sent.length > 0) write.notes.push(ruleNote(compiled, origin, deviceId, firedNote(sent)));
}

/** Without actions that clear an alarm, which mean something only to rules with an output of alarms. */
function firingActions({ alarms }: CompiledRule, { actions }: ScriptOutcome) {
  if (alarms.size === 0) return actions;
  return actions.filter((action) => !clearsAlarm(action));
}

/** The condition state before the run; empty when unknown. */
async function holdsBefore(
  { parts, held }: Collector,
  { compiled, origin: { deviceId } }: Run,
): Promise<string> {
  const known = held.get(deviceId);
  if (known !== undefined) return known.holds;
  const { ruleId, activation } = activationOf(compiled);
  const [saved] = await findConditionStates(parts.db, [{ ruleId, deviceId }]);
  return saved?.activation === activation ? saved.holds : '';
}

/**
 * Adds the deliveries and alarms of the emitted actions. Returns the ids of the actions, one per
 * delivery or trigger.
 */
function fire(
  { parts, write, held }: Collector,
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
      const effects = scriptAlarms(run, output, actionId, parts.alarmSources);
      for (const effect of effects) write.alarms.push({ ...activationOf(compiled), effect });
      fired.push(...effects.flatMap(({ kind }) => (kind === 'TRIGGER' ? [actionId] : [])));
      continue;
    }
    for (const [i, result] of results.entries()) {
      const firing = { actionId, cause: `action ${i}` };
      const delivery = ruleDelivery(compiled, origin, firing, { ...context, result });
      write.deliveries.push({ ...delivery, activation });
      fired.push(actionId);
    }
  }
  const holds = String(Number(firing.length > 0));
  if (holds !== before && !(before === '' && holds === '0')) {
    const { deviceId } = origin;
    held.set(deviceId, { ...activationOf(compiled), deviceId, holds });
  }
  return fired;
}

async function setTimers(
  collector: Collector,
  { compiled, origin, outcome }: Run,
  wrong: (message: string) => void,
): Promise<void> {
  const { id: ruleId, activation } = compiled.rule;
  for (const [i, timer] of outcome.timers.entries()) {
    collector.timersWaiting ??= await countScriptTimers(collector.parts.db, ruleId);
    if (collector.timersWaiting >= scriptRunLimits.timersMax) {
      wrong(
        `the script already has ${scriptRunLimits.timersMax} pending timers; another was not set`,
      );
      return;
    }
    collector.timersWaiting += 1;
    const id = `${ruleId}:${origin.key}:${i}`;
    collector.write.timers.push({ id, ruleId, activation, ...timer });
  }
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
    return { outcome: 'FIRED', reason: `the script emitted ${actions.length} actions` } as const;
  if (actions.length === 0)
    return { outcome: 'NOT_FIRED', reason: 'the script emitted no action' } as const;
  if (firingActions(compiled, outcome).length === 0)
    return { outcome: 'NOT_FIRED', reason: 'the script cleared its alarm' } as const;
  return {
    outcome: 'SUPPRESSED',
    reason: 'suppressed because the previous run also emitted an action',
  } as const;
}
