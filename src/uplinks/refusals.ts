// Refusals: what intakes refused, counted in memory for a second and then written for the owners (contract 39.3).
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { networkOf } from '../access/rate-limits.ts';
import { kindPrefixes } from '../model/ids.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { Problem } from '../model/problem.ts';
import {
  type Refusal,
  refusalLimits,
  type RefusalReason,
  refusalReasonOf,
  type RefusalTransport,
  type SentHints,
  type Uplink,
  type UplinkDevice,
} from '../model/uplink.ts';
import {
  connectorsOfDevices,
  placesOfConnectors,
  refusalRows,
} from '../storage/records/rows/payload-notes.ts';
import { type Records, transaction } from '../storage/records/records.ts';
import { SharedPool } from '../structures/shared-pool.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../model/connector.ts';
import type { DeviceType } from '../model/device-type.ts';
import type { Note } from '../model/entry-trace.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { declaredEncoding, keptPayload, type Payload, payloadBytesMax } from '../model/payload.ts';
import type { NetworkServer } from '../transports/network-servers/network-server.ts';
import { inflateBody, isSenmlPack, readPayload } from '../transports/payload-reader.ts';
import type { Capture } from './capture/capture.ts';
import type { ServerOf, Webhook } from './capture/network-server-capture.ts';
import type { NoteDevice } from './device-events.ts';
import type { ReplayStages } from './decoder-test.ts';
import type { Validated } from './validate/sample-validation.ts';

/** An uplink that was not taken. */
export interface RefusedUplink {
  readonly transport: RefusalTransport;
  readonly failure: Pick<Problem, 'status' | 'message'>;
  /** As the sender named it. */
  readonly deviceId: string | null | undefined;
  /** Of the payload. */
  readonly bytes: number;
  /** Its first bytes; absent without the right secret. */
  readonly payload?: Buffer | undefined;
  /** What was said of the payload. */
  readonly sent?: SentHints | undefined;
}

/**
 * Whose uplink it was. Without the right secret there is an address, and perhaps the connector that
 * was named; else the device may tell the connector.
 */
type RefusedBy =
  | { readonly connectorId: string; readonly address?: undefined }
  | { readonly connectorId?: string; readonly address: string };

/** What has come since the last writing. */
interface Pending extends Omit<Refusal, 'id' | 'organizationId' | 'workspaceId' | 'connectorId'> {
  /** Undefined while only the device is known. */
  readonly connectorId: string | undefined;
  /** Of a wrong secret: the network that it came from. */
  readonly guessedBy: string | undefined;
}

const writeAfterMs = 1_000;
/** Kinds of refusals that wait to be written, of all connectors and networks. */
const pendingMax = 1_000;
/** Names of senders without the right secret that one writing looks up, and so one second. */
const lookUpsMax = 20;

