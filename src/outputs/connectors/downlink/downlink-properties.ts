// Downlink properties: schemas and parser (contract 9).
import Type from 'typebox';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { PropertyReader } from '../property-parser.ts';
import {
  anyObject,
  anyText,
  oneOf,
  optional,
  optionalFlag,
  optionalText,
} from '../property-schemas.ts';

const targetsMax = 100;
const downlinkTypes = ['LORA', 'MQTT'] as const;

export type DownlinkProperties = {
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

export const downlinkProperties = {
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
