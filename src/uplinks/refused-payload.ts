// Refused payloads: read again, tried with decoders, and taken in when their device is registered (contract 39.3).
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../model/connector.ts';
import type { DeviceType } from '../model/device-type.ts';
import type { Note } from '../model/entry-trace.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { declaredEncoding, keptPayload, type Payload, payloadBytesMax } from '../model/payload.ts';
import { Problem } from '../model/problem.ts';
import { type Refusal, refusalLimits } from '../model/refused-uplink.ts';
import type { Sample } from '../model/sample.ts';
import type { Uplink, UplinkDevice } from '../model/uplink.ts';
import type { NetworkServer } from '../transports/network-servers/network-server.ts';
import { inflateBody, isSenmlPack, readPayload } from '../transports/payload-reader.ts';
import type { Capture } from './capture/capture.ts';
import type { Webhook, WebhookStages } from './capture/network-server-capture.ts';
import type { NoteDevice } from './device-events.ts';
import type { Decoded, Validated } from './uplink.ts';

// Reading: the bytes that were kept, as the transport would have read them.

/** Thrown text: why the payload of a refusal is none that can be taken. */
class Unusable extends Error {}

function bytesOf({ payload, payloadForm, bytes, sent }: Refusal): Buffer {
  if (payload === null) throw new Unusable('The payload was not kept');
  const kept = Buffer.from(payload, payloadForm === 'HEX' ? 'hex' : 'utf8');
  if (kept.length !== bytes)
    throw new Unusable(
      `Only the first ${refusalLimits.payloadBytesMax} of the ${bytes} bytes of the payload were kept`,
    );
  const encoding = sent?.contentEncoding?.toLowerCase() ?? 'identity';
  return inflated(kept, encoding);
}

function inflated(kept: Buffer, encoding: string): Buffer {
  const options = { maxOutputLength: payloadBytesMax };
  try {
    if (encoding === 'identity') return kept;
    if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(kept, options);
    if (encoding === 'deflate') return inflateBody(kept);
    if (encoding === 'br') return brotliDecompressSync(kept, options);
  } catch (error) {
    throw new Unusable(`The payload is no valid ${encoding} data: ${(error as Error).message}`);
  }
  throw new Unusable(`The payload is compressed with ${encoding}, which is not known`);
}

interface Declared {
  readonly type: DeviceType | null;
  readonly connector: DeviceConnector;
}

function hintsOf({ sent, transport }: Refusal, declared: Declared) {
  // Webhooks are JSON, whatever the payloads of their devices are.
  const encoding = transport === 'LORAWAN' ? ('JSON' as const) : declaredEncoding(declared);
  return { encoding, contentType: sent?.contentType, port: sent?.port };
}

/** Throws Unusable. */
function payloadOf(refusal: Refusal, declared: Declared): Payload {
  if (refusal.transport === 'LINE_PROTOCOL')
    throw new Unusable('Points in line protocol are taken when they are sent again');
  try {
    return readPayload(bytesOf(refusal), hintsOf(refusal, declared));
  } catch (error) {
    if (error instanceof Problem) throw new Unusable(error.message);
    throw error;
  }
}

// Proposal: the decoders that make samples of the payload, the best first.

interface TriedType {
  readonly deviceType: { readonly id: string; readonly name: string };
  readonly samples: readonly {
    readonly topic: string;
    readonly timestamp: string;
    readonly data: JsonObject;
  }[];
  readonly errors: readonly string[];
  readonly declaredKeys: readonly string[];
  readonly score: number;
}

export interface TrialParts {
  readonly serverOf: WebhookStages['serverOf'];
  readonly decode: (uplink: Uplink, state: JsonObject) => Promise<Decoded>;
  readonly validate: (sample: Sample) => Validated;
  /** Milliseconds of a clock that only moves on. */
  readonly now: () => number;
}

/** No decoder begins later. */
const trialMsMax = 5_000;
/** Samples and notes of one decoder that are shown. */
const shownMax = 20;

