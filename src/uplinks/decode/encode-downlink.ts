// A command becomes downlinks through the device type's downlink script (interface 2.10, contract 15 and 17).
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Note } from '../../model/processing-note.ts';
import type { Emit } from '../../scripting/emit.ts';
import type { ScriptMachine } from '../../scripting/script-machine.ts';
import { conversionNotes, deviceEvent, errorNote, type ScriptDevice } from './script-device.ts';

export interface CommandToEncode {
  /** Whose scripts these are: the organization's id. */
  readonly tenant: string;
  readonly device: ScriptDevice;
  /** The downlink encoder of the device type. */
  readonly script: string;
  readonly payload: Json;
  /** LoRa only. */
  readonly port?: number;
  readonly confirmed?: boolean;
  /** MQTT only. */
  readonly topic?: string;
  readonly state: JsonObject;
}

/**
 * What is sent: LoRa `port` and `payloadHex`, MQTT `topic` and `payload`. Absent members are those
 * of the command.
 */
export interface EncodedDownlink {
  readonly port?: number;
  readonly confirmed?: boolean;
  readonly payloadHex?: string;
  readonly topic?: string;
  readonly payload?: Json;
}

export interface EncodedCommand {
  /** In the order of emitting; a script may make several downlinks of one command. */
  readonly downlinks: readonly EncodedDownlink[];
  readonly notes: readonly Note[];
}

/**
 * Makes the encoder. What a script does wrong is a note; what it emitted before an error is kept.
 */
export function encodeDownlink(
  scripts: Pick<ScriptMachine, 'run'>,
): (command: CommandToEncode) => Promise<EncodedCommand> {
  return async (command) => {
    const { tenant, script: source } = command;
    const event = downlinkEvent(command);
    const { emits } = await scripts.run({
      tenant,
      source,
      event,
      entry: 'encodeDownlink',
      nonFinite: 'marked',
    });
    return collected(command, emits);
  };
}

function collected(command: CommandToEncode, emits: readonly Emit[]): EncodedCommand {
  const downlinks: EncodedDownlink[] = [];
  const notes: Note[] = [];
  for (const emit of emits) {
    for (const note of conversionNotes(emit)) notes.push({ ...note, source: 'DOWNLINK' });
    if (emit.type === 'ERROR') notes.push(errorNote(emit.event, 'DOWNLINK'));
    else if (emit.type === 'DOWNLINK') {
      const downlink = emittedDownlink(command, emit.event);
      if (typeof downlink === 'string')
        notes.push({ level: 'ERROR', source: 'DOWNLINK', message: downlink });
      else downlinks.push(downlink);
    } else if (emit.type !== 'LOG') {
      const message = `emit('${emit.type.toLowerCase()}', ...) has no effect in a downlink encoder`;
      notes.push({ level: 'WARN', source: 'DOWNLINK', message });
    } else if (emit.warning !== undefined) {
      notes.push({
        level: 'WARN',
        source: 'DOWNLINK',
        message: String((emit.event as JsonObject)['message']),
      });
    }
  }
  return { downlinks, notes };
}

// Some encoders read the payload as `data` or its hexadecimal text (contract 15).
function downlinkEvent({
  device,
  payload,
  port,
  confirmed,
  topic,
  state,
}: CommandToEncode): JsonObject {
  const lora = {
    ...(port !== undefined && { port }),
    ...(confirmed !== undefined && { confirmed }),
  };
  const { payloadHex } = isJsonObject(payload) ? payload : {};
  return {
    payload,
    data: payload,
    ...(payloadHex !== undefined && { payloadHex }),
    ...lora,
    ...(topic !== undefined && { topic }),
    device: deviceEvent(device),
    state,
  };
}

/** The downlink of an emit, or what is wrong with it. */
function emittedDownlink(command: CommandToEncode, event: Json): EncodedDownlink | string {
  if (!isJsonObject(event)) return 'Malformed downlink: it must be an object';
  const {
    port = command.port,
    confirmed = command.confirmed,
    payloadHex,
    topic = command.topic,
    payload,
  } = event;
  if (
    port !== undefined &&
    !(typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 255)
  ) {
    return 'Malformed downlink: port must be a number from 0 to 255';
  }
  if (confirmed !== undefined && typeof confirmed !== 'boolean')
    return 'Malformed downlink: confirmed must be a boolean';
  if (topic !== undefined && typeof topic !== 'string')
    return 'Malformed downlink: its topic must be a string';
  if (
    payloadHex !== undefined &&
    !(typeof payloadHex === 'string' && /^(?:[0-9a-fA-F]{2})*$/.test(payloadHex))
  ) {
    return 'Malformed downlink: its payloadHex must be hexadecimal';
  }
  if (payloadHex === undefined && payload === undefined)
    return 'Malformed downlink: payloadHex or payload is required';
  return {
    ...(port !== undefined && { port }),
    ...(confirmed !== undefined && { confirmed }),
    ...(payloadHex !== undefined && { payloadHex }),
    ...(topic !== undefined && { topic }),
    ...(payload !== undefined && { payload }),
  };
}
