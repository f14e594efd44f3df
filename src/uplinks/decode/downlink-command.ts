// Downlink commands: checked, then encoded by the device type's script or sent unchanged (contract 15, 17).
import type { Connectivity } from '../../model/connector.ts';
import {
  type DownlinkCommand,
  type DownlinkContent,
  downlinkLimits,
} from '../../model/downlink.ts';
import { noteOfExact } from '../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { Note, NoteSource } from '../../model/entry-trace.ts';
import type { UplinkDevice } from '../../model/uplink.ts';
import type { Emit } from '../../scripting/emit.ts';
import type { ScriptRunner } from '../../scripting/script-machine.ts';

export interface CommandedDevice {
  readonly device: ScriptDevice & {
    readonly organizationId: string;
    readonly connectivity: Connectivity;
  };
  /** Whether it is an edge node of Sparkplug, or a device of one. */
  readonly isSparkplug: boolean;
  /** The downlink encoder of the device type; null without one. */
  readonly encoder: string | null;
}

interface CommandStages {
  readonly encode: (command: CommandToEncode) => Promise<EncodedCommand>;
  readonly stateOf: (deviceId: string) => JsonObject | Promise<JsonObject>;
}

export interface PlannedDownlinks {
  /** In the order of sending. */
  readonly contents: readonly DownlinkContent[];
  readonly notes: readonly Note[];
  /** Whether the first takes the place of what waits. */
  readonly replaces: boolean;
}

function refuse(field: string, reason: string): never {
  throw problem('downlinkInvalid', { field, reason });
}

/**
 * Throws Problem 400: for a device that takes none, for a command of another kind or one that
 * cannot be sent, and when the encoder fails without having made anything.
 */
export async function planDownlinks(
  command: DownlinkCommand,
  target: CommandedDevice,
  on: CommandStages,
): Promise<PlannedDownlinks> {
  const { deviceId, connectivity } = target.device;
  if (connectivity === 'LORA') return loraDownlinks(command, target, on);
  if (connectivity === 'MQTT') return mqttDownlinks(command, target, on);
  throw problem('downlinkNotSupported', { deviceId, connectivity });
}

async function loraDownlinks(
  { raw, loraDownlink }: DownlinkCommand,
  target: CommandedDevice,
  on: CommandStages,
): Promise<PlannedDownlinks> {
  if (!loraDownlink) return refuse('loraDownlink', 'is required for LORA devices');
  const { encoder } = target;
  const port = loraDownlink.port ?? undefined;
  const confirmed = loraDownlink.confirmed ?? undefined;
  const replaces = loraDownlink.clearQueue ?? false;
  const payloadHex = loraDownlink.payloadHex ?? hexOf(loraDownlink.payload);
  const payload = loraDownlink.payload ?? hexPayload(payloadHex);
  if (port !== undefined) checkPort(port, 'loraDownlink.port');
  if (payload === undefined || payload === null)
    refuse('loraDownlink.payloadHex', 'is required unless payload is set');
  if (raw === true || encoder === null) {
    if (payloadHex === undefined) {
      let reason = 'is required because the device type has no downlink encoder';
      if (raw === true) reason = 'is required when raw is true';
      refuse('loraDownlink.payloadHex', reason);
    }
    const content = loraContent(
      { ...said({ port, confirmed }), payloadHex },
      'loraDownlink.payloadHex',
    );
    return { contents: [content], notes: [], replaces };
  }
  // An encoder that chooses its port does so when the caller did not; the defaults come after it
  // (contract 36).
  const encoded = await runEncoder(
    { payload, ...said({ port, confirmed }) },
    { ...target, encoder },
    on,
  );
  return contentsOf(encoded, replaces, (one) => loraContent(one, 'the downlink encoder'));
}

function said({ port, confirmed }: { port: number | undefined; confirmed: boolean | undefined }) {
  return {
    ...(port !== undefined && { port }),
    ...(confirmed !== undefined && { confirmed }),
  };
}

