// Backfill journey: samples of a request are read, validated, appended in batches by device, and announced.
import type { HeldFor } from '../../cluster/owned-devices.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { type EpochMs, isInstant } from '../../model/instant.ts';
import {
  type DurableItem,
  durablePart,
  type DurableRows,
  isRows,
  sampleCountOf,
} from '../../model/journal-entry.ts';
import type { Json } from '../../model/json.ts';
import { isTooOld, type NotStored, NotStoredCounts } from '../../model/kept-samples.ts';
import type { Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import { defaultTopic, type Sample } from '../../model/sample.ts';
import { missing } from '../../structures/missing.ts';
import { BrokenJson } from '../../transports/http/json-groups.ts';
import { elementsOf, isColumns, type SampleGroup } from '../../transports/http/sample-groups.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { plausibleFrom, type ValidatedSample } from '../validate/sample-validation.ts';
import {
  backfillDevice,
  type BackfillDevice,
  type BackfillProgress,
  batchesOf,
  type BatchStages,
  type FoundDevice,
  partNameOf,
  partOf,
  type PartPlace,
  type RejectedSample,
  storeBatches,
} from './backfill-batches.ts';
import {
  deviceOfRow,
  type DeviceRows,
  refusalsOf,
  type RowDevices,
  rowsByDevice,
  type RowsByDevice,
} from './device-rows.ts';
import { createNamedDevices, type NamedDeviceStages } from './named-devices.ts';

export const backfillLimits = {
  /** Samples of one request. */
  samplesMax: 100_000,
  /** Groups of one request, or parts of them, on their way to the disk: one is synced while the next is read. */
  groupsUnderWayMax: 2,
  /** Requests in progress. Further requests get 503 with Retry-After. */
  requestsMax: 100,
} as const;

interface SampleGroups {
  /** Elements in the order sent. A group becomes one journal entry for each of its devices. */
  readonly groups: AsyncIterable<SampleGroup> | Iterable<SampleGroup>;
  /** The timestamp of samples without one. */
  readonly receivedAt: EpochMs;
  /**
   * Of a request with an Idempotency-Key. Its groups must be the same at every try, because parts
   * are named after them.
   */
  readonly attempt?: Attempt | undefined;
}

export interface Backfill extends SampleGroups {
  /** Service device id. */
  readonly deviceId: string;
}

/** Samples that name their devices. */
export interface NamedBackfill extends SampleGroups {
  /** The caller, in one organization. */
  readonly principal: Principal;
}

/** The result for the samples of a request: every one is counted in one of the three. */
export interface BackfillReceipt {
  readonly accepted: number;
  /** Identical to stored ones, or to earlier ones of the request. */
  readonly duplicates: number;
  readonly rejected: readonly RejectedSample[];
  /** Of the accepted ones. */
  readonly stored: number;
  /** Absent when all accepted ones are stored. */
  readonly notStored?: readonly NotStored[];
}

export interface BackfillStages extends BatchStages, ColumnStages {
  /** Throws Problem 404 for an unknown device. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Asked before every group; true ends the request with 503. */
  readonly stopping: () => boolean;
}

/** A request with more samples takes a turn for each group of them. */
const largeSamplesMin = 1_000;
/** Elements that are handled in one go: each takes many times the time of a row of columns. */
const elementsPerTurn = 200;

const samplesLimit = `${backfillLimits.samplesMax.toLocaleString('en-US')} samples`;

/**
 * Resolves when every sample of the device that can be stored is durable. Throws Problem
 * `backfillRejected` when there were samples and all were refused, and when the request breaks off,
 * a Problem that says what was stored before.
 */
export async function backfill(input: Backfill, on: BackfillStages): Promise<BackfillReceipt> {
  const device = backfillDevice(await on.findRoute(input.deviceId));
  const all = { ofAll: device };
  const ofElements = (elements: readonly Json[]) => elements.map(() => device);
  const { organizationId } = device.origin;
  const of = { organizationId, ofElements, ofColumns: () => all };
  return notAllRejected(await storeGroups(input, of, on));
}

/**
 * As `backfill`, for samples of many devices. An element whose device the caller cannot write to is
 * a rejected one, with the same words as for an unknown device (contract 37). The samples of one
 * device are stored in the order sent.
 */
export async function backfillNamed(
  input: NamedBackfill,
  on: BackfillStages & NamedDeviceStages,
): Promise<BackfillReceipt> {
  return notAllRejected(await storeGroups(input, createNamedDevices(input.principal, on), on));
}

/** How the devices of a request are found. */
interface RequestDevices {
  /** Whose they are. */
  readonly organizationId: string;
  /** For each element its device, or why it is rejected. */
  readonly ofElements: (
    elements: readonly Json[],
  ) => readonly FoundDevice[] | Promise<readonly FoundDevice[]>;
  /** The same for samples in columns; undefined when they do not name their devices. */
  readonly ofColumns: (samples: SampleColumns) => RowDevices | Promise<RowDevices | undefined>;
}

/**
 * Resolves when every sample that can be stored is durable, also when all were rejected. Throws when
 * the request breaks off.
 */
export async function storeGroups(
  input: SampleGroups,
  of: RequestDevices,
  on: BackfillStages,
): Promise<BackfillReceipt> {
  const progress: BackfillProgress = {
    correlationId: on.newId(),
    read: 0,
    accepted: 0,
    duplicates: 0,
    rejected: [],
    notStored: new NotStoredCounts(),
    notes: new Map(),
  };
  const underWay: Promise<void>[] = [];
  const begin: Begin = async (stored) => {
    // A failure is handled where it is awaited.
    stored.catch(() => undefined);
    underWay.push(stored);
    while (underWay.length >= backfillLimits.groupsUnderWayMax) await underWay.shift();
  };
  let failure: unknown;
  try {
    for await (const group of input.groups) {
      if (on.stopping()) throw problem('stopping');
      if (progress.read + group.length > backfillLimits.samplesMax)
        throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
      await inPlace(on, of, progress, begin, (beginHere) =>
        storeGroup({ ...input, group, begin: beginHere }, of, progress, on),
      );
      // The journal is busy with one group while the next is prepared, at the turn of the organization.
      await (progress.read < largeSamplesMin
        ? on.turns?.wait(of.organizationId)
        : on.turns?.nextTurn(of.organizationId));
    }
  } catch (error) {
    failure = error;
  }
  // All groups, so that the counts are also right after a failure.
  for (const group of await Promise.allSettled(underWay))
    if (group.status === 'rejected') failure ??= group.reason;
  if (failure !== undefined) throw brokenOff(failure, progress);
  return outcomeOf(progress);
}

/** Takes what is on its way to the disk; resolves when there is room for more. */
type Begin = (stored: Promise<void>) => Promise<void>;

/**
 * Few groups of large requests of an organization are stored at once: more would not be faster, and
 * all their samples would be alive.
 */
async function inPlace(
  { turns }: BackfillStages,
  { organizationId }: RequestDevices,
  { read }: BackfillProgress,
  begin: Begin,
  store: (begin: Begin) => Promise<void>,
): Promise<void> {
  if (turns === undefined || read < largeSamplesMin) return store(begin);
  const end = await turns.groups.begin(organizationId);
  const begun: Promise<void>[] = [];
  try {
    await store((stored) => {
      begun.push(stored);
      return begin(stored);
    });
  } finally {
    void Promise.allSettled(begun).then(end);
  }
}

function notAllRejected(receipt: BackfillReceipt): BackfillReceipt {
  const { accepted, duplicates, rejected } = receipt;
  if (rejected.length > 0 && accepted + duplicates === 0)
    throw problem('backfillRejected', receipt);
  return receipt;
}

interface GroupToStore extends Pick<SampleGroups, 'receivedAt' | 'attempt'> {
  readonly group: SampleGroup;
  readonly begin: Begin;
}

async function storeGroup(
  input: GroupToStore,
  of: RequestDevices,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<void> {
  const { group } = input;
  const groupStart = progress.read;
  const devices = isColumns(group) ? await of.ofColumns(group) : undefined;
  if (isColumns(group) && devices !== undefined) {
    await storeFound({ ...input, groupStart, samples: group, devices }, progress, on);
    return;
  }
  const elements = isColumns(group) ? elementsOf(group) : group;
  const found = await of.ofElements(elements);
  await storeElements({ ...input, groupStart, elements, devices: found }, progress, on);
}

type ElementGroup = Parameters<typeof batchesOf>[0];

/** Begins to store the samples: those that columns do not take as elements, some at a time. */
async function storeFound(
  found: Omit<GroupToStore, 'group'> &
    Pick<ElementGroup, 'groupStart'> & {
      readonly samples: SampleColumns;
      readonly devices: RowDevices;
    },
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<void> {
  const { begin, samples, devices, groupStart, attempt } = found;
  const stored = await storeColumns(found, progress, on);
  if (stored !== undefined) {
    progress.read += samples.length;
    for (const [row, refusal] of refusalsOf(devices))
      progress.rejected.push({ index: groupStart + row, ...refusal });
    await begin(stored.done);
  }
  const left = stored?.left ?? [...samples.timestamps.keys()];
  // Elements of the whole group would live until its last one is stored.
  const step = stepOf(attempt, left);
  for (let from = 0; from < left.length; from += step) {
    const rows = left.slice(from, from + step);
    const some = {
      ...found,
      elements: elementsOf(samples, rows),
      devices: rows.map((row) => deviceOfRow(devices, row)),
    };
    const indices = stored && rows.map((row) => groupStart + row);
    await storeElements(indices === undefined ? some : { ...some, indices }, progress, on);
  }
}

/** A part of a request with an Idempotency-Key is named by its whole group. */
function stepOf(attempt: Attempt | undefined, all: readonly unknown[]): number {
  return attempt === undefined ? elementsPerTurn : all.length;
}

/** Begins to store the elements that are not rejected. */
async function storeElements(
  { begin, ...group }: ElementGroup & Pick<GroupToStore, 'begin'>,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<void> {
  const { elements, devices, indices, attempt } = group;
  const step = stepOf(attempt, elements);
  for (let from = 0; from < elements.length; from += step) {
    const to = from + step;
    const some = { ...group, elements: elements.slice(from, to), devices: devices.slice(from, to) };
    const places = indices && { indices: indices.slice(from, to) };
    const batches = await batchesOf({ ...some, ...places }, progress, on);
    const { own, elsewhere } = batches;
    if (own.length + elsewhere.length > 0) await begin(storeBatches(batches, progress, on));
  }
}

function outcomeOf({ notStored, ...progress }: BackfillProgress): BackfillReceipt {
  const { accepted, duplicates, rejected } = progress;
  const receipt = { accepted, duplicates, rejected, stored: accepted - notStored.total };
  return notStored.total === 0 ? receipt : { ...receipt, notStored: notStored.list() };
}

/** The error of an interrupted request, with the counts of its samples so far. */
function brokenOff(failure: unknown, progress: BackfillProgress): unknown {
  const outcome = outcomeOf(progress);
  if (failure instanceof BrokenJson) {
    return problem('backfillBroken', {
      ...outcome,
      reason: failure.message,
      ...failure.place,
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
  if (failure.problem === 'notUtf8' || failure.problem === 'compressedBodyInvalid')
    return problem('backfillUnreadable', { ...outcome, reason: failure.message });
  if (failure.problem === 'storageFull') return problem('backfillStorageFull', outcome);
  if (failure.status === 503) return problem('backfillInterrupted', outcome);
  return failure;
}

// Backfill columns: unchanged samples of one form, stored without an object for each.

interface ColumnStages
  extends Pick<BatchStages, 'validate' | 'admit' | 'announce' | 'heldFor' | 'turns'> {
  readonly announceRows: (rows: DurableRows) => void;
  /** Undefined, and nothing is stored, when columns do not take the data. */
  readonly appendColumns: (
    entries: Pick<SampleColumns, 'timestamps' | 'columns' | 'texts' | 'example'> & {
      readonly receivedAt: EpochMs;
      /** The rows of each device. */
      readonly parts: readonly PartToStore[];
    },
  ) => Promise<PlacedParts | undefined>;
}

type HeadToStore = BackfillDevice['origin'] & {
  readonly correlationId: string;
  readonly topic: string;
  readonly stored: boolean;
};

interface PartToStore {
  readonly deviceId: string;
  readonly head: HeadToStore;
  readonly from: number;
  readonly to: number;
  readonly trace?: { readonly duplicateKey: string } | undefined;
}

interface PlacedParts {
  /** Parts that were not taken, because some of their samples may be stored already. */
  readonly left: readonly number[];
  readonly outcome: Promise<{
    readonly items: readonly DurableItem[];
    readonly failure: { readonly error: unknown } | undefined;
  }>;
}

/** Samples on their way to the disk. */
interface StoredColumns {
  readonly done: Promise<void>;
  /** Rows that must be handled separately, in their order: nothing of their devices is stored. */
  readonly left: readonly number[];
}

/**
 * Begins to store the samples. Those of a device are left when one of them is not later than the one
 * before or than all that is stored, when the device does not take their topic and keys, when it is
 * of another node, or when an earlier try of the request stored them. Undefined, and nothing is stored, when one of the samples would be changed or noted.
 */
async function storeColumns(
  {
    samples,
    devices,
    receivedAt,
    groupStart,
    attempt,
  }: Pick<PartPlace, 'groupStart'> & {
    readonly samples: SampleColumns;
    /** Samples without a device are skipped. */
    readonly devices: RowDevices;
    readonly receivedAt: EpochMs;
    /** Of a request with an Idempotency-Key: the samples have the bytes that they were read from. */
    readonly attempt?: Attempt | undefined;
  },
  progress: BackfillProgress,
  on: ColumnStages,
): Promise<StoredColumns | undefined> {
  const times = timesOf(samples.timestamps);
  if (times === undefined) return undefined;
  const { oldest, latest } = times;
  const { topic = defaultTopic, texts, example } = samples;
  // What is valid of the latest is valid of all: they have the same keys and types.
  const sample = { deviceId: '', topic, timestamp: latest, data: example };
  const validated = on.validate(sample);
  if (validated.sample !== sample || validated.notes.length > 0) return undefined;
  const { timestamps, columns, parts, place } = rowsByDevice(samples, devices);
  const keys = attempt && keysOf(samples, place, { groupStart, attempt });
  const isStored = (part: DeviceRows): boolean => keys?.isStored(part) === true;
  const left = parts.filter(isStored);
  const fresh = parts.filter((part) => !isStored(part));
  const isKept = ({ device: { keptDays } }: DeviceRows): boolean =>
    !isTooOld(oldest, keptDays, receivedAt);
  left.push(...fresh.filter((part) => !isKept(part)));
  const taken = await takenParts(fresh.filter(isKept), validated, left, on);
  const headOf = createHeads(topic, progress);
  const heads = taken.map((part) => {
    const { device, from, to } = part;
    const { id: deviceId, origin } = device;
    const trace = keys && { duplicateKey: keys.of(part) };
    return { deviceId, head: headOf(origin), from, to, trace };
  });
  const entries = { receivedAt, parts: heads, timestamps, columns, texts, example };
  const append = () => on.appendColumns(entries);
  const organizationId = taken[0]?.device.origin.organizationId;
  const placed =
    organizationId === undefined || on.turns === undefined
      ? await append()
      : await on.turns.run(organizationId, append);
  if (placed === undefined) return undefined;
  for (const part of placed.left) left.push(...taken.slice(part, part + 1));
  const stored = () => announced(placed.outcome, { progress, attempt }, on);
  const done = on.heldFor === undefined ? stored() : whileAllOwned(on.heldFor, taken, stored);
  return { done, left: rowsOf(left, place) };
}

/** Also for parts that were not taken: the request has ended when their devices moved meanwhile. */
async function whileAllOwned(
  heldFor: HeldFor,
  parts: readonly DeviceRows[],
  work: () => Promise<void>,
): Promise<void> {
  const held = parts.map(({ device }) => heldFor(device.origin.workspaceId));
  const done = work();
  await (held[0]?.during(done) ?? done);
  if (!held.every((one) => one?.isValid())) throw problem('deviceMovedMeanwhile');
}

/** What rows have in common: one object for all devices with the same origin. */
function createHeads(
  topic: string,
  { correlationId }: BackfillProgress,
): (origin: BackfillDevice['origin']) => HeadToStore {
  let last: { readonly origin: BackfillDevice['origin']; readonly head: HeadToStore } | undefined;
  return (origin) => {
    if (last?.origin !== origin)
      last = { origin, head: { ...origin, correlationId, topic, stored: true } };
    return last.head;
  };
}

/** The duplicate keys of the parts of a group. */
function keysOf(
  samples: SampleColumns,
  place: RowsByDevice['place'],
  group: Omit<PartPlace, 'deviceId'>,
) {
  const elements = elementsOf(samples);
  const ofRow = (row: number): Json => elements[row] ?? missing('element');
  return {
    isStored: ({ device }: DeviceRows) =>
      group.attempt.isStored(partNameOf({ ...group, deviceId: device.id })),
    of(part: DeviceRows): string {
      const own = rowsOf([part], place).map(ofRow);
      const { name, contentHash } = partOf(own, { ...group, deviceId: part.device.id });
      return group.attempt.duplicateKey(name, contentHash);
    },
  };
}

/** The parts whose devices take the sample as it is; the others are added to `left`. */
async function takenParts(
  parts: RowsByDevice['parts'],
  validated: ValidatedSample<Sample>,
  left: DeviceRows[],
  { admit, heldFor }: ColumnStages,
): Promise<DeviceRows[]> {
  const taken: DeviceRows[] = [];
  const { topic } = validated.sample;
  const waiting: Promise<void>[] = [];
  for (const part of parts) {
    const { device, isAscending } = part;
    const isStored = device.storedTopics === '*' || device.storedTopics.has(topic);
    const isElsewhere = heldFor !== undefined && heldFor(device.origin.workspaceId) === undefined;
    if (!isAscending || !isStored || isElsewhere || device.calculates) {
      left.push(part);
      continue;
    }
    const add = ([admitted]: readonly ValidatedSample<Sample>[]): void =>
      void (admitted === validated ? taken : left).push(part);
    const admitted = admit(device.id, [validated]);
    // Most devices are known.
    if (admitted instanceof Promise) waiting.push(admitted.then(add));
    else add(admitted);
  }
  await Promise.all(waiting);
  return taken;
}

async function announced(
  outcome: PlacedParts['outcome'],
  {
    progress,
    attempt,
  }: { readonly attempt?: Attempt | undefined; readonly progress: BackfillProgress },
  { announce, announceRows }: ColumnStages,
): Promise<void> {
  const { items, failure } = await outcome;
  for (const durable of items) {
    // Rows have no key.
    if (isRows(durable)) {
      announceRows(durable);
      progress.accepted += durable.length;
      continue;
    }
    const { receivedAt, trace } = durable;
    const part = attempt && durablePart.fromDuplicateKey(trace?.duplicateKey ?? '');
    if (part !== undefined) {
      const { part: name, contentHash } = part;
      const stored = { receivedAt, correlationId: null, samples: sampleCountOf(durable) };
      attempt?.done({ part: name, contentHash, ...stored });
    }
    announce(durable);
    progress.accepted += sampleCountOf(durable);
  }
  if (failure !== undefined) throw failure.error;
}

/** Undefined when one of them is invalid or is noted as too early, or without any. */
function timesOf(
  timestamps: Float64Array,
): { readonly oldest: EpochMs; readonly latest: EpochMs } | undefined {
  let oldest = Number.POSITIVE_INFINITY;
  let latest = Number.NEGATIVE_INFINITY;
  for (const timestamp of timestamps) {
    if (timestamp < oldest) oldest = timestamp;
    if (timestamp > latest) latest = timestamp;
  }
  return oldest >= plausibleFrom && isInstant(latest) ? { oldest, latest } : undefined;
}

function rowsOf(parts: readonly DeviceRows[], place: RowsByDevice['place']): number[] {
  const rows: number[] = [];
  for (const { from, to } of parts)
    for (let row = from; row < to; row++) rows.push(place === undefined ? row : place[row]!);
  return rows.sort((a, b) => a - b);
}
