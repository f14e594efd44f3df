// Backfill journey: samples of a request are read, validated, appended in batches by device, and announced.
import { BrokenJson } from '../../transports/http/json-groups.ts';
import { elementsOf } from '../../transports/http/sample-elements.ts';
import { isColumns, type SampleGroup } from '../../transports/http/sample-groups.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { type NotStored, NotStoredCounts } from '../../model/kept-samples.ts';
import { Problem, problem } from '../../model/problem.ts';
import {
  type BackfillProgress,
  backfillDevice,
  type BatchStages,
  batchesOf,
  type FoundDevice,
  type RejectedSample,
  storeBatches,
} from './backfill-batches.ts';
import { type ColumnStages, storeColumns } from './backfill-columns.ts';
import { deviceOfRow, refusalsOf, type RowDevices } from './device-rows.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { createNamedDevices, type NamedDeviceStages } from './named-devices.ts';

export const backfillLimits = {
  /** Samples of one request. */
  samplesMax: 100_000,
  /** Groups of one request on their way to the disk: one is synced while the next is read. */
  groupsUnderWayMax: 2,
  /** Requests in progress. Further requests get 503 with Retry-After. */
  requestsMax: 100,
} as const;

export interface SampleGroups {
  /** Elements in the order sent. A group becomes one journal entry for each of its devices. */
  readonly groups: AsyncIterable<SampleGroup> | Iterable<readonly Json[]>;
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
export interface RequestDevices {
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
  const begin = (stored: Promise<void>): void => {
    // A failure is handled where it is awaited.
    stored.catch(() => undefined);
    underWay.push(stored);
  };
  let failure: unknown;
  try {
    for await (const group of input.groups) {
      if (on.stopping()) throw problem('stopping');
      if (progress.read + group.length > backfillLimits.samplesMax)
        throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
      await storeGroup({ ...input, group, begin }, of, progress, on);
      while (underWay.length >= backfillLimits.groupsUnderWayMax) await underWay.shift();
      // The next group is parsed at the turn of the organization.
      await on.turns?.wait(of.organizationId);
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

function notAllRejected(receipt: BackfillReceipt): BackfillReceipt {
  const { accepted, duplicates, rejected } = receipt;
  if (rejected.length > 0 && accepted + duplicates === 0)
    throw problem('backfillRejected', receipt);
  return receipt;
}

interface GroupToStore extends Pick<SampleGroups, 'receivedAt' | 'attempt'> {
  readonly group: SampleGroup;
  /** Takes what is on its way to the disk. */
  readonly begin: (stored: Promise<void>) => void;
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
    const found = { ...input, groupStart, samples: group, devices };
    const left = await storeFound(found, progress, on);
    if (left === undefined) return;
    await storeElements({ ...input, groupStart, ...left }, progress, on);
    return;
  }
  const elements = isColumns(group) ? elementsOf(group) : group;
  const found = await of.ofElements(elements);
  await storeElements({ ...input, groupStart, elements, devices: found }, progress, on);
}

type ElementGroup = Parameters<typeof batchesOf>[0];

interface FoundColumns
  extends Pick<GroupToStore, 'receivedAt' | 'attempt' | 'begin'>,
    Pick<ElementGroup, 'groupStart'> {
  readonly samples: SampleColumns;
  readonly devices: RowDevices;
}

/** Begins to store the samples; returns those that must be handled as elements. */
async function storeFound(
  { begin, ...found }: FoundColumns,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<Pick<ElementGroup, 'elements' | 'devices' | 'indices'> | undefined> {
  const { samples, devices, groupStart } = found;
  const stored = await storeColumns(found, progress, on);
  if (stored !== undefined) {
    begin(stored.done);
    progress.read += samples.length;
    for (const [row, refusal] of refusalsOf(devices))
      progress.rejected.push({ index: groupStart + row, ...refusal });
    if (stored.left.length === 0) return undefined;
  }
  const rows = stored?.left ?? [...samples.timestamps.keys()];
  const ofRows = rows.map((row) => deviceOfRow(devices, row));
  const indices = stored && rows.map((row) => groupStart + row);
  return { elements: elementsOf(samples, rows), devices: ofRows, ...(indices && { indices }) };
}

/** Begins to store the elements that are not rejected. */
async function storeElements(
  { begin, ...group }: ElementGroup & Pick<GroupToStore, 'begin'>,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<void> {
  const batches = await batchesOf(group, progress, on);
  const { own, elsewhere } = batches;
  if (own.length + elsewhere.length > 0) begin(storeBatches(batches, progress, on));
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
