// What a trigger of a rule becomes: a run of its script that waits, or notes; and where handing on ends.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { StoredSample } from '../model/sample.ts';
import type { TemplateContext } from '../model/template-context.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { RuleSample } from '../rules/rule-reading.ts';
import { scriptEvent } from '../rules/script-run.ts';
import {
  type LookUpDevice,
  type Origin,
  ruleContext,
  ruleDelivery,
  ruleNote,
} from './rule-effects.ts';

/** How many rules hand a sample on, one to the next (contract 13). */
const hopsMax = 10;

/** A run of a script as it waits: everything but the rule's state. */
export async function waitingRun(
  triggered: Triggered,
  origin: Origin,
  lookUp: LookUpDevice,
  timerMeta: JsonObject | null = null,
): Promise<JsonObject> {
  const { compiled, reading, places } = triggered;
  const context = await ruleContext(triggered, origin, lookUp);
  const sources = compiled.sources.map((_, place) => context.dataSources![String(place + 1)]!);
  const type = origin.cause === 'UPLINK' ? 'uplink' : 'timer';
  const cause = { type, timerMeta, numberOfInvocations: origin.hops, at: origin.at } as const;
  const event = scriptEvent(compiled, reading, cause, context.device ?? null, sources);
  const { entry: _, sample: __, ...told } = origin;
  return {
    origin: told,
    event,
    context,
    samples: reading.samples.map((sample) => sample ?? null),
    places,
  } as unknown as JsonObject;
}

/** What a rule causes whose verdict has firings: their deliveries, and a note of them. */
export function firedEffects(
  { compiled, verdict }: Triggered,
  origin: Origin,
  context: TemplateContext,
) {
  const { activation } = compiled.rule;
  const firings = verdict?.firings ?? [];
  const actionIds = firings.map(({ actionId }) => actionId);
  const message = `fired, ${actionIds.length} action${actionIds.length === 1 ? '' : 's'}`;
  return {
    deliveries: firings.map((firing) => ({
      ...ruleDelivery(compiled, origin, firing, context),
      activation,
    })),
    notes: notedDevices(compiled, origin).map((deviceId) =>
      ruleNote(compiled, origin, deviceId, { level: 'INFO', message, details: { actionIds } }),
    ),
  };
}

/** Whether too many rules handed the samples on, so that no further one looks at them. */
export function isBeyondHops({ trace }: DurableEntry): boolean {
  return (trace?.ruleHops ?? 0) > hopsMax;
}

/** What is told of such samples; repeating it changes nothing. */
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
    message: `Rules handed a sample on ${hopsMax} times already; no rule looks at it any more`,
  };
}

/** Whose processing log tells of the run: the device that triggered it, or of a timed run those the rule names. */
export function notedDevices({ sources }: CompiledRule, { deviceId }: Origin): readonly string[] {
  if (deviceId !== '') return [deviceId];
  const [first] = sources.flatMap(({ deviceIds }) => deviceIds);
  return first === undefined ? [] : [first];
}

/** The sample as rules remember it. */
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
