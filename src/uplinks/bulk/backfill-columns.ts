// Backfill columns: unchanged samples of one form, stored without an object for each.
import type { HeldFor } from '../../cluster/owned-devices.ts';
import { type EpochMs, isInstant } from '../../model/instant.ts';
import {
  type DurableItem,
  type DurableRows,
  isRows,
  sampleCountOf,
} from '../../model/journal-entry.ts';
import type { Json } from '../../model/json.ts';
import { isTooOld } from '../../model/kept-samples.ts';
import { problem } from '../../model/problem.ts';
import { durablePart } from '../../model/request-part.ts';
import { defaultTopic, type Sample } from '../../model/sample.ts';
import { missing } from '../../structures/missing.ts';
import { elementsOf } from '../../transports/http/sample-elements.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { plausibleFrom, type ValidatedSample } from '../validate/sample-validation.ts';
import {
  type BackfillDevice,
  type BackfillProgress,
  type BatchStages,
  partNameOf,
  partOf,
  type PartPlace,
} from './backfill-batches.ts';
import {
  type DeviceRows,
  type RowDevices,
  type RowsByDevice,
  rowsByDevice,
} from './device-rows.ts';

export interface ColumnStages
  extends Pick<BatchStages, 'validate' | 'admit' | 'announce' | 'heldFor' | 'turns'> {
  readonly announceRows: (rows: DurableRows) => void;
  /** Undefined, and nothing is stored, when columns do not take the data. */
  readonly appendColumns: (entries: ColumnsToStore) => Promise<PlacedParts | undefined>;
}

interface ColumnsToStore
  extends Pick<SampleColumns, 'timestamps' | 'columns' | 'texts' | 'example'> {
  readonly receivedAt: EpochMs;
  /** The rows of each device. */
  readonly parts: readonly PartToStore[];
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
export interface StoredColumns {
  readonly done: Promise<void>;
  /** Rows that must be handled separately, in their order: nothing of their devices is stored. */
  readonly left: readonly number[];
}

interface ColumnsOfDevices extends Pick<PartPlace, 'groupStart'> {
  readonly samples: SampleColumns;
  /** Samples without a device are skipped. */
  readonly devices: RowDevices;
  readonly receivedAt: EpochMs;
  /** Of a request with an Idempotency-Key: the samples have the bytes that they were read from. */
  readonly attempt?: Attempt | undefined;
}

/**
 * Begins to store the samples. Those of a device are left when one of them is not later than the one
 * before or than all that is stored, when the device does not take their topic and keys, when it is
 * of another node, or when an earlier try of the request stored them. Undefined, and nothing is stored, when one of the samples would be changed or noted.
 */
export async function storeColumns(
  { samples, devices, receivedAt, groupStart, attempt }: ColumnsOfDevices,
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
  const held = parts.map(({ device }) => heldFor(device.id));
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
    const isElsewhere = heldFor !== undefined && heldFor(device.id) === undefined;
    if (!isAscending || !isStored || isElsewhere) {
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
  }: Pick<ColumnsOfDevices, 'attempt'> & { readonly progress: BackfillProgress },
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
