// Decoder test: runs a decoder on raw uplinks of devices, in order and with state. Nothing is stored.
import type { PayloadEncoding } from '../model/device-type.ts';
import type { Note, NoteLevel } from '../model/entry-trace.ts';
import { formatInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { keptPayload, payloadHexOf } from '../model/payload.ts';
import { Problem, problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import type { RawUplink, Uplink, UplinkDevice } from '../model/uplink.ts';
import type { RawUplinkPage, RawUplinkRange } from '../storage/raw-uplinks/raw-uplink-store.ts';
import { readPayload } from '../transports/payload-reader.ts';
import {
  intervalOf,
  type RawUplinkView,
  rawUplinkView,
  type UplinkInterval,
} from './raw-uplink-list.ts';
import type { Decoded } from './uplink.ts';
import type { Validated } from './validate/sample-validation.ts';

export const replayLimits = {
  devicesMax: 50,
  uplinksMax: 1_000,
  uplinksDefault: 100,
  /** No run begins later; what is left is said. */
  durationMsMax: 10_000,
  /** How many uplinks before the first are looked at for the state that it began with. */
  stateLookBack: 50,
} as const;

export interface ReplayRequest extends UplinkInterval {
  /** Null for a type without a decoder: the payload is the data. */
  readonly code: string | null;
  /** How the payloads are read again; null for as they were read. */
  readonly encoding: PayloadEncoding | null;
  /** Devices whose uplinks are replayed. */
  readonly deviceIds: readonly string[];
  /** Limit on the newest ones of all devices together. */
  readonly limit: number;
}

export interface ReplayStages {
  readonly list: (range: RawUplinkRange) => Promise<RawUplinkPage>;
  /** Throws Problem 404. */
  readonly deviceOf: (deviceId: string) => Promise<UplinkDevice>;
  readonly decode: (uplink: Uplink, state: JsonObject) => Promise<Decoded>;
  readonly validate: (sample: Sample) => Validated;
  readonly now: () => number;
}

interface SampleView {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: JsonObject;
  readonly meta: JsonObject | null;
}

interface ReplayedUplink extends RawUplinkView {
  readonly verdict: RuleEvaluation;
  /** As they were stored; null when they were too large to be kept with their uplink. */
  readonly oldSamples: readonly SampleView[] | null;
  readonly newSamples: readonly SampleView[];
  readonly notes: readonly { readonly level: NoteLevel; readonly message: string }[];
}

export interface ReplayReport {
  readonly dryRun: true;
  readonly summary: {
    readonly devices: number;
    readonly uplinks: number;
    readonly same: number;
    readonly different: number;
    readonly errors: number;
    readonly unknown: number;
    /** False when the time was over before the last uplink. */
    readonly complete: boolean;
    readonly durationMs: number;
  };
  /** By device, each oldest first. */
  readonly uplinks: readonly ReplayedUplink[];
}

/**
 * Throws Problem 400 for an invalid time and for too many devices, 404 for an unknown device.
 */
export async function replayUplinks(
  request: ReplayRequest,
  on: ReplayStages,
): Promise<ReplayReport> {
  if (request.deviceIds.length > replayLimits.devicesMax) {
    throw problem('invalidRequest', {
      reason: `A replay can include at most ${replayLimits.devicesMax} devices`,
    });
  }
  const startedAt = on.now();
  const isTimeUp = (): boolean => on.now() - startedAt > replayLimits.durationMsMax;
  const wanted = await newestUplinks(request, on);
  const replayed: ReplayedUplink[] = [];
  for (const [deviceId, uplinks] of wanted) {
    const device = await on.deviceOf(deviceId);
    replayed.push(...(await replayDevice(device, uplinks, request, isTimeUp, on)));
  }
  const count = (verdict: RuleEvaluation): number =>
    replayed.filter((one) => one.verdict === verdict).length;
  const [same, different, errors, unknown] = verdicts.map(count) as [
    number,
    number,
    number,
    number,
  ];
  const asked = [...wanted.values()].reduce((sum, uplinks) => sum + uplinks.length, 0);
  const summary = {
    devices: wanted.size,
    uplinks: replayed.length,
    same,
    different,
    errors,
    unknown,
    complete: replayed.length === asked,
    durationMs: on.now() - startedAt,
  };
  return { dryRun: true, summary, uplinks: replayed };
}

/** The newest uplinks of all devices together, by device, each oldest first. */
async function newestUplinks(
  { deviceIds, limit, from, to }: ReplayRequest,
  on: ReplayStages,
): Promise<Map<string, RawUplink[]>> {
  const range = { ...intervalOf({ from, to }), skip: 0, limit };
  const all: RawUplink[] = [];
  for (const deviceId of new Set(deviceIds))
    all.push(...(await on.list({ ...range, deviceId })).uplinks);
  const newest = all.toSorted((one, other) => other.position - one.position).slice(0, limit);
  return Map.groupBy(newest.reverse(), ({ deviceId }) => deviceId);
}

async function replayDevice(
  device: UplinkDevice,
  /** Oldest first. */
  uplinks: readonly RawUplink[],
  { code, encoding }: ReplayRequest,
  isTimeUp: () => boolean,
  on: ReplayStages,
): Promise<ReplayedUplink[]> {
  const replayed: ReplayedUplink[] = [];
  const [first] = uplinks;
  if (first === undefined) return replayed;
  let state = await stateBefore(first, on);
  for (const raw of uplinks) {
    if (isTimeUp()) break;
    const again = await decodeAgain(raw, device, { code, encoding, state }, on);
    const { uplink, samples, notes, failed } = again;
    state = again.state;
    replayed.push({
      ...rawUplinkView(uplink),
      verdict: verdictOf({ old: raw.samples, duplicates: raw.duplicates, new: samples, failed }),
      oldSamples: raw.samples?.map(sampleView) ?? null,
      newSamples: samples.map(sampleView),
      notes: notes.map(({ level, message }) => ({ level, message })),
    });
  }
  return replayed;
}

interface DecodedAgain {
  /** As its payload was read now. */
  readonly uplink: RawUplink;
  readonly samples: readonly Sample[];
  readonly notes: readonly Note[];
  /** What the next run begins with. */
  readonly state: JsonObject;
  /** Whether the run ended with an error. */
  readonly failed: boolean;
}

/** Decodes a raw uplink as when it was received. */
export async function decodeAgain(
  raw: RawUplink,
  device: UplinkDevice,
  decoder: {
    readonly code: string | null;
    readonly encoding: PayloadEncoding | null;
    readonly state: JsonObject;
  },
  { decode, validate }: Pick<ReplayStages, 'decode' | 'validate'>,
): Promise<DecodedAgain> {
  const read = readAgain(raw, decoder.encoding);
  const decoded: Decoded = read.refusal
    ? { samples: [], notes: [read.refusal] }
    : await decode(uplinkOf(read.uplink, device, decoder.code), decoder.state);
  const validated = decoded.samples.map((sample) => validate(sample));
  const notes = [...decoded.notes, ...validated.flatMap((one) => one.notes)];
  return {
    uplink: read.uplink,
    samples: validated.map(({ sample }) => sample),
    notes,
    state: decoded.state ?? decoder.state,
    failed: notes.some(({ level }) => level === 'ERROR'),
  };
}

function readAgain(
  uplink: RawUplink,
  encoding: PayloadEncoding | null,
): {
  readonly uplink: RawUplink;
  /** Present when its bytes cannot be read in the encoding. */
  readonly refusal?: Note;
} {
  const payloadHex = payloadHexOf(uplink.payload);
  if (encoding === null || payloadHex === null) return { uplink };
  const { encoding: _, payloadHex: __, body, ...rest } = uplink.payload;
  const port = isJsonObject(body) && typeof body['port'] === 'number' ? String(body['port']) : '';
  try {
    const read = readPayload(Buffer.from(payloadHex, 'hex'), { encoding, port });
    const { inflatedBytes: ___, ...payload } = keptPayload(read, rest.bodyBytes);
    return { uplink: { ...uplink, payload: { ...rest, ...payload } } };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { uplink, refusal: { level: 'ERROR', source: 'UPLINK', message: error.message } };
  }
}

/** The state that the run of this uplink began with, as far as uplinks before it tell. */
export async function stateBefore(
  first: RawUplink,
  on: { readonly list: (range: RawUplinkRange) => Promise<RawUplinkPage> },
): Promise<JsonObject> {
  const range = {
    deviceId: first.deviceId,
    to: first.receivedAt + 1,
    skip: 0,
    limit: replayLimits.stateLookBack,
  };
  const { uplinks } = await on.list(range);
  return (
    uplinks.find(({ position, state }) => position < first.position && state !== undefined)
      ?.state ?? {}
  );
}

function uplinkOf(raw: RawUplink, device: UplinkDevice, code: string | null): Uplink {
  return {
    correlationId: raw.id,
    device,
    script: code === null ? null : { code, tenant: device.organizationId },
    storedTopics: '*',
    keptDays: null,
    implausibleTimes: 'KEEP',
    receivedAt: raw.receivedAt,
    ...raw.payload,
  };
}

function sampleView({ topic, timestamp, data, meta }: Sample): SampleView {
  return {
    topic,
    timestamp: formatInstant(timestamp),
    data,
    meta: isJsonObject(meta) ? meta : null,
  };
}

// Decoder test result: whether a replayed uplink gave the same samples as when it was received.

/** `UNKNOWN` when the old samples were too large to be kept beside their uplink. */
const verdicts = ['SAME', 'DIFFERENT', 'ERROR', 'UNKNOWN'] as const;
type RuleEvaluation = (typeof verdicts)[number];

/** The order of samples does not count. */
function verdictOf({
  old,
  duplicates,
  new: now,
  failed,
}: {
  readonly old: readonly Sample[] | null;
  /** Old samples that are not among `old`, because identical ones were stored before. */
  readonly duplicates: number;
  readonly new: readonly Sample[];
  /** Whether the new run ended with an error. */
  readonly failed: boolean;
}): RuleEvaluation {
  if (failed) return 'ERROR';
  if (old === null) return 'UNKNOWN';
  const rest = [...now];
  for (const sample of old) {
    const at = rest.findIndex((other) => isSame(sample, other));
    if (at === -1) return 'DIFFERENT';
    rest.splice(at, 1);
  }
  if (rest.length !== duplicates) return 'DIFFERENT';
  return 'SAME';
}

function isSame(one: Sample, other: Sample): boolean {
  return (
    one.topic === other.topic &&
    one.timestamp === other.timestamp &&
    sameJson(one.data, other.data) &&
    sameJson(one.meta ?? {}, other.meta ?? {})
  );
}

/** Equal as JSON: the order of keys does not count, and -0 is 0. */
function sameJson(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, otherKeys] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === otherKeys.length &&
    keys.every(
      (key) => Object.hasOwn(other, key) && sameJson(one[key as never], other[key as never]),
    )
  );
}
