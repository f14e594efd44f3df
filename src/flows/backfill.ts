// Backfill journey: samples of a request are read, validated, appended in batches by device, and announced.
import { BrokenJson } from '../ingest/http/json-groups.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { Problem, problem } from '../model/problem.ts';
import {
  type BackfillProgress,
  backfillDevice,
  type BatchStages,
  batchesOf,
  type FoundDevice,
  type RejectedSample,
  storeBatches,
} from './backfill-batches.ts';
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
  readonly groups: AsyncIterable<readonly Json[]> | Iterable<readonly Json[]>;
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

export interface BackfillStages extends BatchStages {
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
  return storeGroups(input, (elements) => elements.map(() => device), on);
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
  return storeGroups(input, createNamedDevices(input.principal, on), on);
}

/** Returns for each element its device, or why it is rejected. */
type FindDevices = (
  elements: readonly Json[],
) => readonly FoundDevice[] | Promise<readonly FoundDevice[]>;

async function storeGroups(
  input: SampleGroups,
  findDevices: FindDevices,
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
    for await (const elements of input.groups) {
      if (on.stopping()) throw problem('stopping');
      if (progress.read + elements.length > backfillLimits.samplesMax)
        throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
      const devices = await findDevices(elements);
      const batches = await batchesOf({ elements, devices, ...input }, progress, on);
      if (batches.length === 0) continue;
      const stored = storeBatches(batches, progress, on);
      // A failure is handled where the group is awaited.
      stored.catch(() => undefined);
      underWay.push(stored);
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
