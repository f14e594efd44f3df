// Output back into the platform's own database: the sample as it is, or one made of it for a topic or another device (contract 9, 35).
import type { JsonObject } from '../../model/json.ts';
import { isJsonObject } from '../../model/json.ts';
import { parseInstant } from '../../model/instant.ts';
import type { CustomDatabaseProperties } from '../../model/message-properties.ts';
import type { OutboundConnector, OutboundMessage, SendOutcome } from '../target.ts';

/** A sample that an output writes: it passes the same checks as any other, and the rules when `invokeRules`. */
export interface WrittenSample {
  readonly deviceId: string;
  readonly topic: string;
  /** Undefined when what was to be written names none. */
  readonly timestamp: number;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
  readonly correlationId: string;
  readonly ruleHops: number;
  readonly invokeRules: boolean;
  /** The organization whose devices may be written to. */
  readonly from: string;
}

export type WriteSample = (sample: WrittenSample) => Promise<SendOutcome>;

/** Samples that outputs wrote may cause further ones; so many in a row at most (contract 13). */
const ruleHopsMax = 10;

export interface WrittenBy {
  readonly invokeRuleEngine: boolean;
  /** Null for the sample's own data, else what a custom payload made. */
  readonly hasCustomPayload: boolean;
}

/** The database connector as a rule's action: stores the trigger's sample. */
export function databaseConnector(write: WriteSample): OutboundConnector {
  return {
    type: 'DATABASE',
    open: () => ({ send: (message) => store(message, undefined, write), close: async () => {} }),
  };
}

export function customDatabaseConnector(write: WriteSample): OutboundConnector {
  return {
    type: 'CUSTOM_DATABASE',
    open(properties) {
      const custom = properties as unknown as CustomDatabaseProperties & WrittenBy;
      return { send: (message) => store(message, custom, write), close: async () => {} };
    },
  };
}

async function store(
  message: OutboundMessage,
  custom: (CustomDatabaseProperties & WrittenBy) | undefined,
  write: WriteSample,
): Promise<SendOutcome> {
  const ruleHops = (message.ruleHops ?? 0) + 1;
  if (ruleHops > ruleHopsMax)
    return refused(`rules handed this sample on ${ruleHopsMax} times already`);
  const made = sampleOf(message, custom);
  if (typeof made === 'string') return refused(made);
  const target = custom?.useCurrentDevice === false ? custom.targetDeviceId : message.deviceId;
  return write({
    ...made,
    deviceId: target ?? message.deviceId,
    correlationId: message.correlationId ?? message.deliveryId,
    ruleHops,
    invokeRules: custom?.invokeRuleEngine ?? false,
    from: message.deviceId,
  });
}

/** `result.data` of custom logic, else the custom payload, else the trigger's data; or why there is nothing to write. */
function sampleOf(
  message: OutboundMessage,
  custom: (CustomDatabaseProperties & WrittenBy) | undefined,
): Pick<WrittenSample, 'data' | 'topic' | 'timestamp' | 'meta'> | string {
  const { context } = message;
  const { data, meta } = context;
  const triggers = {
    timestamp: instantOf(context['timestamp']) ?? message.createdAt ?? 0,
    topic: custom?.topic ?? textOf(context['topic']) ?? 'default',
    ...(isJsonObject(meta) && Object.keys(meta).length > 0 ? { meta } : {}),
  };
  const result = context['result'];
  if (custom !== undefined && isJsonObject(result) && isJsonObject(result['data'])) {
    return { ...triggers, ...partsOf(result), data: result['data'] };
  }
  if (custom?.hasCustomPayload === true) {
    const payload = parsed(message.payload);
    if (payload === undefined) return 'the custom payload is no JSON object';
    // Either a sample or its data alone.
    return isJsonObject(payload['data'])
      ? { ...triggers, ...partsOf(payload), data: payload['data'] }
      : { topic: triggers.topic, timestamp: triggers.timestamp, data: payload };
  }
  if (!isJsonObject(data)) return 'there is no sample whose data could be written';
  return { ...triggers, data };
}

/** What a whole sample says of itself: it wins over the connector, and the connector over the trigger (contract 36). */
function partsOf(sample: JsonObject) {
  const { meta } = sample;
  const timestamp = instantOf(sample['timestamp']);
  const topic = textOf(sample['topic']);
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(topic === undefined ? {} : { topic }),
    ...(isJsonObject(meta) ? { meta } : {}),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function instantOf(value: unknown): number | undefined {
  return typeof value === 'string' ? parseInstant(value) : undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refused(reason: string): SendOutcome {
  return { ok: false, retry: false, reason };
}