/** Tries the types one after the other; nothing is stored. */
export async function tryTypes(
  refusal: Refusal,
  connector: DeviceConnector,
  types: readonly DeviceType[],
  on: TrialParts,
): Promise<{
  readonly unreadable: string | null;
  readonly types: readonly TriedType[];
  readonly complete: boolean;
}> {
  const until = on.now() + trialMsMax;
  const tried: TriedType[] = [];
  let complete = true;
  for (const type of types) {
    complete = on.now() <= until;
    if (!complete) break;
    tried.push(await tryType(refusal, connector, type, on));
  }
  return {
    unreadable: await unusableReason(refusal, connector, on),
    types: tried.toSorted((one, other) => other.score - one.score),
    complete,
  };
}

async function unusableReason(
  refusal: Refusal,
  connector: DeviceConnector,
  on: TrialParts,
): Promise<string | null> {
  try {
    await sentBy(refusal, { type: null, connector }, on);
    return null;
  } catch (error) {
    if (error instanceof Unusable) return error.message;
    throw error;
  }
}

async function tryType(
  refusal: Refusal,
  connector: DeviceConnector,
  type: DeviceType,
  on: TrialParts,
): Promise<TriedType> {
  const { id, name } = type;
  const found = { deviceType: { id, name }, samples: [], errors: [], declaredKeys: [], score: 0 };
  try {
    const sent = await sentBy(refusal, { type, connector }, on);
    const decoded = await on.decode(trialUplink(refusal, type, sent), {});
    const validated = decoded.samples.map((sample) => on.validate(sample));
    const notes = [...decoded.notes, ...validated.flatMap((one) => one.notes)];
    return { ...found, ...scored(type, validated, notes) };
  } catch (error) {
    if (error instanceof Unusable) return { ...found, errors: [error.message] };
    throw error;
  }
}

function scored(type: DeviceType, validated: readonly Validated[], notes: readonly Note[]) {
  const samples = validated.map(({ sample }) => sample);
  const emitted = new Set<string>();
  const declared = new Set<string>();
  for (const { topic, data } of samples) {
    const known = declaredKeysOf(type, topic);
    for (const key of Object.keys(data)) {
      emitted.add(`${topic} ${key}`);
      if (known.has(key)) declared.add(`${topic} ${key}`);
    }
  }
  const share = emitted.size === 0 ? 0 : declared.size / emitted.size;
  // What reports nothing is no better for having no note.
  const score =
    samples.length === 0 ? 0 : 50 + Math.round(40 * share) + (notes.length === 0 ? 10 : 0);
  return {
    samples: samples.slice(0, shownMax).map(({ topic, timestamp, data }) => ({
      topic,
      timestamp: formatInstant(timestamp),
      data,
    })),
    errors: notes.slice(0, shownMax).map(({ message }) => message),
    declaredKeys: [...declared].map((one) => one.slice(one.indexOf(' ') + 1)),
    score,
  };
}

function declaredKeysOf({ schemas, calculatedKeys }: DeviceType, topic: string): Set<string> {
  const keys = calculatedKeys.filter((one) => one.topic === topic).map(({ key }) => key);
  const text = Object.hasOwn(schemas, topic) ? schemas[topic] : undefined;
  const { properties }: { properties?: unknown } = text === undefined ? {} : JSON.parse(text);
  return new Set([
    ...keys,
    ...(isJsonObject(properties as Json) ? Object.keys(properties as object) : []),
  ]);
}

interface SentUplink {
  readonly body: Payload['body'];
  readonly kept: Partial<ReturnType<typeof keptPayload>>;
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
}

/** What the device of the refusal sent: the payload, or its part of a webhook. Throws Unusable. */
async function sentBy(
  refusal: Refusal,
  declared: Declared,
  { serverOf }: TrialParts,
): Promise<SentUplink> {
  const payload = payloadOf(refusal, declared);
  const topic = refusal.sent?.topic || null;
  const timestamp = refusal.sent?.timestamp ?? null;
  if (refusal.transport !== 'LORAWAN')
    return { body: payload.body, kept: keptPayload(payload, refusal.bytes), topic, timestamp };
  const server = await serverOf(declared.connector);
  const body = webhookEvent(server, refusal, payload);
  return { body: body.body, kept: {}, topic, timestamp: body.time };
}