/** Costs no write while nothing is refused, and one transaction a second at most. */
export class Refusals {
  readonly #records: Records;
  readonly #now: () => EpochMs;
  readonly #setTimer: SetTimer;
  readonly #failed: (error: unknown) => void;
  readonly #pending = new Map<string, Pending>();
  /** A sender that invents devices takes the room of its own connector or network first. */
  readonly #room: SharedPool<string>;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    records: Records,
    now: () => EpochMs,
    setTimer: SetTimer,
    failed: (error: unknown) => void,
  ) {
    this.#records = records;
    this.#now = now;
    this.#setTimer = setTimer;
    this.#failed = failed;
    this.#room = new SharedPool({
      max: pendingMax,
      giveWay: (key) => void this.#pending.delete(key),
    });
  }

  /** Ignores what may succeed later. */
  add(by: RefusedBy, uplink: RefusedUplink): void {
    const reason = refusalReasonOf(uplink.failure.status);
    if (reason === undefined) return;
    const deviceId = nameOf(uplink.deviceId);
    const connectorId = by.connectorId?.slice(0, refusalLimits.deviceIdLengthMax);
    if (connectorId === undefined && deviceId === null) return;
    const key = JSON.stringify([connectorId, reason, deviceId]);
    const at = this.#now();
    const before = this.#pending.get(key);
    const network = by.address === undefined ? undefined : networkOf(by.address);
    this.#pending.set(key, {
      connectorId,
      guessedBy: network,
      reason,
      deviceId,
      transport: uplink.transport,
      status: uplink.failure.status,
      message: textOf(uplink.failure.message, refusalLimits.messageLengthMax),
      first: before?.first ?? at,
      last: at,
      count: (before?.count ?? 0) + 1,
      bytes: uplink.bytes,
      ...payloadOf(reason === 'WRONG_SECRET' ? undefined : uplink),
    });
    if (!this.#room.hold(network ?? by.connectorId ?? '', key, 1)) this.#pending.delete(key);
    this.#cancelTimer ??= this.#setTimer(() => this.#write(), writeAfterMs);
  }

  /** Writes what is pending. Resolves when it is durable, or has failed. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    this.#write();
    await this.#writing;
    this.#cancelTimer?.();
  }

  async dropOld(): Promise<void> {
    const records = this.#records;
    const now = this.#now;
    await refusalRows.dropOld(records.db, now() - refusalLimits.ageMsMax);
  }

  /** One after the other, so that a slow database does not gather writes. */
  #write(): void {
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(async () => {
      const due = dueOf(this.#pending);
      const pending = [...due.values()];
      for (const key of due.keys()) {
        this.#room.release(key);
        this.#pending.delete(key);
      }
      if (this.#pending.size > 0)
        this.#cancelTimer ??= this.#setTimer(() => this.#write(), writeAfterMs);
      try {
        await this.#store(pending);
      } catch (error) {
        // They are counts for people; what is refused next is told again.
        this.#failed(error);
      }
    });
  }

  async #store(pending: readonly Pending[]): Promise<void> {
    if (pending.length === 0) return;
    const records = this.#records;
    const strangers = pending.filter(({ connectorId }) => connectorId === undefined);
    const named = strangers.map(({ deviceId }) => deviceId ?? '');
    const connectors = await connectorsOfDevices(records.committed, named);
    const found = sumsOf(
      pending.flatMap((one) => {
        const connectorId = one.connectorId ?? connectors.get(one.deviceId ?? '');
        return connectorId === undefined ? [] : [{ ...one, connectorId }];
      }),
    );
    if (found.length === 0) return;
    await transaction(
      records.db,
      async ({ db }) => {
        const ids = [...new Set(found.map(({ connectorId }) => connectorId))];
        const places = await placesOfConnectors(db, ids);
        const rows = found.flatMap(({ guessedBy: _, ...one }) => {
          const place = places.get(one.connectorId);
          return place === undefined ? [] : [{ ...one, ...place, id: idOf(one) }];
        });
        await refusalRows.add(db, rows);
      },
      'lazy',
    );
  }
}

/**
 * What is written now: all that came with the right secret, and of the others as many as may be looked
 * up, one of each network after the other, so that a flood of one delays no other.
 */
function dueOf(pending: ReadonlyMap<string, Pending>): ReadonlyMap<string, Pending> {
  const due = new Map<string, Pending>();
  const guesses = new Map<string, [string, Pending][]>();
  for (const [key, one] of pending) {
    if (one.guessedBy === undefined) due.set(key, one);
    else if (guesses.has(one.guessedBy)) guesses.get(one.guessedBy)?.push([key, one]);
    else guesses.set(one.guessedBy, [[key, one]]);
  }
  for (let looked = 0, turn = 0; looked < lookUpsMax && guesses.size > 0; turn++)
    for (const [network, own] of guesses) {
      const next = own[turn];
      if (next === undefined) guesses.delete(network);
      else if (looked++ < lookUpsMax) due.set(...next);
    }
  return due;
}

interface Found extends Pending {
  readonly connectorId: string;
}

/** A wrong secret can be told by its device and by its connector; a statement adds to a row once. */
function sumsOf(found: readonly Found[]): readonly Found[] {
  const sums = new Map<string, Found>();
  for (const one of found) {
    const id = idOf(one);
    const before = sums.get(id);
    if (before === undefined) sums.set(id, one);
    else sums.set(id, { ...one, first: before.first, count: before.count + one.count });
  }
  return [...sums.values()];
}

/** The same for the same connector, reason and device, on every node. */
function idOf({
  connectorId,
  reason,
  deviceId,
}: {
  readonly connectorId: string;
  readonly reason: RefusalReason;
  readonly deviceId: string | null;
}): string {
  const text = JSON.stringify([connectorId, reason, deviceId]);
  return kindPrefixes.refusal + hash('sha256', text, 'hex').slice(0, 14);
}

/** Cut before it becomes a key, and without what no engine keeps in a column. */
function nameOf(deviceId: string | null | undefined): string | null {
  return deviceId ? textOf(deviceId, refusalLimits.deviceIdLengthMax) : null;
}

function textOf(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\ufffd');
}

function payloadOf(
  uplink: RefusedUplink | undefined,
): Pick<Refusal, 'payload' | 'payloadForm' | 'sent'> {
  if (uplink?.payload === undefined) return { payload: null, payloadForm: null, sent: null };
  const sent = hintsOf(uplink.sent);
  const start = uplink.payload.subarray(0, refusalLimits.payloadBytesMax);
  const text = wholeText(start);
  if (isUtf8(text) && !text.includes(0))
    return { payload: text.toString('utf8'), payloadForm: 'TEXT', sent };
  return { payload: start.toString('hex'), payloadForm: 'HEX', sent };
}

