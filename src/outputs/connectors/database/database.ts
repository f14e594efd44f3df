// Database: stores the sample of the trigger in the platform itself; one global connector exists from the start (contract 9).
import type { ConnectorType, TargetOptions } from '../connector-type.ts';
import { parseInstant } from '../../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { parseJsonObject } from '../../../model/json-keys.ts';
import type { OutboundMessage, SendOutcome, Target } from '../target.ts';
import type { WriteSample, WrittenSample } from '../connector-services.ts';

export const database: ConnectorType<never> = {
  vendorName: 'AKENZA_DATABASE',
  properties: null,
  defaultScope: 'DATA_FLOW',
  defaultSendConsecutiveAlerts: false,
  needsJsonPayload: false,
  missingSetting: () => undefined,
  check: () => {},
  checkRecord: () => {},
  open: (_properties, { writeSample }) => createSampleTarget(undefined, writeSample),
};

// Sample target: stores the sample of the trigger, or one created from it, in the platform (contract 9, 35, 36).

/** The longest chain of samples that outputs write because of each other (contract 13). */
const ruleHopsMax = 10;

/** The properties and options of a custom database connector. */
interface CustomSample extends TargetOptions {
  readonly topic: string;
  readonly targetDeviceId: string | null;
  readonly useCurrentDevice: boolean;
}

type SampleContent = Pick<WrittenSample, 'data' | 'topic' | 'timestamp' | 'meta'>;

/**
 * `custom` is undefined for the global database connector, which stores the sample of the trigger.
 */
export function createSampleTarget(custom: CustomSample | undefined, write: WriteSample): Target {
  return { send: (message) => store(message, custom, write), close: async () => {} };
}

async function store(
  message: OutboundMessage,
  custom: CustomSample | undefined,
  write: WriteSample,
): Promise<SendOutcome> {
  const ruleHops = (message.ruleHops ?? 0) + 1;
  if (ruleHops > ruleHopsMax)
    return rejected(
      `rules have already forwarded this sample ${ruleHopsMax} times (possible loop)`,
    );
  const content = contentOf(message, custom);
  if (typeof content === 'string') return rejected(content);
  return write({
    ...content,
    deviceId: targetDevice(custom) ?? message.deviceId,
    correlationId: message.correlationId ?? message.deliveryId,
    ruleHops,
    invokeRules: custom?.invokeRuleEngine ?? false,
    from: message.deviceId,
  });
}

function targetDevice(custom: CustomSample | undefined): string | null {
  if (custom === undefined || custom.useCurrentDevice) return null;
  return custom.targetDeviceId;
}

/**
 * Returns `result.data` of custom logic, else the custom payload, else the data of the trigger.
 * Returns a reason when there is nothing to store.
 */
function contentOf(
  message: OutboundMessage,
  custom: CustomSample | undefined,
): SampleContent | string {
  const { data, meta, result } = message.context;
  const trigger = {
    timestamp: instantOf(message.context['timestamp']) ?? message.createdAt ?? 0,
    topic: custom?.topic ?? textOf(message.context['topic']) ?? 'default',
  };
  const triggerMeta = { ...(isJsonObject(meta) && Object.keys(meta).length > 0 && { meta }) };
  if (custom !== undefined && isJsonObject(result) && isJsonObject(result['data']))
    return { ...trigger, ...triggerMeta, ...ownParts(result), data: result['data'] };
  if (custom?.hasCustomPayload !== true) {
    if (!isJsonObject(data)) return 'there is no sample to write';
    return { ...trigger, ...triggerMeta, data };
  }
  const payload = parseJsonObject(message.payload);
  if (payload === undefined) return 'the custom payload is not a JSON object';
  // The payload is either a sample or its data alone.
  if (!isJsonObject(payload['data'])) return { ...trigger, data: payload };
  return { ...trigger, ...triggerMeta, ...ownParts(payload), data: payload['data'] };
}

/**
 * The members of a sample that replace those of the connector, which replace those of the trigger
 * (contract 36).
 */
function ownParts(sample: JsonObject) {
  const { meta } = sample;
  const timestamp = instantOf(sample['timestamp']);
  const topic = textOf(sample['topic']);
  return {
    ...(timestamp !== undefined && { timestamp }),
    ...(topic !== undefined && { topic }),
    ...(isJsonObject(meta) && { meta }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function instantOf(value: Json | undefined): number | undefined {
  return typeof value === 'string' ? parseInstant(value) : undefined;
}

function rejected(reason: string): SendOutcome {
  return { ok: false, retry: false, reason };
}
