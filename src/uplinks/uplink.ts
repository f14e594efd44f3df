// Uplink journey: the payload of a device becomes durable samples, notes and state, then it is announced.
import type {
  EntryTrace,
  Note,
  ProcessingLogEntry,
  ProcessingTimes,
  RawPayload,
} from '../model/entry-trace.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { keysOfKnown, rememberJson } from '../model/json-keys.ts';
import { isTooOld, notStoredReason } from '../model/kept-samples.ts';
import { problems } from '../model/problem-table.ts';
import type { Sample } from '../model/sample.ts';
import type { UplinkMetrics } from '../model/uplink-metrics.ts';
import type { EarlyRun, Uplink } from '../model/uplink.ts';
import type { Intake } from '../transports/intake.ts';
import { largeWorkLimits } from '../transports/large-work.ts';
import { inTurns } from '../structures/turns.ts';
import type { WorkTurns } from '../transports/work-turns.ts';
import { cleanInSteps } from './validate/data-cleaning.ts';

/** What a decoder made of an uplink. */
export interface Decoded {
  readonly samples: readonly Sample[];
  readonly notes: readonly Note[];
  /** Present when the script emitted a new state. */
  readonly state?: JsonObject;
}

/**
 * A sample after validation: corrected, with notes on what was corrected and the metrics it
 * reports.
 */
export interface Validated {
  readonly sample: Sample;
  readonly notes: readonly Note[];
  readonly metrics: Partial<Pick<UplinkMetrics, 'sqi' | 'batteryLevel' | 'latitude' | 'longitude'>>;
}

/** Samples of a large uplink that are checked in one turn. */
const samplesPerTurn = 200;

