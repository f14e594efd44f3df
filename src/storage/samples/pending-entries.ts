// Pending entries: the samples of entries between arrival and visibility, so that repetitions of them are recognized too.
import type { EpochMs } from '../../model/instant.ts';
import {
  cursorAt,
  cursorsAt,
  type DurableEntry,
  type DurableRows,
  type JournalEntry,
  type SamplesSummary,
} from '../../model/journal-entry.ts';
import type { JsonObject } from '../../model/json.ts';
import {
  dataOfColumns,
  type LoggedEntry,
  rowAtTime,
  type RowColumns,
  type RowKind,
  samplesOfColumns,
} from '../log/logged-entry.ts';
import { DataSet, sameSampleData } from '../log/data-shape.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { EntryRows } from '../log/entry-codec.ts';
import { type RowBlock, RowRange } from './row-block.ts';
import type { SampleStore } from './sample-store.ts';

type EntrySamples = JournalEntry['samples'];
type EntrySample = EntrySamples[number];

/** Where the pending entries of a device end. */
export type PendingEnd = PendingDevice<PendingEntry>;

export interface Refusal {
  readonly error: unknown;
}

export class PendingEntries {
  readonly #devices = new PendingDevices<PendingEntry>();
  #idle: PromiseWithResolvers<void> | undefined;

