// Downlink: a command to devices, as the action of a rule (contract 9, 17).
import type { DownlinkCommand } from '../../../model/downlink.ts';
import { parsedJson } from '../../../model/json-keys.ts';
import type { Json } from '../../../model/json.ts';
import { problem, Problem } from '../../../model/problem.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import { parseTemplate } from '../../templates/template.ts';
import { type ConnectorRecord, connectorType } from '../connector-type.ts';
import type { OutboundMessage, SendOutcome, Target } from '../target.ts';
import type { OrderDownlink } from '../connector-services.ts';
import {
  downlinkProperties,
  type DownlinkProperties,
  parseDownlink,
} from './downlink-properties.ts';

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
