// The backfill journey: samples that a client hands in for a device are read, validated, appended in batches, and announced.
import { createHash } from 'node:crypto';
import {
  type BackfillSample,
  isRefusal,
  readBackfillSample,
  type SampleRefusal,
} from '../ingest/http/backfill-sample.ts';
import { BrokenJsonArray } from '../ingest/http/json-array.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { Problem, problem } from '../model/problem.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { Sample } from '../model/sample.ts';
import type { DeviceNames } from '../validate/device-names.ts';
import type { ValidatedSample } from '../validate/sample-validation.ts';
import { storedTopicsOf } from './capture.ts';
import type { Attempt } from './idempotency.ts';

export const backfillLimits = {
  /** Samples of one request. */
  samplesMax: 100_000,
  /** Batches of one request on their way to the disk: one is synced while the next is read. */
  batchesUnderWayMax: 2,
  /** Entries of one request in the processing log, which keeps no more of a device. */
  notesMax: 1_000,
  /** Requests under way; more are told to come again. */
  requestsMax: 100,
} as const;

export interface Backfill {
  /** Service device id. */
  readonly deviceId: string;
  /** Elements in the order sent, in groups that become one journal entry each. */
  readonly groups: AsyncIterable<readonly Json[]> | Iterable<readonly Json[]>;
  /** The timestamp of samples without one. */
  readonly receivedAt: EpochMs;
  /** Of a request with an Idempotency-Key: its groups are the parts, so they must be the same at every try. */
  readonly attempt?: Attempt | undefined;
}

export interface RejectedSample extends SampleRefusal {
  /** Its place in the request, from 0. */
  readonly index: number;
}

/** What became of the samples of a request: every one is counted in one of the three. */
export interface BackfillReceipt {
  readonly accepted: number;
  /** Identical to stored ones, or to earlier ones of the request. */
  readonly duplicates: number;
  readonly rejected: readonly RejectedSample[];
}

export interface BackfillStages {
  /** Throws Problem 404 for an unknown device. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly validate: (sample: Sample) => ValidatedSample<Sample>;
  /** Cuts down what is new beyond the limits of the device. */
  readonly admit: DeviceNames['admit'];
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly announce: (entry: DurableEntry) => void;
  /** Asked before every batch; true ends the request with 503. */
  readonly stopping: () => boolean;
  readonly newId: () => string;
}

const samplesLimit = `${backfillLimits.samplesMax.toLocaleString('en-US')} samples`;

interface Progress {
  read: number;
  accepted: number;
  duplicates: number;
  readonly rejected: RejectedSample[];
  notes: number;
}

/**
 * Resolves when every sample that can be stored is durable. Throws Problem `backfillRejected` when there were samples and all
 * were refused, and when the request breaks off, a Problem that tells what was stored before.
 */
export async function backfill(input: Backfill, on: BackfillStages): Promise<BackfillReceipt> {
  const route = await on.findRoute(input.deviceId);
  const storedTopics = storedTopicsOf(route);
  const progress: Progress = { read: 0, accepted: 0, duplicates: 0, rejected: [], notes: 0 };
  const underWay: Promise<void>[] = [];
  const origin = originOf(route, on.newId());
  let failure: unknown;
  try {
    for await (const elements of input.groups) {
      if (on.stopping()) throw problem('stopping');
      if (progress.read + elements.length > backfillLimits.samplesMax)
        throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
      const part = partOf(elements, progress, input.attempt);
      const entry = await entryOf(elements, { origin, storedTopics, input, progress, on });
      if (entry === undefined) continue;
      const batch = storeBatch(entry, part, progress, on);
      // A failure is told when its turn to be awaited comes.
      batch.catch(() => undefined);
      underWay.push(batch);
      if (underWay.length >= backfillLimits.batchesUnderWayMax) await underWay.shift();
    }
  } catch (error) {
    failure = error;
  }
  // All of them, so that what was stored is told truly also after a failure.
  for (const batch of await Promise.allSettled(underWay))
    if (batch.status === 'rejected') failure ??= batch.reason;
  if (failure !== undefined) throw brokenOff(failure, progress);
  const receipt = outcomeOf(progress);
  if (receipt.rejected.length > 0 && receipt.rejected.length === progress.read) {
    throw problem('backfillRejected', receipt);
  }
  return receipt;
}

/** A group of a request with an Idempotency-Key. */
interface Part {
  readonly attempt: Attempt;
  readonly name: string;
  readonly contentHash: string;
}

function partOf(
  elements: readonly Json[],
  { read }: Progress,
  attempt: Attempt | undefined,
): Part | undefined {
  if (attempt === undefined) return undefined;
  const contentHash = createHash('sha256').update(JSON.stringify(elements)).digest('base64url');
  return { attempt, name: String(read), contentHash };
}