function webhookEvent(server: NetworkServer, { deviceId, sent }: Refusal, { body }: Payload) {
  if (!isJsonObject(body)) throw new Unusable('The webhook is no JSON object');
  for (const event of eventsOf(server, body, sent?.event))
    if (event.kind === 'uplink' && event.deviceEui.toLowerCase() === deviceId?.toLowerCase())
      return event;
  throw new Unusable('The webhook contains no payload of the device');
}

function eventsOf(server: NetworkServer, body: JsonObject, event: string | undefined) {
  try {
    return server.read(body, { event });
  } catch (error) {
    if (error instanceof Problem) throw new Unusable(error.message);
    throw error;
  }
}

/** The device does not exist yet; decoders see what it would be called. */
function trialUplink(
  { id, deviceId, organizationId, workspaceId, last, bytes }: Refusal,
  { uplinkScript }: DeviceType,
  { body, kept, topic, timestamp }: SentUplink,
): Uplink {
  const device: UplinkDevice = {
    id,
    deviceId: deviceId ?? '',
    name: deviceId ?? '',
    description: null,
    organizationId,
    workspaceId,
    dataFlowId: '',
    customFields: {},
    tags: [],
  };
  return {
    correlationId: id,
    device,
    script: uplinkScript === null ? null : { code: uplinkScript.code, tenant: organizationId },
    storedTopics: '*',
    keptDays: null,
    implausibleTimes: 'KEEP',
    receivedAt: last,
    body,
    bodyBytes: bytes,
    ...kept,
    topic,
    timestamp: timestamp ?? last,
  };
}

// Taking in: the first uplink of the registered device.

export interface TakeRefusedParts {
  /** Throws Problem 404 for an unknown device. */
  readonly byDevice: (id: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly capture: (input: Capture) => Promise<unknown>;
  readonly captureSenml: (input: Capture) => Promise<unknown>;
  readonly captureWebhook: (webhook: Webhook) => Promise<unknown>;
  readonly note: NoteDevice;
  readonly newId: () => string;
}

/**
 * Resolves when the payload is durable, at the time that it named or else arrived. The device exists
 * already: when the payload cannot be taken, its processing log says why.
 */
export async function takeRefused(
  refusal: Refusal,
  deviceId: string,
  on: TakeRefusedParts,
): Promise<void> {
  try {
    await take(refusal, await on.byDevice(deviceId), on);
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof Problem)) throw error;
    const message = `The rejected uplink of ${formatInstant(refusal.last)} did not become the first uplink of the device: ${error.message}`;
    await on.note(deviceId, [{ level: 'WARN', source: 'UPLINK', message }], on.newId());
  }
}

async function take(refusal: Refusal, route: UplinkRoute, on: TakeRefusedParts): Promise<void> {
  const payload = payloadOf(refusal, route);
  const { sent, bytes: bodyBytes, last, transport } = refusal;
  if (transport === 'LORAWAN') {
    const { body } = payload;
    if (!isJsonObject(body)) throw new Unusable('The webhook is no JSON object');
    const query = { event: sent?.event, topic: sent?.topic };
    await on.captureWebhook({
      connector: route.connector,
      body,
      bodyBytes,
      query,
      arrivedAt: last,
    });
    return;
  }
  const isPack = Array.isArray(payload.body) && isSenmlPack(hintsOf(refusal, route));
  const sendsPacks = transport === 'HTTP' || transport === 'COAP';
  await (isPack && sendsPacks ? on.captureSenml : on.capture)({
    route,
    topic: sent?.topic || null,
    timestamp: sent?.timestamp ?? last,
    payload,
    bodyBytes,
    idempotencyKey: undefined,
  });
}
