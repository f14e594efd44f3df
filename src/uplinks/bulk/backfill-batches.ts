// Backfill batches: the journal entries of a group of samples, one for each device, and their way to the disk.
import { hash } from 'node:crypto';
import {
  ageRefusal,
  type BackfillSample,
  isRefusal,
  readBackfillSample,
  type SampleRefusal,
} from '../../transports/http/backfill-sample.ts';
import type { InTurn } from '../../structures/turns.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { DurableEntry, JournalEntry } from '../../model/journal-entry.ts';
import { isTooOld, type NotStored, NotStoredCounts } from '../../model/kept-samples.ts';
import type { Sample } from '../../model/sample.ts';
import type { ImplausibleTimes } from '../../model/workspace.ts';
import { isPlausible, type Validated } from '../validate/sample-validation.ts';
import type { SampleStages } from '../sample-stages.ts';
import { storedTopicsOf } from '../capture/capture.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { type HeldFor, withDeviceLease } from '../../cluster/owned-devices.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import type { UplinkMetrics } from '../../model/uplink-metrics.ts';

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
  /** Of the accepted ones. */
  readonly notStored: NotStoredCounts;
  /** Number of notes by device, only for devices with notes. */
  readonly notes: Map<string, number>;
}

/** With several nodes: which workspaces are of this one, and who stores the samples of others. */
export interface OtherOwners {
  readonly heldFor: HeldFor;
  /** Has samples of other devices stored by their owners; their results are counted. */
  readonly storeElsewhere: StoreElsewhere;
}

/** Samples of a request that the owner of their device stores as one entry. */
export interface SamplesOfOwner {
  readonly device: BackfillDevice;
  readonly checked: readonly Validated[];
  readonly indices: readonly number[];
  readonly part: Part | undefined;
}

export type StoreElsewhere = (
  samples: readonly SamplesOfOwner[],
  request: { readonly receivedAt: EpochMs; readonly progress: BackfillProgress },
) => Promise<void>;

type Origin = {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string;
};

/** A device, with what its samples have in common in every request. */
export interface BackfillDevice {
  /** Service device id. */
  readonly id: string;
  readonly origin: Origin;
  readonly storedTopics: '*' | ReadonlySet<string>;
  /** For how many days samples are kept; null without limit. */
  readonly keptDays: number | null;
  /** What becomes of samples with times that cannot be right. */
  readonly implausibleTimes: ImplausibleTimes;
  /** Whether its samples get calculated keys. */
  readonly calculates: boolean;
  /**
   * Of a device that sends the samples itself: how long it is online after the newest of them.
   * Undefined for samples that are brought by others.
   */
  readonly onlineForMs?: number | undefined;
}

export type FoundDevice = BackfillDevice | SampleRefusal;

/** A device whose samples others bring. */
export function backfillDevice(route: UplinkRoute): BackfillDevice {
  const { id, organizationId, workspaceId } = route.device;
  const origin = { organizationId, workspaceId, dataFlowId: route.flow.id };
  const { keptDays, implausibleTimes } = route;
  const calculates = (route.type?.calculatedKeys.length ?? 0) > 0;
  const storedTopics = storedTopicsOf(route);
  return { id, origin, storedTopics, keptDays, implausibleTimes, calculates };
}

/** A device that sends its samples itself. */
export function sendingDevice(route: UplinkRoute): BackfillDevice {
  return { ...backfillDevice(route), onlineForMs: route.device.onlineTimeoutSeconds * 1_000 };
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
  /** In place of the validation of other samples. */
  readonly validate?: Validate | undefined;
}

export type Validate = (sample: Sample, receivedAt?: EpochMs) => Validated;

/** A batch of a request with an Idempotency-Key. */
interface Part {
  readonly attempt: Attempt;
  readonly name: string;
  readonly contentHash: string;
}

interface Batch {
  readonly device: BackfillDevice;
  readonly entry: JournalEntry;
  readonly part: Part | undefined;
}

