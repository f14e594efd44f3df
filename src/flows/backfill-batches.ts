// Backfill batches: the journal entries of a group of samples, one for each device, and their way to the disk.
import { hash } from 'node:crypto';
import {
  type BackfillSample,
  isRefusal,
  readBackfillSample,
  type SampleRefusal,
} from '../ingest/http/backfill-sample.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { Sample } from '../model/sample.ts';
import type { DeviceNames } from '../validate/device-names.ts';
import type { ValidatedSample } from '../validate/sample-validation.ts';
import { storedTopicsOf } from './capture.ts';
import type { Attempt } from './idempotency.ts';

/** Notes of one request in the processing log of a device, which keeps no more. */
export const backfillNotesMax = 1_000;

export interface RejectedSample extends SampleRefusal {
  /** Its place in the request, from 0. */
  readonly index: number;
}

/** The result for the samples of a request so far. */
export interface BackfillProgress {
  /** Of all samples of the request. */
  readonly correlationId: string;
  read: number;
  accepted: number;
  duplicates: number;
  readonly rejected: RejectedSample[];
  /** Number of notes by device, only for devices with notes. */
  readonly notes: Map<string, number>;
}

export interface BatchStages {
  readonly validate: (sample: Sample) => ValidatedSample<Sample>;
  /** Cuts down what is new beyond the limits of the device. */
  readonly admit: DeviceNames['admit'];
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly announce: (entry: DurableEntry) => void;
  readonly newId: () => string;
}

type Origin = Pick<
  JournalEntry['samples'][number],
  'organizationId' | 'workspaceId' | 'dataFlowId'
>;

/** A device, with what its samples have in common in every request. */
export interface BackfillDevice {
  /** Service device id. */
  readonly id: string;
  readonly origin: Origin;
  readonly storedTopics: '*' | ReadonlySet<string>;
}

export type FoundDevice = BackfillDevice | SampleRefusal;

export function backfillDevice(route: UplinkRoute): BackfillDevice {
  const { id, organizationId, workspaceId } = route.device;
  const origin = { organizationId, workspaceId, dataFlowId: route.flow.id };
  return { id, origin, storedTopics: storedTopicsOf(route) };
}

interface Group {
  /** Place in the request of the first element of the whole group, of which these can be some. */
  readonly groupStart: number;
  readonly elements: readonly Json[];
  /** For each element its device, or why it is rejected. */
  readonly devices: readonly FoundDevice[];
  /** For each element its place in the request; undefined when they come next. */
  readonly indices?: readonly number[];
  readonly receivedAt: EpochMs;
  readonly attempt?: Attempt | undefined;
}

/** A batch of a request with an Idempotency-Key. */
export interface Part {
  readonly attempt: Attempt;
  readonly name: string;
  readonly contentHash: string;
}

interface Batch {
  readonly entry: JournalEntry;
  readonly part: Part | undefined;
}

/** The samples of one device in a group that are not rejected. */
interface DeviceSamples {
  readonly device: BackfillDevice;
  readonly elements: Json[];
  readonly checked: ValidatedSample<Sample>[];
  readonly indices: number[];
}

/**
 * The batches of a group in the order of their first samples; rejected elements are counted in
 * `progress`.
 */
export async function batchesOf(
  group: Group,
  progress: BackfillProgress,
  on: BatchStages,
): Promise<Batch[]> {
  const { groupStart, receivedAt, attempt } = group;
  const byDevice = readGroup(group, progress, on);
  return Promise.all(
    [...byDevice.values()].map(async (samples): Promise<Batch> => {
      const { device, elements, checked } = samples;
      const admitted = await on.admit(device.id, checked);
      const entry = entryOf(admitted, samples, { receivedAt, progress, on });
      const part = attempt && partOf(elements, { groupStart, deviceId: device.id, attempt });
      return { entry, part };
    }),
  );
}