async function mqttDownlinks(
  { raw, mqttDownlink }: DownlinkCommand,
  target: CommandedDevice,
  on: CommandStages,
): Promise<PlannedDownlinks> {
  if (!mqttDownlink) return refuse('mqttDownlink', 'is required for MQTT devices');
  const { encoder } = target;
  const contentOf = target.isSparkplug ? sparkplugContent : mqttContent;
  const { contentType } = mqttDownlink;
  if (
    contentType &&
    contentType.toUpperCase() !== 'JSON' &&
    !/^application\/json/i.test(contentType)
  ) {
    refuse('mqttDownlink.contentType', 'must be JSON');
  }
  const topic = mqttDownlink.topic ?? undefined;
  let hex = mqttDownlink.payloadHex ?? undefined;
  if (raw === true) hex ??= hexOf(mqttDownlink.payload);
  const payload = mqttDownlink.payload ?? hexPayload(hex);
  if (payload === undefined || payload === null) refuse('mqttDownlink.payload', 'is required');
  if (raw === true || encoder === null) {
    const sent = hexPayload(hex) ?? { payload };
    return {
      contents: [contentOf({ ...sent, ...(topic !== undefined && { topic }) })],
      notes: [],
      replaces: false,
    };
  }
  const encoded = await runEncoder(
    { payload, ...(topic !== undefined && { topic }) },
    { ...target, encoder },
    on,
  );
  return contentsOf(encoded, false, contentOf);
}

function hexPayload(payloadHex: string | undefined): { payloadHex: string } | undefined {
  return (payloadHex !== undefined && { payloadHex }) || undefined;
}

/**
 * Returns the hexadecimal string of a payload that contains nothing else. Some clients send it so.
 */
function hexOf(payload: Json | undefined): string | undefined {
  if (!isJsonObject(payload) || Object.keys(payload).length !== 1) return undefined;
  const hex = payload['payloadHex'];
  if (typeof hex === 'string') return hex;
  return undefined;
}

type EncodingDevice = CommandedDevice & { readonly encoder: string };

async function runEncoder(
  command: Pick<CommandToEncode, 'payload' | 'port' | 'confirmed' | 'topic'>,
  { device, encoder: script }: EncodingDevice,
  on: CommandStages,
): Promise<EncodedCommand> {
  const state = await on.stateOf(device.id);
  const encoded = await on.encode({
    ...command,
    tenant: device.organizationId,
    device,
    script,
    state,
  });
  const failure = encoded.notes.find((note) => note.level === 'ERROR');
  if (failure !== undefined && encoded.downlinks.length === 0) {
    throw problem('downlinkNotEncoded', { reason: failure.message });
  }
  return encoded;
}

function contentsOf(
  { downlinks, notes }: EncodedCommand,
  replaces: boolean,
  contentOf: (one: EncodedDownlink) => DownlinkContent,
): PlannedDownlinks {
  const contents = downlinks.map(contentOf);
  if (contents.length > 0) return { contents, notes, replaces };
  return { contents, notes: [...notes, noDownlink], replaces };
}

const noDownlink: Note = {
  level: 'INFO',
  source: 'DOWNLINK',
  message: 'The downlink encoder returned no downlink',
};

function checkPort(port: number, field: string): void {
  const { loraPortMin, loraPortMax } = downlinkLimits;
  if (!Number.isInteger(port) || port < loraPortMin || port > loraPortMax) {
    refuse(field, `must be an integer from ${loraPortMin} to ${loraPortMax}`);
  }
}

function checkHex(payloadHex: string, field: string, bytesMax: number): void {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(payloadHex))
    refuse(field, 'must be hexadecimal, with two digits per byte');
  if (payloadHex.length > bytesMax * 2) refuse(field, `must have at most ${bytesMax} bytes`);
}

