// Downlink: a command to devices, as the action of a rule (contract 9, 17).
import Type from 'typebox';
import type { DownlinkCommand } from '../../../model/downlink.ts';
import { parsedJson } from '../../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { problem, Problem } from '../../../model/problem.ts';
import { parseTemplate, renderTemplate } from '../../templates/template.ts';
import type { OrderDownlink } from '../connector-services.ts';
import { type ConnectorRecord, connectorType } from '../connector-type.ts';
import {
  anyObject,
  anyText,
  oneOf,
  optional,
  optionalFlag,
  optionalText,
  type PropertyReader,
} from '../properties.ts';
import type { OutboundMessage, SendOutcome, Target } from '../target.ts';

// Downlink properties: schemas and parser (contract 9).

const targetsMax = 100;
const downlinkTypes = ['LORA', 'MQTT'] as const;

type DownlinkProperties = {
  /** Service device ids; empty for the device that triggered the rule. */
  readonly targetDeviceIds: readonly string[];
  readonly downlinkType: (typeof downlinkTypes)[number];
  /** Null: the encoder chooses, else 1. */
  readonly port: number | null;
  /** Null: the encoder chooses, else false. */
  readonly confirmed: boolean | null;
  /** MQTT only. */
  readonly topic: string | null;
  readonly dataFlowId: string | null;
  readonly raw: boolean;
  /** A template; hexadecimal for LoRa. */
  readonly rawDownlinkPayload: string | null;
  /** Its strings may contain expressions. */
  readonly downlinkPayload: JsonObject | null;
};

const downlinkProperties = {
  targetDeviceIds: optional(
    Type.Array(anyText, {
      maxItems: targetsMax,
      description: 'Target devices. Defaults to the device of the sample.',
    }),
  ),
  downlinkType: optional(oneOf(downlinkTypes)),
  port: optional(
    Type.Integer({
      description: "LoRaWAN port, 1 to 223. Defaults to the encoder's choice, then 1.",
    }),
  ),
  confirmed: optionalFlag('Whether the network confirms the downlink. LoRaWAN only.'),
  topic: optionalText("Topic below the device's downlink topic. Required for MQTT."),
  dataFlowId: optional(anyText),
  raw: optionalFlag("Whether to skip the device type's encoder."),
  rawDownlinkPayload: optionalText('Template. Required when `raw` is true. Hexadecimal for LORA.'),
  downlinkPayload: optional(anyObject),
};

type DownlinkReader = PropertyReader<keyof DownlinkProperties>;

export function parseDownlink(reader: DownlinkReader): DownlinkProperties {
  const targetDeviceIds = parseTargets(reader);
  const downlinkType = parseType(reader);
  const port = parsePort(reader);
  const raw = reader.flag('raw');
  const confirmed = parseConfirmed(reader);
  const topic = reader.text('topic');
  if (downlinkType === 'MQTT' && topic === null) reader.refuse('topic', 'is required for MQTT');
  const rawDownlinkPayload = reader.text('rawDownlinkPayload');
  if (raw && rawDownlinkPayload === null)
    reader.refuse('rawDownlinkPayload', 'is required when raw is true');
  const downlinkPayload = parsePayload(reader);
  const dataFlowId = reader.text('dataFlowId');
  return {
    targetDeviceIds,
    downlinkType,
    port,
    confirmed,
    topic,
    dataFlowId,
    raw,
    rawDownlinkPayload,
    downlinkPayload,
  };
}

function parseTargets({ sent, refuse }: DownlinkReader): readonly string[] {
  const targets = sent['targetDeviceIds'] ?? [];
  if (!isTexts(targets)) return refuse('targetDeviceIds', 'must be an array of device ids');
  if (targets.length > targetsMax)
    refuse('targetDeviceIds', `must have at most ${targetsMax} items`);
  return targets;
}

function parseType({ sent, refuse }: DownlinkReader): DownlinkProperties['downlinkType'] {
  const type = downlinkTypes.find((name) => name === (sent['downlinkType'] ?? 'LORA'));
  return type ?? refuse('downlinkType', 'must be LORA or MQTT');
}

function parsePort({ sent, refuse }: DownlinkReader): number | null {
  const port = sent['port'] ?? null;
  if (port === null) return null;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 223) return port;
  return refuse('port', 'must be between 1 and 223');
}

function parseConfirmed(reader: DownlinkReader): boolean | null {
  if ((reader.sent['confirmed'] ?? null) === null) return null;
  return reader.flag('confirmed');
}

