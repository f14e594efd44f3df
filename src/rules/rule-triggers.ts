// Rule triggers: the queued script runs and notes of triggered rules, and the limit of consecutive rules.
import type { AlarmEffect } from '../model/alarm.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import type { StoredSample } from '../model/sample.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { ActivationRef } from '../storage/records/rows/rule-state.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import type { Triggered } from './evaluation/evaluation.ts';
import type { RuleSample } from './evaluation/rule-reading.ts';
import { scriptCauses, scriptEvent } from './evaluation/script-run.ts';
import { alarmEnds, alarmTrigger, sampleTimeOf } from './rule-alarms.ts';
import {
  type LookUpDevice,
  type Origin,
  type RuleDelivery,
  type RuleNote,
  ruleContext,
  ruleDelivery,
  ruleNote,
} from './rule-effects.ts';

/** Maximum number of rules that forward a sample, one after the other (contract 13). */
const hopsMax = 10;

/** Returns a run of a script for the queue: everything except the state of the rule. */
export async function waitingRun(
  triggered: Triggered,
  origin: Origin,
  lookUp: LookUpDevice,
  platformStart: EpochMs,
  timerMeta: JsonObject | null = null,
): Promise<JsonObject> {
  const { compiled, reading, places } = triggered;
  const context = await ruleContext(triggered, origin, lookUp);
  const type = scriptCauses[origin.cause];
  const { hops: numberOfInvocations, at } = origin;
  const cause = { type, timerMeta, numberOfInvocations, at, platformStart } as const;
  const event = scriptEvent(compiled, reading, cause, context);
  const { entry: _, sample: __, ...stored } = origin;
  return {
    origin: stored,
    event,
    context,
    samples: reading.samples.map((sample) => sample ?? null),
    places,
  } as unknown as JsonObject;
}

/**
 * Returns the deliveries and alarms of the firings of a verdict, and a note of them. `times` is the
 * number of equal triggers of alarms.
 */
export function firedEffects(
  { compiled, reading, places, verdict, ended = [] }: Triggered,
  origin: Origin,
  context: TemplateContext,
  times = 1,
) {
  const { activation, id: ruleId } = compiled.rule;
  const firings = verdict?.firings ?? [];
  const sampleTime = sampleTimeOf(reading.samples, places);
  const run = { compiled, origin, context, times, sampleTime };
  const alarms: AlarmEffect[] = [];
  const deliveries: (RuleDelivery & ActivationRef)[] = [];
  for (const firing of firings) {
    const output = compiled.alarms.get(firing.actionId);
    if (output !== undefined) alarms.push(alarmTrigger(run, output, firing.actionId));
    else deliveries.push({ ...ruleDelivery(compiled, origin, firing, context), activation });
  }
  // Ends follow triggers, so that an alarm with two outputs stays open when one replaces the other.
  alarms.push(...alarmEnds(run, ended));
  // Alarms are noted when they open and end, not with each trigger.
  const actionIds = deliveries.map(({ connectorId }) => connectorId);
  const noted = actionIds.length > 0 ? notedDevices(compiled, origin) : [];
  return {
    deliveries,
    alarms: alarms.map((effect) => ({ ruleId, activation, effect })),
    notes: noted.map((deviceId) => ruleNote(compiled, origin, deviceId, firedNote(actionIds))),
  };
}

export function firedNote(actionIds: readonly string[]): RuleNote {
  let message = `fired, ${actionIds.length} actions`;
  if (actionIds.length === 1) message = 'fired, 1 action';
  return { level: 'INFO', message, details: { actionIds } };
}

/** Whether too many rules forwarded the samples, so that no further rule is evaluated. */
export function isBeyondHops({ trace }: DurableEntry): boolean {
  return (trace?.ruleHops ?? 0) > hopsMax;
}

/** Returns the note of such samples. Repeating it changes nothing. */
export function hopsNote(
  { deviceId, position, samples, receivedAt }: DurableEntry,
  at: EpochMs,
): ProcessingLogEntry {
  return {
    id: `rules-hops-${position}`,
    deviceId,
    timestamp: at,
    correlationId: samples[0]?.correlationId ?? String(receivedAt),
    level: 'ERROR',
    source: 'RULE',
    message: `Rules already forwarded a sample ${hopsMax} times; no further rule is evaluated`,
  };
}

/**
 * Returns the device whose processing log gets the note: the triggering one, or the first one that
 * a timed rule names.
 */
export function notedDevices({ sources }: CompiledRule, { deviceId }: Origin): readonly string[] {
  if (deviceId !== '') return [deviceId];
  return sources.flatMap(({ deviceIds }) => deviceIds).slice(0, 1);
}

/** Returns the sample as rules keep it. */
export function ruleSampleOf({
  deviceId,
  topic,
  timestamp,
  data,
  meta,
  correlationId,
}: StoredSample): RuleSample {
  return {
    deviceId,
    topic,
    timestamp,
    data,
    ...(meta !== undefined && { meta }),
    correlationId,
  };
}
