// The properties of output connectors that send downlinks (contract 9).
import type { Json, JsonObject } from '../../model/json.ts';

/** A type alias, because stored properties are JSON objects. */
export type DownlinkActionProperties = {
  /** Service device ids; empty for the device that triggered the rule. */
  readonly targetDeviceIds: readonly string[];
  readonly downlinkType: 'LORA' | 'MQTT';
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
  /** Its texts may hold expressions. */
  readonly downlinkPayload: JsonObject | null;
};

const downlinkTargetsMax = 100;

type Refuse = (member: string, reason: string) => never;

/** Checks what was sent and fills in defaults; `refuse` throws 400 naming the member. */
export function readDownlinkAction(sent: JsonObject, refuse: Refuse): DownlinkActionProperties {
  const targets = sent['targetDeviceIds'] ?? [];
  if (!isTexts(targets)) refuse('targetDeviceIds', 'must be a list of device ids');
  if (targets.length > downlinkTargetsMax)
    refuse('targetDeviceIds', `must have at most ${downlinkTargetsMax}`);
  const downlinkType = sent['downlinkType'] ?? 'LORA';
  if (downlinkType !== 'LORA' && downlinkType !== 'MQTT')
    refuse('downlinkType', 'must be LORA or MQTT');
  const port = sent['port'] ?? null;
  if (
    port !== null &&
    (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 223)
  )
    refuse('port', 'must be from 1 to 223');
  const raw = sent['raw'] ?? false;
  const confirmed = sent['confirmed'] ?? null;
  if (typeof raw !== 'boolean') refuse('raw', 'must be true or false');
  if (confirmed !== null && typeof confirmed !== 'boolean')
    refuse('confirmed', 'must be true or false');
  const topic = textOf(sent, 'topic', refuse);
  if (downlinkType === 'MQTT' && topic === null) refuse('topic', 'is needed for MQTT');
  const rawDownlinkPayload = textOf(sent, 'rawDownlinkPayload', refuse);
  if (raw && rawDownlinkPayload === null)
    refuse('rawDownlinkPayload', 'is needed when raw is true');
  const downlinkPayload = sent['downlinkPayload'] ?? null;
  if (downlinkPayload !== null && !isObject(downlinkPayload))
    refuse('downlinkPayload', 'must be an object');
  const dataFlowId = textOf(sent, 'dataFlowId', refuse);
  return {
    targetDeviceIds: targets,
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

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(sent: JsonObject, name: string, refuse: Refuse): string | null {
  const value = sent[name] ?? null;
  return value === null || typeof value === 'string' ? value : refuse(name, 'must be a text');
}