/** What a group of samples stores. */
interface Batches {
  readonly own: readonly Batch[];
  readonly elsewhere: readonly SamplesOfOwner[];
  readonly receivedAt: EpochMs;
}

/** The samples of one device in a group that are not rejected. */
interface DeviceSamples {
  readonly device: BackfillDevice;
  readonly elements: Json[];
  readonly checked: Validated[];
  readonly indices: number[];
}

/** The batches of requests on their way to the disk. */
export class BackfillBatches {
  readonly #stages: SampleStages;
  readonly #turns: WorkTurns | undefined;
  readonly #others: OtherOwners | undefined;

  constructor(
    stages: SampleStages,
    /** Organizations take turns; absent where none is shared. */
    turns: WorkTurns | undefined,
    /** Absent when all devices are of this node. */
    others: OtherOwners | undefined,
  ) {
    this.#stages = stages;
    this.#turns = turns;
    this.#others = others;
  }

  /**
   * The batches of a group in the order of their first samples; rejected elements are counted in
   * `progress`.
   */
  async of(group: Group, progress: BackfillProgress): Promise<Batches> {
    const { groupStart, receivedAt, attempt } = group;
    const organizationId = organizationOf(group.devices);
    const turns = this.#turns;
    const heldFor = this.#others?.heldFor;
    const stages = this.#stages;
    const inTurn: InTurn | undefined =
      organizationId === undefined || turns === undefined
        ? undefined
        : (work) => turns.run(organizationId, work);
    const read = () => [...this.#read(group, progress).values()];
    const samplesOf = inTurn === undefined ? read() : await inTurn(read);
    const partOfDevice = ({ elements, device }: DeviceSamples) =>
      attempt && partOf(elements, { groupStart, deviceId: device.id, attempt });
    const isOwn = ({ device }: DeviceSamples) => heldFor?.(device.origin.workspaceId) !== undefined;
    const own = heldFor === undefined ? samplesOf : samplesOf.filter(isOwn);
    const elsewhere = heldFor === undefined ? [] : samplesOf.filter((one) => !isOwn(one));
    const batches = own.map(async (samples): Promise<Batch> => {
      const { device, checked } = samples;
      const admitted = await stages.admit(device.id, checked, inTurn);
      const calculated = await stages.calculate(device.id, admitted);
      const make = () => entryOf(calculated, samples, { receivedAt, progress, stages });
      const entry = inTurn === undefined ? make() : await inTurn(make);
      return { device, entry, part: partOfDevice(samples) };
    });
    return {
      own: await Promise.all(batches),
      elsewhere: elsewhere.map((samples) => ({ ...samples, part: partOfDevice(samples) })),
      receivedAt,
    };
  }

  /**
   * Appends all batches in their order, without waits in between. Rejects with the first failure,
   * after all of them have ended.
   */
  async store({ own, elsewhere, receivedAt }: Batches, progress: BackfillProgress): Promise<void> {
    const stored = own.map((batch) => this.#storeBatch(batch, progress));
    const unknown = elsewhere.filter(({ checked, device, part }) => {
      const sent = checked.map(({ sample }) => sample.topic);
      return !countStored(sent, device, part, progress);
    });
    if (unknown.length > 0 && this.#others !== undefined)
      stored.push(this.#others.storeElsewhere(unknown, { receivedAt, progress }));
    const results = await Promise.allSettled(stored);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #storeBatch({ device, entry, part }: Batch, progress: BackfillProgress): Promise<void> {
    const sent = entry.samples.map(({ topic }) => topic);
    if (countStored(sent, device, part, progress)) return;
    const duplicateKey = part?.attempt.duplicateKey(part.name, part.contentHash);
    const keyed = { ...entry, ...(duplicateKey !== undefined && { trace: { duplicateKey } }) };
    const append = () =>
      appendOwned(keyed, device.origin.workspaceId, this.#stages, this.#others?.heldFor);
    const organizationId = entry.samples[0]?.organizationId;
    const durable =
      organizationId === undefined || this.#turns === undefined
        ? await append()
        : await this.#turns.run(organizationId, append);
    const { receivedAt, samples, duplicates } = durable;
    const notStored = notStoredOf(
      samples.map(({ topic }) => topic),
      device,
    );
    countDurable({ receivedAt, samples: samples.length, duplicates, notStored }, part, progress);
  }

  #read(
    { elements, devices, indices, receivedAt, validate }: Group,
    progress: BackfillProgress,
  ): Map<string, DeviceSamples> {
    const byDevice = new Map<string, DeviceSamples>();
    for (const [i, device] of devices.entries()) {
      const index = indices?.[i] ?? progress.read++;
      const element = elements[i] ?? null;
      const read = isRefusal(device) ? device : readSampleOf(device, element, receivedAt);
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
      const replaced = device.implausibleTimes === 'RECEIPT' ? receivedAt : undefined;
      const sample = sampleOf(read, device.id);
      samples.checked.push(
        validate === undefined
          ? this.#stages.validate(sample, replaced)
          : validate(sample, replaced),
      );
      samples.indices.push(index);
    }
    return byDevice;
  }
}

/** Undefined when all are rejected. */
function organizationOf(devices: Group['devices']): string | undefined {
  for (const device of devices) if (!isRefusal(device)) return device.origin.organizationId;
  return undefined;
}

function readSampleOf(
  { keptDays, implausibleTimes }: BackfillDevice,
  element: Json,
  receivedAt: EpochMs,
): BackfillSample | SampleRefusal {
  const read = readBackfillSample(element, receivedAt);
  if (isRefusal(read) || keptDays === null) return read;
  if (implausibleTimes === 'RECEIPT' && !isPlausible(read.timestamp, receivedAt)) return read;
  return isTooOld(read.timestamp, keptDays, receivedAt)
    ? ageRefusal(read.timestamp, keptDays)
    : read;
}

function sampleOf({ topic, timestamp, data, meta }: BackfillSample, deviceId: string): Sample {
  const sample = { deviceId, topic, timestamp, data };
  if (meta === undefined) return sample;
  return { ...sample, meta };
}

/** The part of a request that the elements of one device in a group are. */
interface PartPlace {
  readonly groupStart: number;
  readonly deviceId: string;
  readonly attempt: Attempt;
}

export function partNameOf(groupStart: number, deviceId: string): string {
  return `${groupStart}.${deviceId}`;
}

/** Keys hold across an upgrade: names and hashes stay as they are. */
export function partOf(elements: readonly Json[], place: PartPlace): Part {
  const contentHash = hash('sha256', JSON.stringify(elements), 'base64url');
  return {
    attempt: place.attempt,
    name: partNameOf(place.groupStart, place.deviceId),
    contentHash,
  };
}

/**
 * `workspaceId` is that of the device. Throws Problem `deviceMoved` when another node holds it, and
 * `deviceMovedMeanwhile` when one does after the sync.
 */
export function appendOwned(
  entry: JournalEntry,
  workspaceId: string,
  stages: SampleStages,
  /** Absent when all devices are of this node. */
  heldFor: HeldFor | undefined,
): Promise<DurableEntry> {
  const store = () => stages.store(entry);
  return heldFor === undefined ? store() : withDeviceLease(heldFor, workspaceId, store);
}

/** Counts the samples that an earlier try of the request stored; false when it did not. */
function countStored(
  topics: readonly string[],
  device: BackfillDevice,
  part: Part | undefined,
  progress: BackfillProgress,
): boolean {
  const before = part?.attempt.stored(part.name, part.contentHash);
  if (before === undefined) return false;
  progress.accepted += before.samples;
  progress.duplicates += topics.length - before.samples;
  addNotStored(notStoredOf(topics.slice(0, before.samples), device), progress);
  return true;
}

/** Samples by topic that no database output takes. */
export function notStoredOf(
  topics: readonly string[],
  { storedTopics }: BackfillDevice,
): readonly NotStored[] {
  if (storedTopics === '*') return none;
  const counts = new NotStoredCounts();
  const reason = storedTopics.size === 0 ? 'NO_DATABASE_OUTPUT' : 'TOPIC_FILTER';
  for (const topic of topics) if (!storedTopics.has(topic)) counts.add(topic, reason);
  return counts.list();
}

const none: readonly NotStored[] = [];

function addNotStored(found: readonly NotStored[], { notStored }: BackfillProgress): void {
  for (const { topic, reason, count } of found) notStored.add(topic, reason, count);
}

export interface StoredSamples {
  readonly receivedAt: EpochMs;
  /** How many of them were not stored before. */
  readonly samples: number;
  readonly duplicates: number;
  readonly notStored: readonly NotStored[];
}

/** Counts samples that are durable now. */
export function countDurable(
  { receivedAt, samples, duplicates, notStored }: StoredSamples,
  part: Part | undefined,
  progress: BackfillProgress,
): void {
  progress.accepted += samples;
  progress.duplicates += duplicates;
  addNotStored(notStored, progress);
  if (part === undefined) return;
  const { attempt, name, contentHash } = part;
  attempt.done({ part: name, contentHash, receivedAt, correlationId: null, samples });
}

// Backfill entry: the journal entry of the admitted samples of one device, with the notes on them.

/** Notes of one request in the processing log of a device, which keeps no more. */
export const backfillNotesMax = 1_000;

/** Samples of a device, with their places in the request. */
interface PlacedSamples {
  readonly device: {
    readonly id: string;
    readonly origin: Origin;
    readonly storedTopics: '*' | ReadonlySet<string>;
    readonly onlineForMs?: number | undefined;
  };
  readonly indices: readonly number[];
}

interface EntryContext {
  readonly receivedAt: EpochMs;
  readonly progress: {
    readonly correlationId: string;
    /** Number of notes by device. */
    readonly notes: Map<string, number>;
  };
  readonly stages: { readonly newId: () => string };
}

/** The entry of admitted samples; their notes are counted in `progress`. */
export function entryOf(
  admitted: readonly Validated[],
  { device, indices }: PlacedSamples,
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
  const metrics = metricsOf(samples, device, context);
  const entry = { deviceId, receivedAt: context.receivedAt, samples, notes };
  return metrics === undefined ? entry : { ...entry, metrics };
}

/**
 * What the samples say of a device that sends them itself, as an uplink would. Undefined for others,
 * and when all of them are so old that the device is offline with them: they are its history.
 */
function metricsOf(
  samples: JournalEntry['samples'],
  { id: deviceId, onlineForMs }: PlacedSamples['device'],
  { receivedAt, progress }: EntryContext,
): UplinkMetrics | undefined {
  if (onlineForMs === undefined || samples.length === 0) return undefined;
  let newest = 0;
  for (const { timestamp } of samples) if (timestamp > newest) newest = timestamp;
  const timestamp = Math.min(newest, receivedAt);
  if (receivedAt - timestamp >= onlineForMs) return undefined;
  return { uplinkId: progress.correlationId, deviceId, uplinkSize: 0, timestamp };
}

function addNotes(
  to: ProcessingLogEntry[],
  { notes }: Validated,
  index: number,
  {
    device,
    receivedAt,
    progress,
    stages,
  }: EntryContext & { readonly device: { readonly id: string } },
): void {
  let count = progress.notes.get(device.id) ?? 0;
  for (const note of notes) {
    if (count >= backfillNotesMax) break;
    count++;
    to.push({
      id: stages.newId(),
      deviceId: device.id,
      timestamp: receivedAt,
      correlationId: progress.correlationId,
      ...note,
      details: { ...note.details, index },
    });
  }
  progress.notes.set(device.id, count);
}
