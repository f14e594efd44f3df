// Rule effects: the deliveries, template contexts and notes of a triggered rule.
import { createHash } from 'node:crypto';
import type { DeliveryDraft } from '../model/delivery.ts';
import { formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { NoteLevel, ProcessingLogEntry } from '../model/entry-trace.ts';
import {
  type ContextDevice,
  type DataSourceContext,
  deviceContext,
  type TemplateContext,
  templateContextOf,
  uplinkMetaOf,
} from '../model/template-context.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import type { Triggered } from './evaluation/evaluation.ts';
import type { RuleSample } from './evaluation/rule-reading.ts';
import type { RunOrigin } from './evaluation/rule-run.ts';

/** A draft for the delivery log. */
export type RuleDelivery = DeliveryDraft & { readonly ruleId: string };

/** What triggered a rule. */
export interface Origin extends RunOrigin {
  /** Identifies the trigger permanently: the cursor of the sample, or the due time. */
  readonly key: string;
  readonly hops: number;
  readonly sample?: RuleSample;
  readonly entry?: DurableEntry;
}

/** Returns a device as templates see it; undefined when it was deleted. */
export type LookUpDevice = (
  deviceId: string,
) => ContextDevice | undefined | Promise<ContextDevice | undefined>;

/** Returns the template context of a triggered rule (interface 2.11). */
export async function ruleContext(
  { compiled, reading, places }: Triggered,
  origin: Origin,
  lookUp: LookUpDevice,
): Promise<TemplateContext> {
  const { id, name, description, workspaceId } = compiled.rule;
  const dataSources: Record<string, DataSourceContext> = {};
  for (const [place, { source, byTag }] of compiled.sources.entries()) {
    const sample = reading.samples[place];
    const known = sample && (await lookUp(sample.deviceId));
    const trigger = places.includes(place);
    const context = sourceContext(sample, known, { trigger, byTag, origin });
    dataSources[String(place + 1)] = context;
    if (source.variableName !== null) dataSources[source.variableName] = context;
  }
  const own = await originContext(origin, lookUp);
  return { ...own, rule: { ruleId: id, name, description, workspaceId }, dataSources };
}

/** The context of the triggering sample; without one, only the time and the correlation id. */
async function originContext(
  { sample, entry, deviceId, correlationId, at }: Origin,
  lookUp: LookUpDevice,
): Promise<TemplateContext> {
  const device = sample && (await lookUp(deviceId));
  if (sample === undefined || device === undefined)
    return { timestamp: formatInstant(at), correlationId };
  return templateContextOf({
    ...device,
    sample: { ...withoutUndefined(sample), correlationId },
    ...(entry !== undefined && { entry }),
    producedAt: at,
  });
}

function withoutUndefined({ deviceId, topic, timestamp, data, meta }: RuleSample) {
  return { deviceId, topic, timestamp, data, ...(meta !== undefined && { meta }) };
}

function sourceContext(
  sample: RuleSample | undefined,
  known: ContextDevice | undefined,
  {
    trigger,
    byTag,
    origin,
  }: { readonly trigger: boolean; readonly byTag: boolean; readonly origin: Origin },
): DataSourceContext {
  const triggered = { correlationId: origin.correlationId, uplinkMeta: originMeta(origin) };
  const { correlationId, uplinkMeta } = trigger ? triggered : notTriggered;
  return {
    correlationId,
    device: (known && deviceContext(known)) ?? null,
    deviceId: known?.device?.deviceId ?? null,
    svcDeviceId: sample?.deviceId ?? null,
    akenzaDeviceId: sample?.deviceId ?? null,
    topic: sample?.topic ?? null,
    timestamp: (sample && formatInstant(sample.timestamp)) ?? null,
    data: sample?.data ?? null,
    meta: sample?.meta ?? null,
    uplinkMeta,
    trigger,
    deviceInput: !byTag,
    tagInput: byTag,
  };
}

const notTriggered = { correlationId: null, uplinkMeta: null };

function originMeta({ entry, at }: Origin) {
  return (entry && uplinkMetaOf(entry, at)) ?? null;
}

/** The device of the run; for a timed run the first device that the rule names, else ''. */
export function runDeviceId({ sources }: CompiledRule, { deviceId }: Origin): string {
  return deviceId || (sources[0]?.deviceIds[0] ?? '');
}

/**
 * Returns one delivery. `cause` distinguishes the firings of a run, so that a repeated run creates
 * the same deliveries.
 */
export function ruleDelivery(
  compiled: CompiledRule,
  origin: Origin,
  firing: { readonly actionId: string; readonly cause: string },
  context: TemplateContext,
): RuleDelivery {
  const { id: ruleId, organizationId, workspaceId } = compiled.rule;
  return {
    idempotencyKey: [ruleId, origin.key, firing.cause, firing.actionId].join(':'),
    connectorId: firing.actionId,
    organizationId,
    workspaceId,
    // The deliveries of a timed run keep the order of the first device that the rule names.
    deviceId: runDeviceId(compiled, origin),
    correlationId: origin.correlationId,
    cause: 'RULE',
    ruleId,
    context,
    ruleHops: origin.hops,
  };
}

export type RuleNote = {
  readonly level: NoteLevel;
  readonly message: string;
  readonly details?: JsonObject | undefined;
  /** Distinguishes notes of one run; 0 by default. */
  readonly number?: number;
};

/**
 * Returns a note for the processing log of a device. Its id is derived from its subject, so that
 * repeating it changes nothing.
 */
export function ruleNote(
  { rule }: CompiledRule,
  origin: Origin,
  deviceId: string,
  note: RuleNote,
): ProcessingLogEntry {
  const digest = createHash('sha256')
    .update([rule.id, origin.key, note.number ?? 0, note.message].join(':'))
    .digest('hex');
  return {
    id: digest.slice(0, 32),
    deviceId,
    timestamp: origin.at,
    correlationId: origin.correlationId,
    level: note.level,
    source: 'RULE',
    message: `Rule ${rule.name}: ${note.message}`,
    details: { ...note.details, ruleId: rule.id },
  };
}