async function storeBatch(
  entry: JournalEntry,
  part: Part | undefined,
  progress: Progress,
  on: BackfillStages,
): Promise<void> {
  const before = part?.attempt.stored(part.name, part.contentHash);
  if (before !== undefined) {
    progress.accepted += before.samples;
    progress.duplicates += entry.samples.length - before.samples;
    return;
  }
  const duplicateKey = part?.attempt.duplicateKey(part.name, part.contentHash);
  const durable = await on.append(
    duplicateKey === undefined ? entry : { ...entry, trace: { duplicateKey } },
  );
  if (part !== undefined) {
    const { attempt, name, contentHash } = part;
    const { receivedAt, samples } = durable;
    attempt.done({
      part: name,
      contentHash,
      receivedAt,
      correlationId: null,
      samples: samples.length,
    });
  }
  on.announce(durable);
  progress.accepted += durable.samples.length;
  progress.duplicates += durable.duplicates;
}

type Origin = Pick<
  JournalEntry['samples'][number],
  'organizationId' | 'workspaceId' | 'dataFlowId' | 'correlationId'
>;

function originOf({ device, flow }: UplinkRoute, correlationId: string): Origin {
  const { organizationId, workspaceId } = device;
  return { organizationId, workspaceId, dataFlowId: flow.id, correlationId };
}

interface BatchContext {
  readonly origin: Origin;
  readonly storedTopics: '*' | ReadonlySet<string>;
  readonly input: Backfill;
  readonly progress: Progress;
  readonly on: BackfillStages;
}

/** The entry of a group; undefined when nothing of it can be stored. */
async function entryOf(
  elements: readonly Json[],
  context: BatchContext,
): Promise<JournalEntry | undefined> {
  const { origin, storedTopics, progress, on } = context;
  const { deviceId, receivedAt } = context.input;
  const samples: JournalEntry['samples'][number][] = [];
  const notes: ProcessingLogEntry[] = [];
  const checked: ValidatedSample<Sample>[] = [];
  const indices: number[] = [];
  for (const element of elements) {
    const index = progress.read++;
    const read = readBackfillSample(element, receivedAt);
    if (isRefusal(read)) {
      progress.rejected.push({ index, ...read });
      continue;
    }
    checked.push(on.validate(sampleOf(read, deviceId)));
    indices.push(index);
  }
  for (const [i, validated] of (await on.admit(deviceId, checked)).entries()) {
    const { topic, timestamp, data, meta } = validated.sample;
    const stored = storedTopics === '*' || storedTopics.has(topic);
    // One form for all of them, however they came in: the store reads them over and over.
    const entry = { deviceId, topic, timestamp, data, ...origin, stored };
    samples.push(meta === undefined ? entry : { ...entry, meta });
    if (validated.notes.length > 0) addNotes(notes, validated, indices[i]!, context);
  }
  return samples.length === 0 ? undefined : { deviceId, receivedAt, samples, notes };
}

function sampleOf({ topic, timestamp, data, meta }: BackfillSample, deviceId: string): Sample {
  return meta === undefined
    ? { deviceId, topic, timestamp, data }
    : { deviceId, topic, timestamp, data, meta };
}

function addNotes(
  to: ProcessingLogEntry[],
  { notes }: ValidatedSample<Sample>,
  index: number,
  { progress, origin, input, on }: BatchContext,
): void {
  for (const note of notes) {
    if (progress.notes >= backfillLimits.notesMax) return;
    progress.notes++;
    to.push({
      id: on.newId(),
      deviceId: input.deviceId,
      timestamp: input.receivedAt,
      correlationId: origin.correlationId,
      ...note,
      details: { ...note.details, index },
    });
  }
}

function outcomeOf({ accepted, duplicates, rejected }: Progress): BackfillReceipt {
  return { accepted, duplicates, rejected };
}

/** The refusal of a request that did not come to its end, with what became of the samples before. */
function brokenOff(failure: unknown, progress: Progress): unknown {
  const outcome = outcomeOf(progress);
  if (failure instanceof BrokenJsonArray) {
    return problem('backfillBroken', {
      ...outcome,
      reason: failure.message,
      index: failure.index,
      byte: failure.byte,
    });
  }
  if (!(failure instanceof Problem)) return failure;
  if (failure.problem === 'backfillTooLarge')
    return problem(failure.problem, { ...outcome, limit: samplesLimit });
  if (failure.problem === 'payloadTooLarge')
    return problem('backfillTooLarge', {
      ...outcome,
      limit: `${String(failure.details['bytesMax'])} bytes`,
    });
  if (failure.problem === 'storageFull') return problem('backfillStorageFull', outcome);
  return failure.status === 503 ? problem('backfillInterrupted', outcome) : failure;
}
