// What a triggered rule causes: deliveries for its actions, script runs that wait, notes; all of it written in one transaction.
import { createHash } from 'node:crypto';
import type { DeliveryDraft } from '../model/delivery.ts';
import { formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { Note, ProcessingLogEntry } from '../model/processing-note.ts';
import {
  type ContextDevice,
  type DataSourceContext,
  deviceContext,
  type TemplateContext,
  templateContextOf,
  uplinkMetaOf,
} from '../model/template-context.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { RuleSample } from '../rules/rule-reading.ts';
import type { RunOrigin } from '../rules/rule-run.ts';

/** What is handed to the delivery log. */
export type RuleDelivery = DeliveryDraft & { readonly ruleId: string };

/** What triggered a rule. */
export interface Origin extends RunOrigin {
  /** Names the trigger for ever: the sample's cursor, or the due time. */
  readonly key: string;
  readonly hops: number;
  readonly sample?: RuleSample;
  readonly entry?: Pick<DurableEntry, 'receivedAt' | 'metrics' | 'trace'>;
}

/** Finds what templates see of a device; undefined when it is gone. */
export type LookUpDevice = (
  deviceId: string,
) => ContextDevice | undefined | Promise<ContextDevice | undefined>;

/** The tree of templates for a triggered rule (interface 2.11). */
export async function ruleContext(
  { compiled, reading, places }: Pick<Triggered, 'compiled' | 'reading' | 'places'>,
  origin: Origin,
  lookUp: LookUpDevice,
): Promise<TemplateContext> {
  const { id, name, description, workspaceId } = compiled.rule;
  const dataSources: Record<string, DataSourceContext> = {};
  for (const [place, { source, byTag }] of compiled.sources.entries()) {
    const sample = reading.samples[place];
    const known = sample === undefined ? undefined : await lookUp(sample.deviceId);
    const trigger = places.includes(place);
    const context = sourceContext(sample, known, { trigger, byTag, origin });
    dataSources[String(place + 1)] = context;
    if (source.variableName !== null) dataSources[source.variableName] = context;
  }
  const device = origin.sample === undefined ? undefined : await lookUp(origin.deviceId);
  const own: TemplateContext =
    origin.sample === undefined || device === undefined
      ? { timestamp: formatInstant(origin.at), correlationId: origin.correlationId }
      : templateContextOf({
          ...device,
          sample: { ...withoutUndefined(origin.sample), correlationId: origin.correlationId },
          ...(origin.entry !== undefined && { entry: origin.entry }),
          producedAt: origin.at,
        });
  return { ...own, rule: { ruleId: id, name, description, workspaceId }, dataSources };
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
  const { device = null } = known ?? {};
  return {
    correlationId: trigger ? origin.correlationId : null,
    device: known === undefined ? null : deviceContext(known),
    deviceId: device?.deviceId ?? null,
    svcDeviceId: sample?.deviceId ?? null,
    akenzaDeviceId: sample?.deviceId ?? null,
    topic: sample?.topic ?? null,
    timestamp: sample === undefined ? null : formatInstant(sample.timestamp),
    data: sample?.data ?? null,
    meta: sample?.meta ?? null,
    uplinkMeta:
      trigger && origin.entry !== undefined ? uplinkMetaOf(origin.entry, origin.at) : null,
    trigger,
    deviceInput: !byTag,
    tagInput: byTag,
  };
}

/** One delivery. `cause` tells firings of one run apart, so that it is the same delivery when the run is repeated after a crash. */
export function ruleDelivery(
  { rule, sources }: CompiledRule,
  origin: Origin,
  firing: { readonly actionId: string; readonly cause: string },
  context: TemplateContext,
): RuleDelivery {
  const { id: ruleId, organizationId, workspaceId } = rule;
  return {
    idempotencyKey: [ruleId, origin.key, firing.cause, firing.actionId].join(':'),
    connectorId: firing.actionId,
    organizationId,
    workspaceId,
    // A timed run has no device of its own; its deliveries keep the order of the first one it names.
    deviceId: origin.deviceId === '' ? (sources[0]?.deviceIds[0] ?? '') : origin.deviceId,
    correlationId: origin.correlationId,
    cause: 'RULE',
    ruleId,
    context,
    ruleHops: origin.hops,
  };
}

/** A note of a rule in the processing log of a device; its id is made of what it is about, so that repeating it changes nothing. */
export function ruleNote(
  { rule }: Pick<CompiledRule, 'rule'>,
  origin: Pick<Origin, 'key' | 'at' | 'correlationId'>,
  deviceId: string,
  note: Pick<Note, 'level' | 'message'> & { readonly details?: JsonObject | undefined },
  number = 0,
): ProcessingLogEntry {
  const digest = createHash('sha256')
    .update([rule.id, origin.key, number, note.message].join(':'))
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
