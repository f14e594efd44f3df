// Downlinks as a rule's action: a command to the devices it names, or to the one that triggered it (contract 9, 17).
import type { DownlinkCommand } from '../../model/downlink.ts';
import type { DownlinkActionProperties } from './downlink-action.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { parseTemplate } from '../../templates/template.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import type { OutboundConnector, OutboundMessage, SendOutcome } from '../target.ts';

export interface DownlinkOrder {
  /** Service device id of the device that triggered the rule; its workspace is as far as the action reaches. */
  readonly from: string;
  readonly to: string;
  readonly command: DownlinkCommand;
  readonly correlationId: string;
  /** Repeating the order with the same key sends nothing twice. */
  readonly idempotencyKey: string;
}

/** Queues the downlinks; throws Problem for what cannot be sent. */
export type OrderDownlink = (order: DownlinkOrder) => Promise<void>;

export function downlinkConnector(order: OrderDownlink): OutboundConnector {
  return {
    type: 'DOWNLINK',
    open(properties) {
      const action = properties as unknown as DownlinkActionProperties & {
        readonly hasCustomPayload?: boolean;
      };
      return { send: (message) => send(action, message, order), close: async () => {} };
    },
  };
}

async function send(
  action: DownlinkActionProperties & { readonly hasCustomPayload?: boolean },
  message: OutboundMessage,
  order: OrderDownlink,
): Promise<SendOutcome> {
  const targets = action.targetDeviceIds.length > 0 ? action.targetDeviceIds : [message.deviceId];
  try {
    const command = commandOf(action, message);
    const { correlationId } = message.context;
    for (const to of targets) {
      await order({
        from: message.deviceId,
        to,
        command,
        correlationId: typeof correlationId === 'string' ? correlationId : message.deliveryId,
        idempotencyKey: message.deliveryId,
      });
    }
    return {
      ok: true,
      answer: `queued for ${targets.length} ${targets.length === 1 ? 'device' : 'devices'}`,
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // A full queue empties; what is wrong with the command or its device stays.
    return { ok: false, retry: error.problem === 'downlinkQueueFull', reason: error.message };
  }
}

function commandOf(
  action: DownlinkActionProperties & { readonly hasCustomPayload?: boolean },
  message: OutboundMessage,
): DownlinkCommand {
  const { raw, rawDownlinkPayload, port, confirmed, topic } = action;
  const payload = payloadOf(action, message);
  if (action.downlinkType === 'MQTT') return { raw, mqttDownlink: { topic, payload } };
  if (raw)
    return {
      raw,
      loraDownlink: { port, confirmed, payloadHex: filled(rawDownlinkPayload ?? '', message) },
    };
  return { raw, loraDownlink: { port, confirmed, payload } };
}

function payloadOf(
  action: DownlinkActionProperties & { readonly hasCustomPayload?: boolean },
  message: OutboundMessage,
): Json {
  if (action.hasCustomPayload === true) return parsed(message.payload);
  if (action.raw && action.downlinkType === 'MQTT')
    return rawMqtt(filled(action.rawDownlinkPayload ?? '', message));
  const template = parseTemplate(JSON.stringify(action.downlinkPayload ?? {}), 'json');
  return parsed(renderTemplate(template, message.context));
}

/** Hexadecimal digits are bytes, anything else is JSON or a text. */
function rawMqtt(text: string): Json {
  return /^(?:[0-9a-fA-F]{2})+$/.test(text) ? { payloadHex: text } : parsed(text);
}

function filled(text: string, message: OutboundMessage): string {
  return renderTemplate(parseTemplate(text, 'text'), message.context).trim();
}

function parsed(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? (value satisfies JsonObject) : value;
  } catch {
    return text;
  }
}