function hintsOf({ timestamp = null, ...texts }: SentHints = {}): SentHints {
  const cut = Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string' && text !== ''
      ? [[name, textOf(text, refusalLimits.hintLengthMax)]]
      : [],
  );
  return { ...Object.fromEntries(cut), timestamp };
}

/** Without the character that the cut divided, if it is text. */
function wholeText(start: Buffer): Buffer {
  if (start.length < refusalLimits.payloadBytesMax) return start;
  for (let cut = 0; cut < 4; cut++) {
    const text = start.subarray(0, start.length - cut);
    if (isUtf8(text)) return text;
  }
  return start;
}

// Refused payloads: read again, tried with decoders, and taken in when their device is registered (contract 39.3).

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

function declaredHints({ sent, transport }: Refusal, declared: Declared) {
  // Webhooks are JSON, whatever the payloads of their devices are.
  const encoding = transport === 'LORAWAN' ? ('JSON' as const) : declaredEncoding(declared);
  return { encoding, contentType: sent?.contentType, port: sent?.port };
}

/** Throws Unusable. */
function readRefused(refusal: Refusal, declared: Declared): Payload {
  if (refusal.transport === 'LINE_PROTOCOL')
    throw new Unusable('Points in line protocol are taken when they are sent again');
  try {
    return readPayload(bytesOf(refusal), declaredHints(refusal, declared));
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

/** No decoder begins later. */
const trialMsMax = 5_000;
/** Samples and notes of one decoder that are shown. */
const shownMax = 20;

/** Tries decoders on what was refused. */
export class RefusalTrials {
  readonly #serverOf: ServerOf;
  readonly #decoding: ReplayStages;
  readonly #clock: () => number;

  constructor(
    serverOf: ServerOf,
    decoding: ReplayStages,
    /** Milliseconds that only move on. */
    clock: () => number,
  ) {
    this.#serverOf = serverOf;
    this.#decoding = decoding;
    this.#clock = clock;
  }

  /** Tries the types one after the other; nothing is stored. */
  async tryTypes(
    refusal: Refusal,
    connector: DeviceConnector,
    types: readonly DeviceType[],
  ): Promise<{
    readonly unreadable: string | null;
    readonly types: readonly TriedType[];
    readonly complete: boolean;
  }> {
    const until = this.#clock() + trialMsMax;
    const tried: TriedType[] = [];
    let complete = true;
    for (const type of types) {
      complete = this.#clock() <= until;
      if (!complete) break;
      tried.push(await this.#tryType(refusal, connector, type));
    }
    return {
      unreadable: await this.#unusableReason(refusal, connector),
      types: tried.toSorted((one, other) => other.score - one.score),
      complete,
    };
  }

  async #unusableReason(refusal: Refusal, connector: DeviceConnector): Promise<string | null> {
    try {
      await this.#sentBy(refusal, { type: null, connector });
      return null;
    } catch (error) {
      if (error instanceof Unusable) return error.message;
      throw error;
    }
  }

  async #tryType(
    refusal: Refusal,
    connector: DeviceConnector,
    type: DeviceType,
  ): Promise<TriedType> {
    const { id, name } = type;
    const found = { deviceType: { id, name }, samples: [], errors: [], declaredKeys: [], score: 0 };
    try {
      const sent = await this.#sentBy(refusal, { type, connector });
      const decoded = await this.#decoding.decode(trialUplink(refusal, type, sent), {});
      const validated = decoded.samples.map((sample) => this.#decoding.validate(sample));
      const notes = [...decoded.notes, ...validated.flatMap((one) => one.notes)];
      return { ...found, ...scored(type, validated, notes) };
    } catch (error) {
      if (error instanceof Unusable) return { ...found, errors: [error.message] };
      throw error;
    }
  }

  /** What the device of the refusal sent: the payload, or its part of a webhook. Throws Unusable. */
  async #sentBy(refusal: Refusal, declared: Declared): Promise<SentUplink> {
    const payload = readRefused(refusal, declared);
    const topic = refusal.sent?.topic || null;
    const timestamp = refusal.sent?.timestamp ?? null;
    if (refusal.transport !== 'LORAWAN')
      return { body: payload.body, kept: keptPayload(payload, refusal.bytes), topic, timestamp };
    const server = await this.#serverOf(declared.connector);
    const body = webhookEvent(server, refusal, payload);
    return { body: body.body, kept: {}, topic, timestamp: body.time };
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
  const payload = readRefused(refusal, route);
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
  const isPack = Array.isArray(payload.body) && isSenmlPack(declaredHints(refusal, route));
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
