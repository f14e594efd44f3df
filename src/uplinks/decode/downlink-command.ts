// Downlink commands: checked, then encoded by the device type's script or sent unchanged (contract 17).
import type { Connectivity } from '../../model/connector.ts';
import {
  type DownlinkCommand,
  type DownlinkContent,
  downlinkLimits,
} from '../../model/downlink.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { Note } from '../../model/processing-note.ts';
import type { CommandToEncode, EncodedCommand, EncodedDownlink } from './encode-downlink.ts';
import type { ScriptDevice } from './script-device.ts';

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

export interface CommandStages {
  readonly encode: (command: CommandToEncode) => Promise<EncodedCommand>;
  readonly stateOf: (deviceId: string) => Promise<JsonObject>;
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
