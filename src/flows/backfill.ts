// Backfill journey: samples of a request are read, validated, appended in batches by device, and announced.
import { BrokenJson } from '../ingest/http/json-groups.ts';
import { elementsOf } from '../ingest/http/sample-elements.ts';
import { isColumns, type SampleGroup } from '../ingest/http/sample-groups.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { Problem, problem } from '../model/problem.ts';
import {
  type BackfillDevice,
  type BackfillProgress,
  backfillDevice,
  type BatchStages,
  batchesOf,
  type FoundDevice,
  type RejectedSample,
  storeBatches,
} from './backfill-batches.ts';
import { type ColumnStages, type StoredGroup, storeColumns } from './backfill-columns.ts';
import type { Attempt } from './idempotency.ts';
import { createNamedDevices, type NamedDeviceStages } from './named-devices.ts';

export const backfillLimits = {
  /** Samples of one request. */
  samplesMax: 100_000,
  /** Groups of one request on their way to the disk: one is synced while the next is read. */
  groupsUnderWayMax: 2,
  /** Requests in progress. Further requests get 503 with Retry-After. */
  requestsMax: 100,
} as const;

interface SampleGroups {
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
  const device = backfillDevice(await on.findRoute(input.deviceId), on.newId());
  return storeGroups(input, { device, devicesOf: (elements) => elements.map(() => device) }, on);
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
  return storeGroups(input, { devicesOf: createNamedDevices(input.principal, on) }, on);
}

/** Returns for each element its device, or why it is rejected. */
type FindDevices = (
  elements: readonly Json[],
) => readonly FoundDevice[] | Promise<readonly FoundDevice[]>;

interface RequestDevices {
  /** The device of all samples; undefined when each names its own. */
  readonly device?: BackfillDevice;
  readonly devicesOf: FindDevices;
}

async function storeGroups(
  input: SampleGroups,
  of: RequestDevices,
  on: BackfillStages,
): Promise<BackfillReceipt> {
  const progress: BackfillProgress = {
    read: 0,
    accepted: 0,
    duplicates: 0,
    rejected: [],
    notes: new Map(),
  };
  const underWay: Promise<void>[] = [];
  let failure: unknown;
  try {
    for await (const group of input.groups) {
      if (on.stopping()) throw problem('stopping');
      if (progress.read + group.length > backfillLimits.samplesMax)
        throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
      const stored = await storeGroup({ ...input, group }, of, progress, on);
      if (stored === undefined) continue;
      // A failure is handled where the group is awaited.
      stored.done.catch(() => undefined);
      underWay.push(stored.done);
      if (underWay.length >= backfillLimits.groupsUnderWayMax) await underWay.shift();
    }
  } catch (error) {
    failure = error;
  }
  // All groups, so that the counts are also right after a failure.
  for (const group of await Promise.allSettled(underWay))
    if (group.status === 'rejected') failure ??= group.reason;
  if (failure !== undefined) throw brokenOff(failure, progress);
  const receipt = outcomeOf(progress);
  if (receipt.rejected.length > 0 && receipt.rejected.length === progress.read) {
    throw problem('backfillRejected', receipt);
  }
  return receipt;
}

/** Begins to store the group; undefined when it has nothing to store. */
async function storeGroup(
  input: GroupToStore,
  devices: RequestDevices,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<StoredGroup | undefined> {
  const { group, receivedAt } = input;
  if (!isColumns(group)) return storeElements({ ...input, elements: group }, devices, progress, on);
  const { device } = devices;
  if (device !== undefined && group.deviceIds === undefined) {
    const stored = await storeColumns({ samples: group, device, receivedAt }, progress, on);
    if (stored !== undefined) {
      progress.read += group.length;
      return stored;
    }
  }
  return storeElements({ ...input, elements: elementsOf(group) }, devices, progress, on);
}

interface GroupToStore extends Pick<SampleGroups, 'receivedAt' | 'attempt'> {
  readonly group: SampleGroup;
}

async function storeElements(
  input: GroupToStore & { readonly elements: readonly Json[] },
  { devicesOf }: RequestDevices,
  progress: BackfillProgress,
  on: BackfillStages,
): Promise<StoredGroup | undefined> {
  const devices = await devicesOf(input.elements);
  const batches = await batchesOf({ ...input, devices }, progress, on);
  return batches.length === 0 ? undefined : { done: storeBatches(batches, progress, on) };
}

function outcomeOf({ accepted, duplicates, rejected }: BackfillProgress): BackfillReceipt {
  return { accepted, duplicates, rejected };
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
  if (failure.problem === 'storageFull') return problem('backfillStorageFull', outcome);
  if (failure.status === 503) return problem('backfillInterrupted', outcome);
  return failure;
}