function parsePayload({ sent, refuse }: DownlinkReader): JsonObject | null {
  const payload = sent['downlinkPayload'] ?? null;
  if (payload === null || isJsonObject(payload)) return payload;
  return refuse('downlinkPayload', 'must be an object');
}

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export const downlink = connectorType({
  vendorName: 'DOWNLINK',
  propertiesKey: 'downlinkProperties',
  properties: downlinkProperties,
  secrets: [],
  alsoNeeded: ({ downlinkType, raw }) => [
    ...(downlinkType === 'MQTT' ? (['topic'] as const) : []),
    ...(raw === true ? (['rawDownlinkPayload'] as const) : []),
  ],
  deviceIds: ['targetDeviceIds'],
  defaultScope: 'RULE_ACTION',
  parse: parseDownlink,
  check: () => {},
  checkRecord,
  open: (properties, { orderDownlink }, { hasCustomPayload }) =>
    createDownlinkTarget({ ...properties, hasCustomPayload }, orderDownlink),
});

/**
 * Throws 400 for a downlink that no rule can send. A record that is stored without a payload can
 * stay so.
 */
function checkRecord(record: ConnectorRecord, stored: ConnectorRecord | undefined): void {
  if (record.scope !== 'RULE_ACTION') {
    throw problem('invalidRequest', {
      reason: 'body scope: must be RULE_ACTION for type DOWNLINK',
    });
  }
  if (hasPayload(record) || (stored !== undefined && !hasPayload(stored))) return;
  const reason =
    'body downlinkProperties.downlinkPayload: is required unless rawDownlinkPayload (with raw) or customPayload (with useCustomPayload) is set';
  throw problem('invalidRequest', { reason });
}

function hasPayload({ properties, useCustomPayload, customPayload }: ConnectorRecord): boolean {
  const { raw, downlinkPayload } = properties ?? {};
  // `parse` has checked the raw payload of a raw downlink.
  return raw === true || Boolean(downlinkPayload) || (useCustomPayload && Boolean(customPayload));
}

// Downlink target: creates commands for devices of the properties, or for the device of the trigger (contract 17).

type DownlinkAction = DownlinkProperties & {
  /** Whether the payload of a message comes from the template of the connector. */
  readonly hasCustomPayload: boolean;
};

function createDownlinkTarget(action: DownlinkAction, order: OrderDownlink): Target {
  return { send: (message) => send(action, message, order), close: async () => {} };
}

async function send(
  action: DownlinkAction,
  message: OutboundMessage,
  order: OrderDownlink,
): Promise<SendOutcome> {
  const { deviceId, deliveryId } = message;
  const targets = action.targetDeviceIds.length > 0 ? action.targetDeviceIds : [deviceId];
  const correlationId = message.context.correlationId ?? deliveryId;
  try {
    const command = commandOf(action, message);
    for (const to of targets) {
      await order({ from: deviceId, to, command, correlationId, idempotencyKey: deliveryId });
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Only a full queue is temporary.
    return { ok: false, retry: error.problem === 'downlinkQueueFull', reason: error.message };
  }
  const devices = targets.length === 1 ? 'device' : 'devices';
  return { ok: true, answer: `queued for ${targets.length} ${devices}` };
}

function commandOf(action: DownlinkAction, message: OutboundMessage): DownlinkCommand {
  const { raw, rawDownlinkPayload, port, confirmed, topic, downlinkType } = action;
  if (downlinkType === 'MQTT')
    return { raw, mqttDownlink: { topic, payload: payloadOf(action, message) } };
  if (!raw) return { raw, loraDownlink: { port, confirmed, payload: payloadOf(action, message) } };
  const payloadHex = rendered(rawDownlinkPayload ?? '', message);
  return { raw, loraDownlink: { port, confirmed, payloadHex } };
}

function payloadOf(action: DownlinkAction, message: OutboundMessage): Json {
  if (action.hasCustomPayload) return parsed(message.payload);
  if (action.raw) return rawPayload(rendered(action.rawDownlinkPayload ?? '', message));
  const template = parseTemplate(JSON.stringify(action.downlinkPayload ?? {}), 'json');
  return parsed(renderTemplate(template, message.context));
}

/** Hexadecimal digits are bytes; anything else is JSON or a string. */
function rawPayload(text: string): Json {
  return /^(?:[0-9a-fA-F]{2})+$/.test(text) ? { payloadHex: text } : parsed(text);
}

function rendered(text: string, { context }: OutboundMessage): string {
  return renderTemplate(parseTemplate(text, 'text'), context).trim();
}

/** A string that is not JSON is a payload itself. */
function parsed(text: string): Json {
  try {
    return parsedJson(text);
  } catch {
    return text;
  }
}
