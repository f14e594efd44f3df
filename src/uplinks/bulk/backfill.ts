// Backfill journey: samples of a request are read, validated, appended in batches by device, and announced.
import type { HeldFor } from '../../cluster/owned-devices.ts';
import { type EpochMs, isInstant } from '../../model/instant.ts';
import { durablePart, isRows, sampleCountOf } from '../../model/journal-entry.ts';
import type { Json } from '../../model/json.ts';
import { isTooOld, type NotStored, NotStoredCounts } from '../../model/kept-samples.ts';
import type { Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import { defaultTopic } from '../../model/sample.ts';
import { missing } from '../../structures/missing.ts';
import { BrokenJson } from '../../transports/http/json-groups.ts';
import { elementsOf, isColumns, type SampleGroup } from '../../transports/http/sample-groups.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { Attempt } from '../idempotency/idempotency.ts';
import { plausibleFrom, type Validated } from '../validate/sample-validation.ts';
import {
  backfillDevice,
  type BackfillDevice,
  type BackfillProgress,
  BackfillBatches,
  type FoundDevice,
  type OtherOwners,
  partNameOf,
  partOf,
  type RejectedSample,
  type Validate,
} from './backfill-batches.ts';
import {
  deviceOfRow,
  type DeviceRows,
  refusalsOf,
  type RowDevices,
  rowsByDevice,
  type RowsByDevice,
} from './device-rows.ts';
import { type DeviceSearch, NamedDevices } from './named-devices.ts';
import type { SampleStages } from '../sample-stages.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';

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
  /** In place of the validation of other samples. */
  readonly validate?: Validate | undefined;
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

/** A request with more samples takes a turn for each group of them. */
const largeSamplesMin = 1_000;
/** Elements that are handled in one go: each takes many times the time of a row of columns. */
const elementsPerTurn = 200;

const samplesLimit = `${backfillLimits.samplesMax.toLocaleString('en-US')} samples`;

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

/** Takes what is on its way to the disk; resolves when there is room for more. */
type Begin = (stored: Promise<void>) => Promise<void>;

interface GroupToStore {
  readonly receivedAt: EpochMs;
  readonly attempt?: Attempt | undefined;
  readonly validate?: Validate | undefined;
  readonly group: SampleGroup;
  readonly begin: Begin;
}

type ElementGroup = Parameters<BackfillBatches['of']>[0];

/** A group in columns, with its devices. */
interface ColumnGroup {
  readonly samples: SampleColumns;
  /** Samples without a device are skipped. */
  readonly devices: RowDevices;
  readonly receivedAt: EpochMs;
  readonly groupStart: number;
  /** Of a request with an Idempotency-Key: the samples have the bytes that they were read from. */
  readonly attempt?: Attempt | undefined;
  readonly validate?: Validate | undefined;
}

/** Stores samples in bulk. */
export class Backfills {
  readonly #stages: SampleStages;
  readonly #devices: DeviceSearch;
  readonly #stopping: () => boolean;
  readonly #turns: WorkTurns | undefined;
  readonly #others: OtherOwners | undefined;
  readonly #batches: BackfillBatches;

  constructor(
    stages: SampleStages,
    devices: DeviceSearch,
    /** Asked before every group; true ends the request with 503. */
    stopping: () => boolean,
    /** Organizations take turns; absent where none is shared. */
    turns?: WorkTurns,
    /** Absent when all devices are of this node. */
    others?: OtherOwners,
  ) {
    this.#stages = stages;
    this.#devices = devices;
    this.#stopping = stopping;
    this.#turns = turns;
    this.#others = others;
    this.#batches = new BackfillBatches(stages, turns, others);
  }

  /**
   * Resolves when every sample of the device that can be stored is durable. Throws Problem
   * `backfillRejected` when there were samples and all were refused, and when the request breaks off,
   * a Problem that says what was stored before.
   */
  async backfill(input: Backfill): Promise<BackfillReceipt> {
    const device = backfillDevice(await this.#devices.findRoute(input.deviceId));
    const all = { ofAll: device };
    const ofElements = (elements: readonly Json[]) => elements.map(() => device);
    const { organizationId } = device.origin;
    const of = { organizationId, ofElements, ofColumns: () => all };
    return notAllRejected(await this.storeGroups(input, of));
  }

  /**
   * As `backfill`, for samples of many devices. An element whose device the caller cannot write to is
   * a rejected one, with the same words as for an unknown device (contract 37). The samples of one
   * device are stored in the order sent.
   */
  async backfillNamed(input: NamedBackfill): Promise<BackfillReceipt> {
    return notAllRejected(
      await this.storeGroups(input, new NamedDevices(input.principal, this.#devices)),
    );
  }

  /**
   * Resolves when every sample that can be stored is durable, also when all were rejected. Throws when
   * the request breaks off.
   */
  async storeGroups(input: SampleGroups, of: RequestDevices): Promise<BackfillReceipt> {
    const progress: BackfillProgress = {
      correlationId: this.#stages.newId(),
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
        if (this.#stopping()) throw problem('stopping');
        if (progress.read + group.length > backfillLimits.samplesMax)
          throw problem('backfillTooLarge', { ...outcomeOf(progress), limit: samplesLimit });
        await this.#inPlace(of, progress, begin, (beginHere) =>
          this.#storeGroup({ ...input, group, begin: beginHere }, of, progress),
        );
        // The journal is busy with one group while the next is prepared, at the turn of the organization.
        await (progress.read < largeSamplesMin
          ? this.#turns?.wait(of.organizationId)
          : this.#turns?.nextTurn(of.organizationId));
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

  /**
   * Few groups of large requests of an organization are stored at once: more would not be faster, and
   * all their samples would be alive.
   */
  async #inPlace(
    { organizationId }: RequestDevices,
    { read }: BackfillProgress,
    begin: Begin,
    store: (begin: Begin) => Promise<void>,
  ): Promise<void> {
    const turns = this.#turns;
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

  async #storeGroup(
    input: GroupToStore,
    of: RequestDevices,
    progress: BackfillProgress,
  ): Promise<void> {
    const { group } = input;
    const groupStart = progress.read;
    const devices = isColumns(group) ? await of.ofColumns(group) : undefined;
    if (isColumns(group) && devices !== undefined) {
      await this.#storeFound({ ...input, groupStart, samples: group, devices }, progress);
      return;
    }
    const elements = isColumns(group) ? elementsOf(group) : group;
    const found = await of.ofElements(elements);
    await this.#storeElements({ ...input, groupStart, elements, devices: found }, progress);
  }

  /** Begins to store the samples: those that columns do not take as elements, some at a time. */
  async #storeFound(
    found: ColumnGroup & { readonly begin: Begin },
    progress: BackfillProgress,
  ): Promise<void> {
    const { begin, samples, devices, groupStart, attempt } = found;
    const stored = await this.#storeColumns(found, progress);
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
      await this.#storeElements(indices === undefined ? some : { ...some, indices }, progress);
    }
  }

  /** Begins to store the elements that are not rejected. */
  async #storeElements(
    { begin, ...group }: ElementGroup & { readonly begin: Begin },
    progress: BackfillProgress,
  ): Promise<void> {
    const { elements, devices, indices, attempt } = group;
    const step = stepOf(attempt, elements);
    for (let from = 0; from < elements.length; from += step) {
      const to = from + step;
      const some = {
        ...group,
        elements: elements.slice(from, to),
        devices: devices.slice(from, to),
      };
      const places = indices && { indices: indices.slice(from, to) };
      const batches = await this.#batches.of({ ...some, ...places }, progress);
      const { own, elsewhere } = batches;
      if (own.length + elsewhere.length > 0) await begin(this.#batches.store(batches, progress));
    }
  }

  // Columns: unchanged samples of one form, stored without an object for each.

  /**
   * Begins to store the samples. Those of a device are left when one of them is not later than the one
   * before or than all that is stored, when the device does not take their topic and keys, when it is
   * of another node, or when an earlier try of the request stored them. Undefined, and nothing is stored, when one of the samples would be changed or noted.
   */
  async #storeColumns(
    { samples, devices, receivedAt, groupStart, attempt, validate }: ColumnGroup,
    progress: BackfillProgress,
  ): Promise<StoredColumns | undefined> {
    const times = timesOf(samples.timestamps);
    if (times === undefined) return undefined;
    const { oldest, latest } = times;
    const { topic = defaultTopic, texts, example } = samples;
    // What is valid of the latest is valid of all: they have the same keys and types.
    const sample = { deviceId: '', topic, timestamp: latest, data: example };
    const validated = validate === undefined ? this.#stages.validate(sample) : validate(sample);
    if (validated.sample !== sample || validated.notes.length > 0) return undefined;
    const { timestamps, columns, parts, place } = rowsByDevice(samples, devices);
    const keys = attempt && keysOf(samples, place, groupStart, attempt);
    const isStored = (part: DeviceRows): boolean => keys?.isStored(part) === true;
    const left = parts.filter(isStored);
    const fresh = parts.filter((part) => !isStored(part));
    const isKept = ({ device: { keptDays } }: DeviceRows): boolean =>
      !isTooOld(oldest, keptDays, receivedAt);
    left.push(...fresh.filter((part) => !isKept(part)));
    const taken = await this.#takenParts(fresh.filter(isKept), validated, left);
    const headOf = createHeads(topic, progress);
    const heads = taken.map((part) => {
      const { device, from, to } = part;
      const { id: deviceId, origin } = device;
      const trace = keys && { duplicateKey: keys.of(part) };
      return { deviceId, head: headOf(origin), from, to, trace };
    });
    const entries = { receivedAt, parts: heads, timestamps, columns, texts, example };
    const append = () => this.#stages.appendColumns(entries);
    const organizationId = taken[0]?.device.origin.organizationId;
    const placed =
      organizationId === undefined || this.#turns === undefined
        ? await append()
        : await this.#turns.run(organizationId, append);
    if (placed === undefined) return undefined;
    for (const part of placed.left) left.push(...taken.slice(part, part + 1));
    const stored = () => this.#announced(placed.outcome, progress, attempt);
    const heldFor = this.#others?.heldFor;
    const done = heldFor === undefined ? stored() : whileAllOwned(heldFor, taken, stored);
    return { done, left: rowsOf(left, place) };
  }

  /** The parts whose devices take the sample as it is; the others are added to `left`. */
  async #takenParts(
    parts: RowsByDevice['parts'],
    validated: Validated,
    left: DeviceRows[],
  ): Promise<DeviceRows[]> {
    const { admit } = this.#stages;
    const heldFor = this.#others?.heldFor;
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
      const add = ([admitted]: readonly Validated[]): void =>
        void (admitted === validated ? taken : left).push(part);
      const admitted = admit(device.id, [validated]);
      // Most devices are known.
      if (admitted instanceof Promise) waiting.push(admitted.then(add));
      else add(admitted);
    }
    await Promise.all(waiting);
    return taken;
  }

  async #announced(
    outcome: PlacedOutcome,
    progress: BackfillProgress,
    attempt: Attempt | undefined,
  ): Promise<void> {
    const { items, failure } = await outcome;
    for (const durable of items) {
      // Rows have no key.
      if (isRows(durable)) {
        this.#stages.announceRows(durable);
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
      this.#stages.announce(durable);
      progress.accepted += sampleCountOf(durable);
    }
    if (failure !== undefined) throw failure.error;
  }
}

function notAllRejected(receipt: BackfillReceipt): BackfillReceipt {
  const { accepted, duplicates, rejected } = receipt;
  if (rejected.length > 0 && accepted + duplicates === 0)
    throw problem('backfillRejected', receipt);
  return receipt;
}

/** A part of a request with an Idempotency-Key is named by its whole group. */
function stepOf(attempt: Attempt | undefined, all: readonly unknown[]): number {
  return attempt === undefined ? elementsPerTurn : all.length;
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

// Backfill columns: which rows of a group they take, and under which heads.

type HeadToStore = BackfillDevice['origin'] & {
  readonly correlationId: string;
  readonly topic: string;
  readonly stored: boolean;
};

type PlacedOutcome = NonNullable<Awaited<ReturnType<SampleStages['appendColumns']>>>['outcome'];

/** Samples on their way to the disk. */
interface StoredColumns {
  readonly done: Promise<void>;
  /** Rows that must be handled separately, in their order: nothing of their devices is stored. */
  readonly left: readonly number[];
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
  groupStart: number,
  attempt: Attempt,
) {
  const elements = elementsOf(samples);
  const ofRow = (row: number): Json => elements[row] ?? missing('element');
  return {
    isStored: ({ device }: DeviceRows) => attempt.isStored(partNameOf(groupStart, device.id)),
    of(part: DeviceRows): string {
      const own = rowsOf([part], place).map(ofRow);
      const { name, contentHash } = partOf(own, { groupStart, attempt, deviceId: part.device.id });
      return attempt.duplicateKey(name, contentHash);
    },
  };
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