export interface UplinkStages {
  readonly intake: Intake;
  /** Organizations take turns; absent where none is shared. */
  readonly turns?: WorkTurns | undefined;
  /** The state that the device's last run emitted; `{}` at first. */
  readonly stateOf: (deviceId: string) => JsonObject | Promise<JsonObject>;
  /**
   * The next run of the device sees this state, even before it is durable; undefined goes back to
   * the durable one.
   */
  readonly setState: (device: Uplink['device'], state: JsonObject | undefined) => void;
  readonly decode: (uplink: Uplink, state: JsonObject) => Promise<Decoded>;
  /** Whether it is known that the device's last run left no state. */
  readonly isStateless: (deviceId: string) => boolean;
  /** What an early run of the script emitted. */
  readonly decodeEarly: (uplink: Uplink, run: EarlyRun) => Decoded;
  /** Decodes an uplink without a script. */
  readonly passThrough: (uplink: Uplink) => Decoded;
  /** A sample whose time cannot be right is dated at the time of receipt, if there is one. */
  readonly validate: (sample: Sample, receivedAt?: EpochMs) => Validated;
  /** Cuts down what is new beyond the limits of the device. */
  readonly admit: (
    deviceId: string,
    samples: readonly Validated[],
    inTurn?: <T>(work: () => T) => T | Promise<Awaited<T>>,
  ) => readonly Validated[] | Promise<readonly Validated[]>;
  /** Adds the calculated keys of the device type. */
  readonly calculate: (
    deviceId: string,
    samples: readonly Validated[],
  ) => readonly Validated[] | Promise<readonly Validated[]>;
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly announce: (entry: DurableEntry) => void;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * Takes an uplink through all stages; resolves when it is durable, rejects with a Problem when
 * nothing was done.
 */
export function handleUplink(uplink: Uplink, on: UplinkStages): Promise<DurableEntry> {
  return on.intake.run(
    uplink.device.organizationId,
    uplink.device.id,
    uplink.inflatedBytes ?? uplink.bodyBytes,
    () => inTurn(uplink, on),
    (entry) => storeEntry(entry, uplink.device, on),
  );
}

/** Work without a script; scripts have turns of their own. */
function inTurn(uplink: Uplink, on: UplinkStages): JournalEntry | Promise<JournalEntry> {
  if (on.turns === undefined) return entryOf(uplink, on);
  return on.turns.run<JournalEntry | Promise<JournalEntry>>(uplink.device.organizationId, () =>
    entryOf(uplink, on),
  );
}

/** Most devices are known and many have no script: then no turn is waited for. */
function entryOf(uplink: Uplink, on: UplinkStages): JournalEntry | Promise<JournalEntry> {
  const { samples, notes = [], onlyNote, run } = uplink;
  if (uplink.script !== null && onlyNote === undefined) {
    if (run === undefined || !on.isStateless(uplink.device.id)) return scriptedEntryOf(uplink, on);
    return earlyEntryOf(uplink, run, on);
  }
  const times = { dataReceived: uplink.receivedAt, processingStart: on.now() };
  if (onlyNote !== undefined)
    return decodedEntryOf(uplink, { samples: [], notes: [onlyNote] }, times, on);
  const decoded = samples === undefined ? on.passThrough(uplink) : { samples, notes };
  return decodedEntryOf(uplink, decoded, times, on);
}

function earlyEntryOf(
  uplink: Uplink,
  run: EarlyRun,
  on: UplinkStages,
): JournalEntry | Promise<JournalEntry> {
  const { startedAt, endedAt } = run;
  const times = {
    dataReceived: uplink.receivedAt,
    processingStart: startedAt,
    scriptRunUplinkStart: startedAt,
    scriptRunUplinkEnd: endedAt,
  };
  return decodedEntryOf(uplink, on.decodeEarly(uplink, run), times, on);
}

/** Only a script has a state, and asking for one may read the records. */
async function scriptedEntryOf(uplink: Uplink, on: UplinkStages): Promise<JournalEntry> {
  const processingStart = on.now();
  const known = on.stateOf(uplink.device.id);
  const state = known instanceof Promise ? await known : known;
  const scriptRunUplinkStart = on.now();
  const decoded = await on.decode(uplink, state);
  const times = {
    dataReceived: uplink.receivedAt,
    processingStart,
    scriptRunUplinkStart,
    scriptRunUplinkEnd: on.now(),
  };
  return decodedEntryOf(uplink, decoded, times, on);
}

function decodedEntryOf(
  uplink: Uplink,
  decoded: Decoded,
  times: StartTimes,
  on: UplinkStages,
): JournalEntry | Promise<JournalEntry> {
  const { bodyBytes, inflatedBytes = bodyBytes } = uplink;
  if (inflatedBytes > largeWorkLimits.bytesMin && on.turns !== undefined)
    return largeEntryOf(uplink, decoded, times, on, on.turns);
  const { id } = uplink.device;
  const validate = (sample: Sample) => on.validate(sample, replacementOf(uplink));
  const admitted = on.admit(id, decoded.samples.map(validate));
  const calculate = (samples: readonly Validated[]) => on.calculate(id, samples);
  const checked = admitted instanceof Promise ? admitted.then(calculate) : calculate(admitted);
  const finished = (samples: readonly Validated[]) =>
    validatedEntryOf(uplink, decoded, samples, times, on);
  return checked instanceof Promise ? checked.then(finished) : finished(checked);
}

/** The time of samples whose own cannot be right; undefined when they keep it. */
function replacementOf({ implausibleTimes, receivedAt }: Uplink): EpochMs | undefined {
  return implausibleTimes === 'RECEIPT' ? receivedAt : undefined;
}

/** A stage takes milliseconds for a large uplink, so that each has turns of its own. */
async function largeEntryOf(
  uplink: Uplink,
  { samples, ...decoded }: Decoded,
  times: StartTimes,
  on: UplinkStages,
  turns: WorkTurns,
): Promise<JournalEntry> {
  const { id, organizationId } = uplink.device;
  const inTurn = <T>(work: () => T) => turns.slice(organizationId, work);
  const checked: Validated[] = [];
  for (let from = 0; from < samples.length; from += samplesPerTurn) {
    const some = samples.slice(from, from + samplesPerTurn);
    for (const { data } of some) if (keysOfKnown(data)) await inTurns(cleanInSteps(data), inTurn);
    checked.push(
      ...(await inTurn(() => some.map((one) => on.validate(one, replacementOf(uplink))))),
    );
  }
  const admitted = await inTurn(() => on.admit(id, checked, inTurn));
  const validated = await inTurn(() => on.calculate(id, admitted));
  await inTurns(rememberJson(uplink.body), inTurn);
  for (const { sample } of validated)
    if (keysOfKnown(sample.data)) await inTurns(rememberJson(sample.data), inTurn);
  return inTurn(() => validatedEntryOf(uplink, decoded, validated, times, on));
}

function validatedEntryOf(
  uplink: Uplink,
  { state, notes: ofScript }: Omit<Decoded, 'samples'>,
  validated: readonly Validated[],
  times: StartTimes,
  on: UplinkStages,
): JournalEntry {
  const { device } = uplink;
  if (state !== undefined) on.setState(device, state);
  const metrics = withReported(metricsOf(uplink), validated);
  const samples = validated.map(({ sample }) => sampleEntryOf(sample, uplink));
  const notes = [...ofScript];
  for (const one of validated) notes.push(...one.notes);
  notes.push(...ageNotes(samples, uplink));
  const entry = {
    deviceId: device.id,
    receivedAt: uplink.receivedAt,
    samples,
    notes: notes.map((note) => logEntryOf(note, uplink, on)),
    metrics,
    trace: traceOf(uplink, { ...times, processingEnd: on.now() }),
  };
  return state === undefined ? entry : { ...entry, state };
}

/** Positions that samples report win over that of the network, whose radius is then not theirs. */
function withReported(metrics: UplinkMetrics, validated: readonly Validated[]): UplinkMetrics {
  for (const one of validated) Object.assign(metrics, one.metrics);
  if (metrics.locationRadius === undefined) return metrics;
  if (validated.every((one) => one.metrics.latitude === undefined)) return metrics;
  const { locationRadius: _, ...others } = metrics;
  return others;
}

type StartTimes = Omit<ProcessingTimes, 'processingEnd'>;

function traceOf(uplink: Uplink, times: ProcessingTimes): EntryTrace {
  const { duplicateKey, rulesSkipped, onlyNote, encoding } = uplink;
  const isKept = onlyNote === undefined || encoding !== undefined;
  const kept = isKept ? { raw: rawOf(uplink), times } : { times };
  if (rulesSkipped === undefined && duplicateKey === undefined) return kept;
  return {
    ...(duplicateKey !== undefined && { duplicateKey }),
    ...kept,
    ...(rulesSkipped && { rulesSkipped }),
  };
}

function rawOf(uplink: Uplink): RawPayload {
  const { topic, timestamp, body, bodyBytes, metrics, encoding, payloadHex } = uplink;
  const payload = { topic, timestamp, body, bodyBytes };
  const raw = metrics === undefined ? payload : { ...payload, metrics };
  if (encoding === undefined) return raw;
  return payloadHex === undefined ? { ...raw, encoding } : { ...raw, encoding, payloadHex };
}

async function storeEntry(
  entry: JournalEntry,
  device: Uplink['device'],
  on: UplinkStages,
): Promise<DurableEntry> {
  try {
    const startedAt = performance.now();
    const appended = on.append(entry);
    on.turns?.charge(device.organizationId, performance.now() - startedAt);
    const durable = await appended;
    on.announce(durable);
    return durable;
  } catch (error) {
    // What was never durable must not feed the next run.
    if (entry.state !== undefined) on.setState(device, undefined);
    throw error;
  }
}

function sampleEntryOf(sample: Sample, uplink: Uplink): JournalEntry['samples'][number] {
  const { device, correlationId } = uplink;
  return {
    ...sample,
    organizationId: device.organizationId,
    workspaceId: device.workspaceId,
    dataFlowId: device.dataFlowId,
    correlationId,
    stored: notStoredReason(sample, uplink, uplink.receivedAt) === undefined,
  };
}

const noNotes: readonly Note[] = Object.freeze([]);

/** What retention would remove at once is told instead. */
function ageNotes(
  samples: JournalEntry['samples'],
  { keptDays, receivedAt }: Uplink,
): readonly Note[] {
  const isOld = ({ timestamp }: Sample) => isTooOld(timestamp, keptDays, receivedAt);
  if (keptDays === null || !samples.some(isOld)) return noNotes;
  const old = samples.filter(isOld);
  const [first] = old.map(({ timestamp }) => timestamp).sort((one, other) => one - other);
  if (first === undefined) return [];
  const message = `${old.length} of ${samples.length} samples are older than the retention of ${keptDays} days and not stored; the oldest is dated ${formatInstant(first)}`;
  return [
    {
      level: 'WARN',
      source: 'UPLINK',
      message,
      details: { errorCode: problems.olderThanRetention.code },
    },
  ];
}

function logEntryOf(note: Note, uplink: Uplink, on: UplinkStages): ProcessingLogEntry {
  return {
    id: on.newId(),
    deviceId: uplink.device.id,
    timestamp: uplink.receivedAt,
    correlationId: uplink.correlationId,
    ...note,
  };
}

/** What the transport tells; samples may add to it. */
function metricsOf({
  body,
  correlationId,
  device,
  bodyBytes,
  receivedAt,
  metrics,
}: Uplink): UplinkMetrics {
  const port = portOf(body);
  const own = {
    uplinkId: correlationId,
    deviceId: device.id,
    uplinkSize: bodyBytes,
    timestamp: receivedAt,
  };
  if (metrics === undefined) return port === undefined ? own : { ...own, port };
  return { ...own, ...(port !== undefined && { port }), ...metrics };
}

/** The LoRaWAN port, when the body has one. */
function portOf(body: Uplink['body']): number | undefined {
  if (!isJsonObject(body)) return undefined;
  const { port } = body;
  return typeof port === 'number' && Number.isInteger(port) ? port : undefined;
}