function loraContent(
  { port = 1, confirmed = false, payloadHex }: EncodedDownlink,
  field: string,
): DownlinkContent {
  if (payloadHex === undefined) return refuse(field, 'must return payloadHex for a LORA device');
  checkPort(port, field);
  checkHex(payloadHex, field, downlinkLimits.loraBytesMax);
  return { port, confirmed, payloadHex, topic: null, payload: null };
}

function mqttContent({ topic, payloadHex, payload }: EncodedDownlink): DownlinkContent {
  const at = topicFrom(topic);
  if (payloadHex !== undefined) {
    checkHex(payloadHex, 'mqttDownlink.payload.payloadHex', downlinkLimits.payloadLengthMax / 2);
    return { port: null, confirmed: null, payloadHex, topic: at, payload: null };
  }
  if (payload === undefined || JSON.stringify(payload).length > downlinkLimits.payloadLengthMax) {
    return refuse(
      'mqttDownlink.payload',
      `must have at most ${downlinkLimits.payloadLengthMax} characters`,
    );
  }
  return { port: null, confirmed: null, payloadHex: null, topic: at, payload };
}

/** A command has no topic: it goes to where the edge node listens, with its metrics. */
function sparkplugContent(encoded: EncodedDownlink): DownlinkContent {
  const { payload, payloadHex } = encoded;
  if (payloadHex === undefined && (!isJsonObject(payload) || Object.keys(payload).length === 0))
    return refuse('mqttDownlink.payload', 'must be an object that maps metrics to values');
  return mqttContent({ ...encoded, topic: sparkplugCommandTopic });
}

/** What lists of downlinks show. */
const sparkplugCommandTopic = 'command';

/** Below the device's own topic; slashes at its beginning are what some clients write. */
function topicFrom(topic: string | undefined): string {
  const below = (topic ?? '').replace(/^\/+/, '');
  if (below === '') return refuse('mqttDownlink.topic', 'is required');
  if (below.length > downlinkLimits.topicLengthMax) {
    return refuse(
      'mqttDownlink.topic',
      `must have at most ${downlinkLimits.topicLengthMax} characters`,
    );
  }
  // The null character and the wildcards of subscriptions may not be in a topic that is published
  // to.
  if (/[#+]/.test(below) || below.includes('\0'))
    return refuse('mqttDownlink.topic', 'must not contain # or +');
  return below;
}

// A command becomes downlinks through the device type's downlink script (interface 2.10, contract 15 and 17).

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
interface EncodedDownlink {
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
  scripts: ScriptRunner,
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

// A device as scripts see it, and the notes that every kind of script can leave (contract 15).

/** What scripts see of a device. */
type ScriptDevice = Pick<
  UplinkDevice,
  'id' | 'deviceId' | 'name' | 'description' | 'customFields' | 'tags'
>;

/** The `device` member of a script's event. */
export function deviceEvent(device: ScriptDevice): JsonObject {
  const { id, deviceId, name, description, customFields, tags } = device;
  return { id, deviceId, name, description, customFields, tags };
}

/** The note of an ERROR entry: its message, and the place in the source as details. */
export function errorNote(event: Json, source: NoteSource): Note {
  const { message, ...place } = event as JsonObject;
  const note: Note = { level: 'ERROR', source, message: String(message) };
  if (Object.keys(place).length === 0) return note;
  return { ...note, details: place };
}

/** The warnings on numbers that JSON does not hold as they are (contract 16, 42). */
export function conversionNotes({ type, nonFinite, exact }: Emit): Note[] {
  const notes: Note[] = [];
  const what = type.toLowerCase();
  if (nonFinite !== undefined) {
    const message = `NaN and infinite numbers in the ${what} were replaced with null: ${nonFinite.join(', ')}`;
    notes.push({ level: 'WARN', source: 'SCRIPT', message, details: { paths: nonFinite } });
  }
  if (exact !== undefined) notes.push({ ...noteOfExact(exact), source: 'SCRIPT' });
  return notes;
}