  /** Discards the samples of the device: what comes now repeats none of them. */
  readonly forget = (deviceId: string): void => {
    for (let entry = this.#devices.find(deviceId)?.oldest; entry !== undefined; entry = entry.later)
      entry.forget();
  };

  /**
   * Reserves the samples of the entry that repeat no other pending one. Release it when the entry
   * is visible or refused.
   */
  reserve({ deviceId, samples }: Pick<JournalEntry, 'deviceId' | 'samples'>): PendingEntry {
    const entry = new PendingEntry(this.#devices.of(deviceId), samples);
    entry.device.add(entry);
    return entry;
  }

  /**
   * Reserves rows that are all later than those of other pending entries of the device; undefined
   * when they are not.
   */
  reserveColumns(rows: RowColumns): PendingEntry | undefined {
    const { deviceId } = rows;
    const oldest = rows.timestamps[rows.from] ?? Number.NEGATIVE_INFINITY;
    for (let other = this.#devices.find(deviceId)?.oldest; other !== undefined; other = other.later)
      if (other.newest >= oldest) return undefined;
    const entry = new PendingEntry(this.#devices.of(deviceId), [], rows);
    entry.device.add(entry);
    return entry;
  }

  release(entry: PendingEntry, refusal?: Refusal): void {
    const { device } = entry;
    entry.settle(refusal);
    entry.place();
    device.remove(entry);
    if (device.oldest !== undefined) return;
    this.#devices.remove(device);
    if (this.#devices.count() === 0) this.#idle?.resolve();
  }

  /** What is pending of the device; undefined without an entry. */
  find(deviceId: string): PendingEnd | undefined {
    return this.#devices.count() === 0 ? undefined : this.#devices.find(deviceId);
  }

  /** Resolves when no entry is pending. */
  async idle(): Promise<void> {
    if (this.#devices.count() === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }
}

/** A class, because every entry makes one. */
export class PendingEntry {
  readonly device: PendingDevice<PendingEntry>;
  /** The entry of the device that came after this one. */
  later: PendingEntry | undefined;
  /**
   * Samples that repeat no pending one, in their order, those that are not for the store among
   * them.
   */
  readonly fresh: EntrySamples;
  /** Pending entries with samples that this one repeats; undefined without any. */
  repeated: Set<PendingEntry> | undefined;
  /** The reserved sample of an entry with one; most entries have one and are never asked. */
  #single: EntrySample | undefined;
  /** Those of other entries, by topic; most entries have one. */
  #reserved: { readonly topic: string; readonly samples: PendingSamples }[] | undefined;
  #settled: PromiseWithResolvers<void> | undefined;
  #isSettled = false;
  #refusal: Refusal | undefined;
  /** Undefined for an entry of samples. */
  #columns: RowColumns | undefined;
  #isPlaced = false;

  constructor(device: PendingEntry['device'], samples: EntrySamples, columns?: RowColumns) {
    this.device = device;
    this.#columns = columns;
    this.fresh = samples.length === 1 ? this.#freshSingle(samples) : this.#freshOf(samples);
    device.newest = Math.max(device.newest, this.newest);
    device.unplaced++;
  }

  /** The entry has a place in the log, or gets none. */
  place(): void {
    if (!this.#isPlaced) this.device.unplaced--;
    this.#isPlaced = true;
  }

  /**
   * Numbers `count` rows of the device from `nextOrder` on, after those of other pending entries;
   * returns the first number. To be called when the entry gets its place in the log.
   */
  takeOrders(nextOrder: number, count: number): number {
    this.place();
    const first = Math.max(this.device.nextOrder, nextOrder);
    this.device.nextOrder = first + count;
    return first;
  }

  /**
   * Resolves when the samples that this entry repeats are visible; rejects when one of them was
   * refused.
   */
  async repeatedDone(): Promise<void> {
    for (const other of this.repeated ?? []) await other.#done();
  }

  settle(refusal: Refusal | undefined): void {
    this.#isSettled = true;
    this.#refusal = refusal;
    if (this.#settled !== undefined) settle(this.#settled, refusal);
  }

  /** Time of the newest sample; -Infinity without any. */
  get newest(): EpochMs {
    const columns = this.#columns;
    if (columns !== undefined) return columns.timestamps[columns.to - 1] ?? Number.NaN;
    return this.fresh.reduce(
      (newest, { timestamp }) => Math.max(newest, timestamp),
      Number.NEGATIVE_INFINITY,
    );
  }

  forget(): void {
    this.#single = undefined;
    this.#columns = undefined;
    this.#reserved = undefined;
  }

  #freshSingle(samples: EntrySamples): EntrySamples {
    const [sample] = samples;
    if (sample === undefined || !sample.stored) return samples;
    if (this.#isPending(sample)) return [];
    this.#single = sample;
    return samples;
  }

  #freshOf(samples: EntrySamples): EntrySamples {
    if (samples.every((sample) => this.#reserve(sample))) return samples;
    // Starts again, because a second look finds its own reservations.
    this.#reserved = undefined;
    return samples.filter((sample) => this.#reserve(sample));
  }

  /** Returns whether the sample repeats no pending one. */
  #reserve(sample: EntrySample): boolean {
    if (!sample.stored) return true;
    const own = this.#ofTopic(sample.topic) ?? this.#addTopic(sample.topic);
    if (own.has(sample.timestamp, sample.data) || this.#isPending(sample)) return false;
    own.add(sample);
    return true;
  }

  /** Whether another entry of the device reserved the sample. */
  #isPending(sample: EntrySample): boolean {
    for (let other = this.device.oldest; other !== undefined; other = other.later) {
      if (!other.#has(sample)) continue;
      this.repeated ??= new Set();
      this.repeated.add(other);
      return true;
    }
    return false;
  }

  #has({ topic, timestamp, data }: EntrySample): boolean {
    const single = this.#single;
    if (this.#columns !== undefined) return columnsHave(this.#columns, { topic, timestamp, data });
    if (single === undefined) return this.#ofTopic(topic)?.has(timestamp, data) === true;
    return (
      single.timestamp === timestamp && single.topic === topic && sameSampleData(single.data, data)
    );
  }

  #ofTopic(topic: string): PendingSamples | undefined {
    for (const reserved of this.#reserved ?? [])
      if (reserved.topic === topic) return reserved.samples;
    return undefined;
  }

  #addTopic(topic: string): PendingSamples {
    const samples = new PendingSamples();
    this.#reserved ??= [];
    this.#reserved.push({ topic, samples });
    return samples;
  }

  #done(): Promise<void> {
    this.#settled ??= Promise.withResolvers();
    if (this.#isSettled) settle(this.#settled, this.#refusal);
    return this.#settled.promise;
  }
}

function columnsHave(
  rows: RowColumns,
  {
    topic,
    timestamp,
    data,
  }: { readonly topic: string; readonly timestamp: EpochMs; readonly data: JsonObject },
): boolean {
  const row = topic === rows.head.topic ? rowAtTime(rows, timestamp) : -1;
  return row >= 0 && sameSampleData(dataOfColumns(rows, row), data);
}

function settle(
  { resolve, reject }: PromiseWithResolvers<void>,
  refusal: Refusal | undefined,
): void {
  if (refusal === undefined) resolve();
  else reject(refusal.error);
}

// Pending samples: samples in the journal that are not stored yet, whose repetitions are duplicates.

interface PendingSample {
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
}

/**
 * Samples of one entry and topic. A class, because every entry makes one and most are never asked.
 */
class PendingSamples {
  readonly #samples: PendingSample[] = [];
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;
  // Made when a time within the range is asked for: samples in the order of time never need it.
  #byTime: Map<EpochMs, DataSet> | undefined;

  add(sample: PendingSample): void {
    this.#samples.push(sample);
    if (sample.timestamp < this.#oldest) this.#oldest = sample.timestamp;
    if (sample.timestamp > this.#newest) this.#newest = sample.timestamp;
    if (this.#byTime !== undefined) note(this.#byTime, sample);
  }

  has(timestamp: EpochMs, data: JsonObject): boolean {
    if (timestamp < this.#oldest || timestamp > this.#newest) return false;
    if (this.#byTime === undefined) {
      this.#byTime = new Map();
      for (const sample of this.#samples) note(this.#byTime, sample);
    }
    return this.#byTime.get(timestamp)?.has(data) === true;
  }
}

function note(byTime: Map<EpochMs, DataSet>, { timestamp, data }: PendingSample): void {
  const found = byTime.get(timestamp) ?? new DataSet();
  byTime.set(timestamp, found);
  found.add(data);
}

// Pending devices: devices with entries in progress, in a hash table that creates no garbage.

const firstBuckets = 1 << 10;

/** An item of a device; items of one device are a chain in the order in which they came. */
interface Chained<Item> {
  later: Item | undefined;
}

/** What is in progress for one device. A class, because most entries make one. */
class PendingDevice<Item extends Chained<Item>> {
  readonly id: string;
  readonly hash: number;
  /** The next device of the same bucket. */
  next: PendingDevice<Item> | undefined;
  oldest: Item | undefined;
  #newest: Item | undefined;
  /** See `PendingEntry.takeOrders`. */
  nextOrder = 0;
  /** No sample of an entry that was in progress is later. */
  newest = Number.NEGATIVE_INFINITY;
  /** Entries in progress that have no place in the log yet. */
  unplaced = 0;

  constructor(id: string, hash: number, next: PendingDevice<Item> | undefined) {
    this.id = id;
    this.hash = hash;
    this.next = next;
  }

  add(item: Item): void {
    if (this.#newest === undefined) this.oldest = item;
    else this.#newest.later = item;
    this.#newest = item;
  }

  /** Items usually go in the order in which they came. */
  remove(item: Item): void {
    let before: Item | undefined;
    let found = this.oldest;
    for (; found !== undefined && found !== item; found = found.later) before = found;
    if (found === undefined) return;
    if (before === undefined) this.oldest = item.later;
    else before.later = item.later;
    if (this.#newest === item) this.#newest = before;
    // What is gone must not keep what came later alive.
    item.later = undefined;
  }
}

/** Ids are those that this service created: callers cannot choose ids that meet in one bucket. */
class PendingDevices<Item extends Chained<Item>> {
  #buckets = emptyBuckets<Item>(firstBuckets);
  #count = 0;

  count(): number {
    return this.#count;
  }

  find(id: string): PendingDevice<Item> | undefined {
    return this.#findIn(id, hashOf(id));
  }

  /** Finds or adds the device. */
  of(id: string): PendingDevice<Item> {
    const hash = hashOf(id);
    const known = this.#findIn(id, hash);
    if (known !== undefined) return known;
    if (this.#count === this.#buckets.length) this.#grow();
    const at = hash & (this.#buckets.length - 1);
    const device = new PendingDevice(id, hash, this.#buckets[at]);
    this.#buckets[at] = device;
    this.#count++;
    return device;
  }

  remove(device: PendingDevice<Item>): void {
    const at = device.hash & (this.#buckets.length - 1);
    let before: PendingDevice<Item> | undefined;
    let found = this.#buckets[at];
    for (; found !== undefined && found !== device; found = found.next) before = found;
    if (found === undefined) return;
    if (before === undefined) this.#buckets[at] = device.next;
    else before.next = device.next;
    device.next = undefined;
    this.#count--;
  }

  #findIn(id: string, hash: number): PendingDevice<Item> | undefined {
    let device = this.#buckets[hash & (this.#buckets.length - 1)];
    while (device !== undefined && (device.hash !== hash || device.id !== id)) device = device.next;
    return device;
  }

  #grow(): void {
    const old = this.#buckets;
    this.#buckets = emptyBuckets(old.length * 2);
    for (const first of old)
      for (let device = first, next = first; device !== undefined; device = next) {
        next = device.next;
        const at = device.hash & (this.#buckets.length - 1);
        device.next = this.#buckets[at];
        this.#buckets[at] = device;
      }
  }
}

function emptyBuckets<Item extends Chained<Item>>(
  length: number,
): (PendingDevice<Item> | undefined)[] {
  return new Array<PendingDevice<Item> | undefined>(length).fill(undefined);
}

/** Computed here, because the runtime hashes each new string for its own maps. */
function hashOf(id: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x0100_0193);
  return hash ^ (hash >>> 15);
}

// Placed rows: an entry with its place in the log, given to the store in groups, and the answer to its append.

// Entry groups: what one sync makes durable goes to the store in one call, and is answered in order.

/** Entries that become durable together. */
export class EntryGroup {
  readonly durable: Promise<void>;
  /** In the order of positions. */
  readonly items: (LoggedEntry | RowRange)[] = [];
  /** Resolves when the items are visible; rejects when they were refused. */
  visible: Promise<void> = Promise.resolve();
  /** Ranges whose rows have an answer each. */
  readonly #single: RowRange[] = [];
  #range = 0;
  #row = 0;
  readonly #next: () => DurableEntry;

  constructor(durable: Promise<void>, idOf: (device: number) => string) {
    this.durable = durable;
    this.#next = () => this.#nextSingle(idOf);
  }

  /** Resolves to the entry of the row that `addSingle` was called for last. */
  answer(): Promise<DurableEntry> {
    // Answers are given in the order of the calls, so all share one function.
    return this.visible.then(this.#next);
  }

  /** Adds the newest row of the block, whose entry has this position. */
  addSingle(block: RowBlock, position: number, bytes: number): void {
    const last = this.#single.at(-1);
    if (last !== undefined && last === this.items.at(-1) && last.block === block) {
      extend(last, bytes);
      return;
    }
    const range = this.addRange(block, position, bytes);
    this.#single.push(range);
  }

  /** As `addSingle`, for the first of rows that have one answer. */
  addRange(block: RowBlock, position: number, bytes: number): RowRange {
    const range = new RowRange(block, block.length - 1, position);
    extend(range, bytes);
    this.items.push(range);
    return range;
  }

  #nextSingle(idOf: (device: number) => string): DurableEntry {
    let range = this.#single[this.#range]!;
    if (this.#row === range.to - range.from) {
      range = this.#single[++this.#range]!;
      this.#row = 0;
    }
    return durableRowOf(range, this.#row++, idOf);
  }
}

/** By the newest row of its block. */
export function extend(range: RowRange, bytes: number): void {
  range.to++;
  range.bytes += bytes;
}

/** `left` is called before the answers of a group are given. */
export class EntryGroups {
  readonly #store: SampleStore;
  readonly #left: (group: EntryGroup, refusal?: { readonly error: unknown }) => void;
  readonly #inFlight = new Set<EntryGroup>();
  readonly #idOf: (device: number) => string;
  #newest: EntryGroup | undefined;

  constructor(
    store: SampleStore,
    left: (group: EntryGroup, refusal?: { readonly error: unknown }) => void,
  ) {
    this.#store = store;
    this.#left = left;
    const { idOf } = store.numbered;
    this.#idOf = idOf;
  }

  /** Groups that are not visible yet, the oldest first. */
  get inFlight(): ReadonlySet<EntryGroup> {
    return this.#inFlight;
  }

  /** The group of entries that become durable with the promise. */
  of(durable: Promise<void>): EntryGroup {
    // Entries of one group have the same promise.
    if (this.#newest?.durable !== durable) {
      this.#newest = new EntryGroup(durable, this.#idOf);
      this.#inFlight.add(this.#newest);
      this.#newest.visible = this.#finish(this.#newest);
    }
    return this.#newest;
  }

  async #finish(group: EntryGroup): Promise<void> {
    try {
      await group.durable;
      await this.#store.write(group.items, 'new');
    } catch (error) {
      this.#inFlight.delete(group);
      this.#left(group, { error });
      throw error;
    }
    this.#inFlight.delete(group);
    this.#left(group);
  }
}

export interface PlacedRows extends LoggedEntry {
  readonly rows: EntryRows | RowColumns;
  readonly entry: JournalEntry;
  readonly duplicates: number;
  readonly storedAt: EpochMs;
}

export function durableEntryOf(append: PlacedRows): DurableEntry {
  const { entry, rows, duplicates, position, storedAt } = append;
  if ('columns' in rows) return new DurableColumns(rows, append);
  const samples = storedSamples(rows.samples, position, storedAt);
  return { ...entry, position, samples, duplicates };
}

const nothing: readonly never[] = Object.freeze([]);

/** The entry of rows in columns, which has nothing else. */
export function columnEntryOf(deviceId: string, receivedAt: EpochMs): JournalEntry {
  return { deviceId, receivedAt, notes: nothing, samples: nothing };
}

/**
 * The samples are built at their first read, because most bulk entries have no reader. A class,
 * because a request can bring a thousand of them.
 */
class DurableColumns implements DurableEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly notes = nothing;
  readonly position: number;
  readonly duplicates = 0;
  readonly summary: SamplesSummary;
  declare readonly trace?: NonNullable<RowColumns['trace']>;
  readonly #rows: RowColumns;
  readonly #storedAt: EpochMs;
  #samples: StoredSample[] | undefined;

  constructor(rows: RowColumns, { entry, position, storedAt }: PlacedRows) {
    const { head, timestamps, from, to, trace } = rows;
    const { workspaceId, dataFlowId } = head;
    this.deviceId = entry.deviceId;
    this.receivedAt = entry.receivedAt;
    this.position = position;
    const oldest = timestamps[from] ?? entry.receivedAt;
    this.summary = { count: to - from, workspaceId, dataFlowId, oldest };
    // Absent without a trace, as in other entries.
    if (trace !== undefined) this.trace = trace;
    this.#rows = rows;
    this.#storedAt = storedAt;
  }

  get samples(): StoredSample[] {
    this.#samples ??= storedSamples(samplesOfColumns(this.#rows), this.position, this.#storedAt);
    return this.#samples;
  }
}

/** The entry of a row, by its place in the range. */
function durableRowOf(
  { block, from, position: first }: RowRange,
  row: number,
  idOf: (device: number) => string,
): DurableEntry {
  const at = from + row;
  const position = first + row;
  const entry = block.entryOf(at);
  if (entry === undefined) return new DurableRow(block, at, position, idOf(block.devices[at]!));
  const samples = storedSamples(entry.samples, position, block.storedAt[at]!);
  return { ...entry, position, samples, duplicates: 0 };
}

/** The rows of a range of one request, in runs of one data flow. Each row is only its sample. */
export function durableRowsOf(range: RowRange, idOf: (device: number) => string): DurableRows[] {
  const { block, from, to } = range;
  const runs: DurableRows[] = [];
  for (let start = from, at = from + 1; at <= to; at++) {
    if (at < to && isOfFlow(block.kindOf(at), block.kindOf(start))) continue;
    runs.push(new RowRun(range, start, at, idOf));
    start = at;
  }
  return runs;
}

function isOfFlow(one: RowKind, other: RowKind): boolean {
  if (one === other) return true;
  return one.workspaceId === other.workspaceId && one.dataFlowId === other.dataFlowId;
}

class RowRun implements DurableRows {
  readonly position: number;
  readonly length: number;
  readonly receivedAt: EpochMs;
  readonly summary: SamplesSummary;
  readonly #block: RowBlock;
  readonly #from: number;
  readonly #idOf: (device: number) => string;

  constructor(
    { block, from: first, position }: RowRange,
    from: number,
    to: number,
    idOf: (device: number) => string,
  ) {
    const { workspaceId, dataFlowId } = block.kindOf(from);
    this.position = position + from - first;
    this.length = to - from;
    this.receivedAt = block.receivedAt[from]!;
    const oldest = block.timestamps.subarray(from, to).reduce((a, b) => Math.min(a, b));
    this.summary = { count: this.length, workspaceId, dataFlowId, oldest };
    this.#block = block;
    this.#from = from;
    this.#idOf = idOf;
  }

  entryAt(place: number): DurableEntry {
    const at = this.#from + place;
    return new DurableRow(
      this.#block,
      at,
      this.position + place,
      this.#idOf(this.#block.devices[at]!),
    );
  }
}

/** As `DurableColumns`, for one row of a block. */
class DurableRow implements DurableEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly notes = nothing;
  readonly position: number;
  readonly duplicates = 0;
  readonly #block: RowBlock;
  readonly #at: number;
  #samples: StoredSample[] | undefined;
  #summary: SamplesSummary | undefined;

  constructor(block: RowBlock, at: number, position: number, deviceId: string) {
    this.deviceId = deviceId;
    this.receivedAt = block.receivedAt[at]!;
    this.position = position;
    this.#block = block;
    this.#at = at;
  }

  get summary(): SamplesSummary {
    if (this.#summary === undefined) {
      const { workspaceId, dataFlowId } = this.#block.kindOf(this.#at);
      const oldest = this.#block.timestamps[this.#at]!;
      this.#summary = { count: 1, workspaceId, dataFlowId, oldest };
    }
    return this.#summary;
  }

  get samples(): StoredSample[] {
    if (this.#samples === undefined) {
      const sample = this.#block.sampleOf(this.#at, this.deviceId);
      this.#samples = storedSamples([sample], this.position, this.#block.storedAt[this.#at]!);
    }
    return this.#samples;
  }
}

function storedSamples(
  samples: EntryRows['samples'],
  position: number,
  storedAt: EpochMs,
): StoredSample[] {
  const [single] = samples;
  if (samples.length === 1 && single !== undefined)
    return [{ ...single, storedAt, cursor: cursorAt(position, 1) }];
  const cursorOf = cursorsAt(position);
  return samples.map(
    (sample, i): StoredSample => ({ ...sample, storedAt, cursor: cursorOf(i + 1) }),
  );
}
