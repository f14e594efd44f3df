// Uplink decoder: converts an uplink into samples, with the device type's script or unchanged (interface 2.10, contract 10 and 15).
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { timestampOf, timestampRefusal } from '../../model/timestamp.ts';
import { exactIntegersNote, typedJson } from '../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Note } from '../../model/entry-trace.ts';
import { defaultTopic, type Sample } from '../../model/sample.ts';
import type { EarlyRun, Uplink, UplinkScript } from '../../model/uplink.ts';
import type { Emit } from '../../scripting/emit.ts';
import type { ScriptRunner } from '../../scripting/script-machine.ts';
import { conversionNotes, deviceEvent, errorNote } from './downlink-command.ts';

export interface DecodedUplink {
  /** Topics and data keys are as the script emitted them, not checked yet. */
  readonly samples: readonly Sample[];
  readonly notes: readonly Note[];
  /** The new state; absent when the script emitted none. */
  readonly state?: JsonObject;
  /** Milliseconds that the script used of a processor; 0 without one. */
  readonly processorMs: number;
}

/** Runs the scripts of uplinks. What a script does wrong is a note; what it emitted before an error is kept (contract 35). */
export class UplinkDecoder {
  readonly #scripts: ScriptRunner;
  readonly #stateBytesMax: number;
  readonly #ran: (script: UplinkScript, decoded: DecodedUplink, given: JsonObject) => void;

  constructor(
    scripts: ScriptRunner,
    /** Limit on a new state, as JSON. */
    stateBytesMax: number,
    /** Told of each run of a script and the state that it got. */
    ran: (script: UplinkScript, decoded: DecodedUplink, given: JsonObject) => void = () =>
      undefined,
  ) {
    this.#scripts = scripts;
    this.#stateBytesMax = stateBytesMax;
    this.#ran = ran;
  }

  /**
   * `state` is what the device's last run passed on. Rejects only with the problems of the script
   * machine: too busy, or stopping.
   */
  readonly decode = async (uplink: Uplink, state: JsonObject): Promise<DecodedUplink> => {
    const { script } = uplink;
    if (script === null) return passThrough(uplink);
    const { tenant, code: source } = script;
    const event = decoderEvent(uplink, state);
    const { emits, processorMs } = await this.#scripts.run({
      tenant,
      source,
      event,
      nonFinite: 'marked',
    });
    const decoded = { ...this.#decodedOf(uplink, emits), processorMs };
    this.#ran(script, decoded, state);
    return decoded;
  };

  /** What an early run of the script emitted. */
  decodeEarly(uplink: Uplink, { entries }: EarlyRun) {
    return this.#decodedOf(uplink, typedJson<Emit[]>(entries));
  }

  #decodedOf(uplink: Uplink, emits: readonly Emit[]) {
    const { notes, ...decoded } = collected(uplink, emits, this.#stateBytesMax);
    const exact = exactIntegersNote(uplink.body);
    return { ...decoded, notes: exact === undefined ? notes : [exact, ...notes] };
  }
}

/** The payload of an uplink without a script is its sample. */
export function passThrough(uplink: Uplink): DecodedUplink {
  return { samples: [sampleOf(uplink, dataOf(uplink))], notes: [], processorMs: 0 };
}

/** What a script is told of an uplink. */
type ReceivedPayload = Pick<
  Uplink,
  | 'correlationId'
  | 'device'
  | 'receivedAt'
  | 'topic'
  | 'timestamp'
  | 'body'
  | 'bodyBytes'
  | 'metrics'
  | 'encoding'
>;

/** An array has no data keys, so it becomes one value (contract 15). */
function dataOf({ body }: ReceivedPayload): JsonObject {
  return isJsonObject(body) ? body : { values: body };
}

function collected(uplink: Uplink, emits: readonly Emit[], stateBytesMax: number) {
  const samples: Sample[] = [];
  const notes: Note[] = [];
  let state: JsonObject | undefined;
  for (const emit of emits) {
    notes.push(...conversionNotes(emit));
    if (emit.type === 'SAMPLE') {
      const sample = emittedSample(uplink, emit.event, notes);
      if (sample !== undefined) samples.push(sample);
    } else if (emit.type === 'STATE')
      state = emittedState(emit.event, notes, stateBytesMax) ?? state;
    else notes.push(...otherNotes(emit));
  }
  return { samples, notes, ...(state !== undefined && { state }) };
}