function readGroup(
  { elements, devices, indices, receivedAt }: Group,
  progress: BackfillProgress,
  { validate }: BatchStages,
): Map<string, DeviceSamples> {
  const byDevice = new Map<string, DeviceSamples>();
  for (const [i, device] of devices.entries()) {
    const index = indices?.[i] ?? progress.read++;
    const element = elements[i] ?? null;
    const read = isRefusal(device) ? device : readBackfillSample(element, receivedAt);
    if (isRefusal(device) || isRefusal(read)) {
      progress.rejected.push({ index, ...(read as SampleRefusal) });
      continue;
    }
    let samples = byDevice.get(device.id);
    if (samples === undefined) {
      samples = { device, elements: [], checked: [], indices: [] };
      byDevice.set(device.id, samples);
    }
    samples.elements.push(element);
    samples.checked.push(validate(sampleOf(read, device.id)));
    samples.indices.push(index);
  }
  return byDevice;
}

function sampleOf({ topic, timestamp, data, meta }: BackfillSample, deviceId: string): Sample {
  const sample = { deviceId, topic, timestamp, data };
  if (meta === undefined) return sample;
  return { ...sample, meta };
}

interface EntryContext {
  readonly receivedAt: EpochMs;
  readonly progress: BackfillProgress;
  readonly on: BatchStages;
}

function entryOf(
  admitted: readonly ValidatedSample<Sample>[],
  { device, indices }: DeviceSamples,
  context: EntryContext,
): JournalEntry {
  const { id: deviceId, origin, storedTopics } = device;
  const { correlationId } = context.progress;
  const samples: JournalEntry['samples'][number][] = [];
  const notes: ProcessingLogEntry[] = [];
  for (const [i, validated] of admitted.entries()) {
    const { topic, timestamp, data, meta } = validated.sample;
    const stored = storedTopics === '*' || storedTopics.has(topic);
    // All entries get the same shape, because the store reads them often.
    const entry = { deviceId, topic, timestamp, data, ...origin, correlationId, stored };
    samples.push(meta === undefined ? entry : { ...entry, meta });
    const index = indices[i];
    if (index !== undefined && validated.notes.length > 0)
      addNotes(notes, validated, index, { device, ...context });
  }
  return { deviceId, receivedAt: context.receivedAt, samples, notes };
}

function addNotes(
  to: ProcessingLogEntry[],
  { notes }: ValidatedSample<Sample>,
  index: number,
  { device, receivedAt, progress, on }: EntryContext & { readonly device: BackfillDevice },
): void {
  let count = progress.notes.get(device.id) ?? 0;
  for (const note of notes) {
    if (count >= backfillNotesMax) break;
    count++;
    to.push({
      id: on.newId(),
      deviceId: device.id,
      timestamp: receivedAt,
      correlationId: progress.correlationId,
      ...note,
      details: { ...note.details, index },
    });
  }
  progress.notes.set(device.id, count);
}

/** The part of a request that the elements of one device in a group are. */
export interface PartPlace extends Pick<Group, 'groupStart'> {
  readonly deviceId: string;
  readonly attempt: Attempt;
}

export function partNameOf({ groupStart, deviceId }: Omit<PartPlace, 'attempt'>): string {
  return `${groupStart}.${deviceId}`;
}

/** Keys hold across an upgrade: names and hashes stay as they are. */
export function partOf(elements: readonly Json[], place: PartPlace): Part {
  const contentHash = hash('sha256', JSON.stringify(elements), 'base64url');
  return { attempt: place.attempt, name: partNameOf(place), contentHash };
}

/**
 * Appends all batches in their order, without waits in between. Rejects with the first failure,
 * after all of them have ended.
 */
export async function storeBatches(
  batches: readonly Batch[],
  progress: BackfillProgress,
  on: BatchStages,
): Promise<void> {
  const results = await Promise.allSettled(batches.map((batch) => storeBatch(batch, progress, on)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function storeBatch(
  { entry, part }: Batch,
  progress: BackfillProgress,
  on: BatchStages,
): Promise<void> {
  const before = part?.attempt.stored(part.name, part.contentHash);
  if (before !== undefined) {
    progress.accepted += before.samples;
    progress.duplicates += entry.samples.length - before.samples;
    return;
  }
  const duplicateKey = part?.attempt.duplicateKey(part.name, part.contentHash);
  const durable = await on.append({
    ...entry,
    ...(duplicateKey !== undefined && { trace: { duplicateKey } }),
  });
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
