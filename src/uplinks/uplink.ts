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
import { passThrough, type UplinkDecoder } from './decode/decode-uplink.ts';
import type { DeviceStatus } from './followers/status-follower.ts';
import type { SampleStages } from './sample-stages.ts';
import type { Validated } from './validate/sample-validation.ts';
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

/** Samples of a large uplink that are checked in one turn. */
const samplesPerTurn = 200;

/** Takes uplinks of devices of this node. */
export class UplinkPipeline {
  readonly #stages: SampleStages;
  readonly #decoder: UplinkDecoder;
  readonly #status: DeviceStatus;
  readonly #intake: Intake;
  readonly #turns: WorkTurns;

  constructor(
    stages: SampleStages,
    decoder: UplinkDecoder,
    /** Has the state that the last run of each device emitted. */
    status: DeviceStatus,
    intake: Intake,
    /** Organizations take turns. */
    turns: WorkTurns,
  ) {
    this.#stages = stages;
    this.#decoder = decoder;
    this.#status = status;
    this.#intake = intake;
    this.#turns = turns;
  }

  /**
   * Takes an uplink through all stages; resolves when it is durable, rejects with a Problem when
   * nothing was done.
   */
  handle(uplink: Uplink): Promise<DurableEntry> {
    const { organizationId, id } = uplink.device;
    // Work without a script; scripts have turns of their own.
    const inTurn = () =>
      this.#turns.run<JournalEntry | Promise<JournalEntry>>(organizationId, () =>
        this.#entryOf(uplink),
      );
    return this.#intake.run(
      organizationId,
      id,
      uplink.inflatedBytes ?? uplink.bodyBytes,
      inTurn,
      (entry) => this.#store(entry, uplink.device),
    );
  }

  /** Most devices are known and many have no script: then no turn is waited for. */
  #entryOf(uplink: Uplink): JournalEntry | Promise<JournalEntry> {
    const { samples, notes = [], onlyNote, run } = uplink;
    if (uplink.script !== null && onlyNote === undefined) {
      if (run === undefined || !this.#status.isStateless(uplink.device.id))
        return this.#scriptedEntryOf(uplink);
      return this.#earlyEntryOf(uplink, run);
    }
    const times = { dataReceived: uplink.receivedAt, processingStart: this.#stages.now() };
    if (onlyNote !== undefined)
      return this.#decodedEntryOf(uplink, { samples: [], notes: [onlyNote] }, times);
    const decoded = samples === undefined ? passThrough(uplink) : { samples, notes };
    return this.#decodedEntryOf(uplink, decoded, times);
  }

  #earlyEntryOf(uplink: Uplink, run: EarlyRun): JournalEntry | Promise<JournalEntry> {
    const { startedAt, endedAt } = run;
    const times = {
      dataReceived: uplink.receivedAt,
      processingStart: startedAt,
      scriptRunUplinkStart: startedAt,
      scriptRunUplinkEnd: endedAt,
    };
    return this.#decodedEntryOf(uplink, this.#decoder.decodeEarly(uplink, run), times);
  }

  /** Only a script has a state, and asking for one may read the records. */
  async #scriptedEntryOf(uplink: Uplink): Promise<JournalEntry> {
    const { now } = this.#stages;
    const processingStart = now();
    const known = this.#status.stateOf(uplink.device.id);
    const state = known instanceof Promise ? await known : known;
    const scriptRunUplinkStart = now();
    const decoded = await this.#decoder.decode(uplink, state);
    const times = {
      dataReceived: uplink.receivedAt,
      processingStart,
      scriptRunUplinkStart,
      scriptRunUplinkEnd: now(),
    };
    return this.#decodedEntryOf(uplink, decoded, times);
  }

  #decodedEntryOf(
    uplink: Uplink,
    decoded: Decoded,
    times: StartTimes,
  ): JournalEntry | Promise<JournalEntry> {
    const { bodyBytes, inflatedBytes = bodyBytes } = uplink;
    if (inflatedBytes > largeWorkLimits.bytesMin) return this.#largeEntryOf(uplink, decoded, times);
    const { id } = uplink.device;
    const replacement = replacementOf(uplink);
    const validate = (sample: Sample) => this.#stages.validate(sample, replacement);
    const admitted = this.#stages.admit(id, decoded.samples.map(validate));
    const calculate = (samples: readonly Validated[]) => this.#stages.calculate(id, samples);
    const checked = admitted instanceof Promise ? admitted.then(calculate) : calculate(admitted);
    const finished = (samples: readonly Validated[]) =>
      this.#validatedEntryOf(uplink, decoded, samples, times);
    return checked instanceof Promise ? checked.then(finished) : finished(checked);
  }

  /** A stage takes milliseconds for a large uplink, so that each has turns of its own. */
  async #largeEntryOf(
    uplink: Uplink,
    { samples, ...decoded }: Decoded,
    times: StartTimes,
  ): Promise<JournalEntry> {
    const { id, organizationId } = uplink.device;
    const inTurn = <T>(work: () => T) => this.#turns.slice(organizationId, work);
    const replacement = replacementOf(uplink);
    const validate = (sample: Sample) => this.#stages.validate(sample, replacement);
    const checked: Validated[] = [];
    for (let from = 0; from < samples.length; from += samplesPerTurn) {
      const some = samples.slice(from, from + samplesPerTurn);
      for (const { data } of some) if (keysOfKnown(data)) await inTurns(cleanInSteps(data), inTurn);
      checked.push(...(await inTurn(() => some.map(validate))));
    }
    const admitted = await inTurn(() => this.#stages.admit(id, checked, inTurn));
    const validated = await inTurn(() => this.#stages.calculate(id, admitted));
    await inTurns(rememberJson(uplink.body), inTurn);
    for (const { sample } of validated)
      if (keysOfKnown(sample.data)) await inTurns(rememberJson(sample.data), inTurn);
    return inTurn(() => this.#validatedEntryOf(uplink, decoded, validated, times));
  }

  #validatedEntryOf(
    uplink: Uplink,
    { state, notes: ofScript }: { readonly notes: readonly Note[]; readonly state?: JsonObject },
    validated: readonly Validated[],
    times: StartTimes,
  ): JournalEntry {
    const { device } = uplink;
    const { newId, now } = this.#stages;
    if (state !== undefined) this.#status.setState(device, state);
    const metrics = withReported(metricsOf(uplink), validated);
    const samples = validated.map(({ sample }) => sampleEntryOf(sample, uplink));
    const notes = [...ofScript];
    for (const one of validated) notes.push(...one.notes);
    notes.push(...ageNotes(samples, uplink));
    const entry = {
      deviceId: device.id,
      receivedAt: uplink.receivedAt,
      samples,
      notes: notes.map((note) => logEntryOf(note, uplink, newId())),
      metrics,
      trace: traceOf(uplink, { ...times, processingEnd: now() }),
    };
    return state === undefined ? entry : { ...entry, state };
  }

  async #store(entry: JournalEntry, device: Uplink['device']): Promise<DurableEntry> {
    try {
      const startedAt = performance.now();
      const appended = this.#stages.append(entry);
      this.#turns.charge(device.organizationId, performance.now() - startedAt);
      const durable = await appended;
      this.#stages.announce(durable);
      return durable;
    } catch (error) {
      // What was never durable must not feed the next run.
      if (entry.state !== undefined) this.#status.setState(device, undefined);
      throw error;
    }
  }
}

/** The time of samples whose own cannot be right; undefined when they keep it. */
function replacementOf({ implausibleTimes, receivedAt }: Uplink): EpochMs | undefined {
  return implausibleTimes === 'RECEIPT' ? receivedAt : undefined;
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

function logEntryOf(note: Note, uplink: Uplink, id: string): ProcessingLogEntry {
  return {
    id,
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