/** The event that the script of an uplink gets (interface 2.10). */
export function decoderEvent(uplink: ReceivedPayload, state: JsonObject): JsonObject {
  const data = dataOf(uplink);
  const { topic, timestamp } = sampleOf(uplink, data);
  return {
    data,
    encoding: uplink.encoding ?? 'JSON',
    device: deviceEvent(uplink.device),
    uplinkMetrics: metricsEvent(uplink, data),
    topic,
    timestamp: formatInstant(timestamp),
    state,
  };
}

const lastPort = 255;

function metricsEvent({ metrics, ...uplink }: ReceivedPayload, { port }: JsonObject): JsonObject {
  const { correlationId, device, bodyBytes, receivedAt } = uplink;
  const isPort =
    typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= lastPort;
  return {
    uplinkId: correlationId,
    deviceId: device.id,
    uplinkSize: bodyBytes,
    timestamp: formatInstant(receivedAt),
    ...(isPort && { port }),
    ...(metrics as JsonObject | undefined),
  };
}

/** A sample with the topic and the time of its uplink. */
function sampleOf(
  { device, topic, timestamp, receivedAt }: ReceivedPayload,
  data: JsonObject,
): Sample {
  return {
    deviceId: device.id,
    topic: topic ?? defaultTopic,
    timestamp: timestamp ?? receivedAt,
    data,
  };
}

/** Returns the sample of an emit. Topic and time default to those of the uplink. */
function emittedSample(uplink: Uplink, event: Json, notes: Note[]): Sample | undefined {
  const malformed = malformation(event);
  if (malformed !== undefined) {
    notes.push({
      level: 'ERROR',
      source: 'SCRIPT',
      message: `Malformed sample: ${malformed}`,
      details: { sample: event },
    });
    return undefined;
  }
  const { data, meta, topic, timestamp } = event as JsonObject;
  const sample = sampleOf(uplink, data as JsonObject);
  return {
    ...sample,
    topic: topicText(topic ?? sample.topic),
    timestamp: emittedTime(timestamp, sample.timestamp, notes),
    ...(isJsonObject(meta) && { meta }),
  };
}

function malformation(event: Json): string | undefined {
  if (!isJsonObject(event)) return 'it must be an object';
  if (!isJsonObject(event['data'])) return 'its data must be an object';
  const { timestamp, meta } = event;
  // A time that is wrong by a factor would be believed.
  if (typeof timestamp === 'number' && timestampOf(timestamp) === undefined)
    return timestampRefusal(timestamp).message.replace(/^The/, 'the');
  if (meta === undefined || meta === null || isJsonObject(meta)) return undefined;
  return 'its meta must be an object';
}

// A topic that is not a string is never valid. The topic check reports it and keeps the sample.
function topicText(topic: Json): string {
  if (typeof topic === 'string') return topic;
  return JSON.stringify(topic);
}

/** Dates arrive as ISO strings. Numbers are epoch milliseconds. */
function emittedTime(timestamp: Json | undefined, instead: EpochMs, notes: Note[]): EpochMs {
  if (timestamp === undefined) return instead;
  const time = timestampOf(timestamp);
  if (time !== undefined) return time;
  const message = `Invalid sample timestamp ${JSON.stringify(timestamp)}; used the uplink timestamp instead`;
  notes.push({ level: 'WARN', source: 'SCRIPT', message });
  return instead;
}

function emittedState(event: Json, notes: Note[], bytesMax: number): JsonObject | undefined {
  if (event === null) return {};
  if (isJsonObject(event)) {
    const bytes = Buffer.byteLength(JSON.stringify(event));
    if (bytes <= bytesMax) return event;
    const message = `The state has ${bytes} bytes and was not kept: a device may have ${bytesMax} (limit stateBytes)`;
    notes.push({ level: 'ERROR', source: 'SCRIPT', message });
    return undefined;
  }
  notes.push({
    level: 'ERROR',
    source: 'SCRIPT',
    message: 'Malformed state: it must be an object',
    details: { state: event },
  });
  return undefined;
}

/**
 * Notes of emits that are neither samples nor state. Logs are only shown while a script is
 * developed (interface 2.10).
 */
function otherNotes({ type, event, warning }: Emit): Note[] {
  if (type === 'ERROR') return [errorNote(event, 'SCRIPT')];
  if (type === 'LOG') {
    if (warning === undefined) return [];
    return [{ level: 'WARN', source: 'SCRIPT', message: String((event as JsonObject)['message']) }];
  }
  const message = `emit('${type.toLowerCase()}', ...) has no effect in an uplink decoder`;
  return [{ level: 'WARN', source: 'SCRIPT', message }];
}
