// Alarms of rules: what a run of a rule does to alarms, which is written with its state (contract 37).
import {
  type AlarmEffect,
  alarmLimits,
  type AlarmSourceEnd,
  type AlarmTrigger,
} from '../model/alarm.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { AlarmOutput, CompiledRule } from './evaluation/compiled-rule.ts';
import type { AlarmSources } from './evaluation/alarm-sources.ts';
import type { RuleEvaluation, RuleSample } from './evaluation/rule-reading.ts';
import { clearsAlarm, type ScriptOutcome } from './evaluation/script-run.ts';
import { renderAlarm } from '../outputs/templates/alarm-templates.ts';
import type { Origin } from './rule-effects.ts';

interface Run {
  readonly compiled: CompiledRule;
  readonly origin: Origin;
  readonly context: TemplateContext;
  /** Equal triggers that the run represents; 1 by default. */
  readonly times?: number;
  /** Time of the sample that the run is about; null for a timed run without one. */
  readonly sampleTime: EpochMs | null;
}

/** Of what triggered the run; for a timed run, of the newest sample that it read. */
export function sampleTimeOf(
  samples: readonly (RuleSample | null | undefined)[],
  places: readonly number[],
): EpochMs | null {
  const read = places.length > 0 ? places.map((place) => samples[place]) : samples;
  const times = read.flatMap((sample) => sample?.timestamp ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

function placeOf({ compiled: { rule }, origin, sampleTime }: Run) {
  const { organizationId, workspaceId } = rule;
  return { organizationId, workspaceId, at: origin.at, hops: origin.hops, sampleTime };
}

function sourceOf({ compiled, origin }: Run, connectorId: string) {
  return { ruleId: compiled.rule.id, connectorId, deviceId: origin.deviceId };
}

/** The trigger of one action. */
export function alarmTrigger(run: Run, output: AlarmOutput, connectorId: string): AlarmTrigger {
  const { compiled, origin, context } = run;
  const { templates, properties, clearAfterMs, escalateAfterMs, remindEveryMs } = output;
  const { name, key, device } = renderAlarm(templates, context);
  return {
    kind: 'TRIGGER',
    times: run.times ?? 1,
    ...placeOf(run),
    key,
    name,
    severity: properties.severity,
    source: sourceOf(run, connectorId),
    isEndless: properties.clearWhen === 'NEVER',
    device: device ?? null,
    ruleName: compiled.rule.name,
    data: triggeringData(context),
    correlationId: origin.correlationId,
    orderedBy: templates.isByDevice ? (device?.id ?? '') : '',
    clearAfterMs,
    escalateAfterMs,
    remindEveryMs,
  };
}

/** What the script emitted, if anything, else the data of the sample. */
function triggeringData({ result, data }: TemplateContext): JsonObject {
  if (result !== undefined && Object.keys(result).length > 0) return result;
  return data ?? {};
}

/** The ends of the alarms that the outputs keep open for the device of the run. */
export function alarmEnds(run: Run, connectorIds: readonly string[]): AlarmEffect[] {
  return connectorIds.map((connectorId) => ({
    kind: 'SOURCE_ENDED',
    ...placeOf(run),
    source: sourceOf(run, connectorId),
    reason: 'RULE_FALSE',
  }));
}

/** The alarm that a script asked to clear. */
function alarmKeyEnd(run: Run, output: AlarmOutput, reason: string): AlarmEffect {
  const { key } = renderAlarm(output.templates, run.context);
  return { kind: 'KEY_ENDED', ...placeOf(run), key, reason };
}

/**
 * What a script does to the alarms of one output, in the order of its emits. A run without an
 * action, and without an error, counts as false.
 */
export function scriptAlarms(
  run: Run & {
    readonly outcome: ScriptOutcome;
    /** The emitted actions that trigger this output. */
    readonly results: readonly JsonObject[];
  },
  output: AlarmOutput,
  connectorId: string,
  sources: AlarmSources,
): readonly AlarmEffect[] {
  const { outcome, results, context } = run;
  const source = sourceOf(run, connectorId);
  const effects = outcome.actions.flatMap((result): AlarmEffect[] => {
    const own = { ...run, context: { ...context, result } };
    if (clearsAlarm(result)) return [alarmKeyEnd(own, output, reasonOf(result))];
    if (!results.includes(result)) return [];
    sources.add(source);
    return [alarmTrigger(own, output, connectorId)];
  });
  const isFalse = outcome.error === undefined && outcome.actions.every(clearsAlarm);
  const isEnded = isFalse && output.properties.clearWhen === 'RULE_FALSE' && sources.has(source);
  if (isEnded) effects.push(...alarmEnds(run, [connectorId]));
  return effects;
}

function reasonOf({ reason }: JsonObject): string {
  if (typeof reason !== 'string' || reason === '') return 'SCRIPT';
  return reason.slice(0, alarmLimits.reasonCharactersMax);
}

/** Brings the memory to what a write made durable; the rule may have been read again meanwhile. */
export function keepAlarmSources(effects: readonly AlarmEffect[], sources: AlarmSources): void {
  const last = new Map<string, AlarmTrigger | AlarmSourceEnd>();
  for (const effect of effects)
    if ('source' in effect) last.set(Object.values(effect.source).join('\n'), effect);
  for (const { kind, source } of last.values()) {
    if (kind === 'TRIGGER') sources.add(source);
    else sources.remove(source);
  }
}

// Alarm tracking: which alarms an evaluated rule opens, keeps open or ends for a device (contract 37).

/**
 * Keeps in memory what the verdict does to alarms. Returns the outputs whose alarms it ends: they
 * keep one open for the device, and the rule is not true any longer. A condition without a value
 * ends nothing.
 */
export function trackAlarms(
  compiled: CompiledRule,
  verdict: RuleEvaluation,
  deviceId: string,
  sources: AlarmSources,
): readonly string[] {
  const { rule, alarms } = compiled;
  if (alarms.size === 0) return none;
  let ended: string[] | undefined;
  if (sources.hasAny(rule.id, deviceId)) {
    for (const [connectorId, output] of alarms) {
      const source = { ruleId: rule.id, connectorId, deviceId };
      if (!sources.has(source) || !isOver(compiled, output, connectorId, verdict)) continue;
      sources.remove(source);
      (ended ??= []).push(connectorId);
    }
  }
  for (const { actionId } of verdict.firings)
    if (alarms.has(actionId)) sources.add({ ruleId: rule.id, connectorId: actionId, deviceId });
  return ended ?? none;
}

const none: readonly string[] = [];

function isOver(
  { logic }: CompiledRule,
  output: AlarmOutput,
  connectorId: string,
  verdict: RuleEvaluation,
): boolean {
  if (output.properties.clearWhen === 'NEVER') return false;
  if (logic.type === 'GEO_FENCE') return isOutsideFence(logic, connectorId, verdict);
  if (logic.type === 'SILENCE') return verdict.holds !== '1';
  return areBlocksFalse(output, verdict);
}

function areBlocksFalse({ blocks }: AlarmOutput, { holds, missing }: RuleEvaluation): boolean {
  return blocks.every(
    (block) =>
      holds[block] !== '1' && !missing.some((one) => one.startsWith(`logic block ${block + 1},`)),
  );
}

function isOutsideFence(
  logic: Extract<CompiledRule['logic'], { readonly type: 'GEO_FENCE' }>,
  connectorId: string,
  { holds, missing }: RuleEvaluation,
): boolean {
  if (missing.length > 0) return false;
  const { insideActionIds, outsideActionIds } = logic;
  const isTrue = holds === '1' ? insideActionIds : outsideActionIds;
  return !isTrue.includes(connectorId);
}
