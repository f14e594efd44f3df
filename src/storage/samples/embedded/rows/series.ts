// What the store knows in memory: devices, for each topic its sealed chunks and unsealed rows, and usage by workspace.
import { dayMs, type EpochMs, hourMs } from '../../../../model/instant.ts';
import type { JsonObject } from '../../../../model/json.ts';
import { dataBefore } from '../../../../model/sample-changes.ts';
import { missing } from '../../../../structures/missing.ts';
import { DataSet, sameSampleData } from '../../../log/data-shape.ts';
import type { RetentionTimes, UnreadableSamples } from '../../sample-store.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { DecodedChunks } from '../queries/sealed-rows.ts';
import {
  type ColumnsToAdd,
  dataAt,
  keepFromOf,
  metaAt,
  OpenRows,
  type Origin,
  placeOf,
  rowAt,
  type RowGroup,
  type Rows,
  type RowToAdd,
  type SealedPlace,
  type SortedRows,
  visibleFrom,
} from './open-rows.ts';
import { isRemoved, type Removal, Removals } from './removals.ts';
import { IdMap } from '../../../../structures/hash-tables.ts';
import type { StoreLimits } from '../store-limits.ts';

/** With more samples at one instant than this, they are kept at hand. */
const crowdMin = 16;
/** Requests that send at the same time have an instant each. */
const crowdsMax = 4;

/** The rows of one topic of a device. */
export class Series {
  readonly device: Device;
  readonly topic: string;
  /** Sealed chunks by their oldest row. */
  chunks: Chunk[] = [];
  /**
   * The newest row among each chunk and all before it in the list: says how far back overlapping
   * chunks may lie.
   */
  newestSoFar: EpochMs[] = [];
  /** Closed rows that wait to be sealed, oldest first. */
  closing: OpenRows[] = [];
  /** Undefined while no row came since the last was closed. */
  open: OpenRows | undefined;
  /** Time of the newest visible sample; -Infinity without any. */
  newest: EpochMs = Number.NEGATIVE_INFINITY;
  /** The largest place in the order of the device of a row in a chunk; -1 without any. */
  sealedOrder = -1;
  /** New rows go to open rows here, not to the tables: the device sends often. */
  isBusy = false;
  /**
   * What is stored at the crowded instants that were asked for last, so that each further sample of
   * them need not be compared with all; undefined without any.
   */
  crowds: Map<EpochMs, DataSet> | undefined;

  constructor(device: Device, topic: string) {
    this.device = device;
    this.topic = topic;
  }

  /** Puts a sealed chunk in its place. */
  addChunk(chunk: Chunk): void {
    const { chunks, device } = this;
    let at = chunks.length;
    while (at > 0 && isAfter(chunks[at - 1], chunk)) at--;
    chunks.splice(at, 0, chunk);
    device.usage.add(chunk);
    this.#noteNewest(at);
    this.newest = Math.max(this.newest, chunk.newest);
    this.sealedOrder = Math.max(this.sealedOrder, chunk.maxOrder);
    device.nextOrder = Math.max(device.nextOrder, chunk.maxOrder + 1);
  }

  /** Replaces some chunks by others with the same rows, or, with none, drops them. */
  exchangeChunks(gone: ReadonlySet<Chunk>, added: readonly Chunk[]): void {
    const { usage } = this.device;
    const kept = this.chunks.filter((chunk) => {
      if (gone.has(chunk)) usage.remove(chunk);
      return !gone.has(chunk);
    });
    for (const chunk of added) usage.add(chunk);
    this.chunks = [...kept, ...added].sort((a, b) => a.oldest - b.oldest);
    this.newestSoFar = [];
    this.#noteNewest(0);
    this.lookAgain();
  }

  /** Rows count no more: what is known of all of them is found again. */
  lookAgain(): void {
    this.crowds = undefined;
    const groups = [...this.chunks, ...this.unsealedRows()];
    this.newest = groups.reduce(
      (newest, group) => Math.max(newest, group.newest),
      Number.NEGATIVE_INFINITY,
    );
  }

  #noteNewest(from: number): void {
    const { chunks, newestSoFar } = this;
    newestSoFar.length = chunks.length;
    let newest = newestSoFar[from - 1] ?? Number.NEGATIVE_INFINITY;
    for (let i = from; i < chunks.length; i++) {
      const chunk = chunks[i] ?? missing('chunk');
      newest = Math.max(newest, chunk.newest);
      newestSoFar[i] = newest;
    }
  }

  /**
   * The chunks that may have rows from `from` on and before `to`, by their oldest row, damaged ones
   * among them.
   */
  chunksBetween(from: EpochMs, to: EpochMs): Chunk[] {
    const { chunks, newestSoFar } = this;
    let end = 0;
    for (let high = chunks.length; end < high; ) {
      const middle = (end + high) >>> 1;
      const chunk = chunks[middle] ?? missing('chunk');
      if (chunk.oldest < to) end = middle + 1;
      else high = middle;
    }
    const found: Chunk[] = [];
    for (let i = end - 1; i >= 0; i--) {
      const newest = newestSoFar[i] ?? missing('newest time');
      if (newest < from) break;
      const chunk = chunks[i] ?? missing('chunk');
      if (chunk.newest >= from) found.push(chunk);
    }
    return found.reverse();
  }

  /** All unsealed rows. */
  unsealedRows(): readonly OpenRows[] {
    const { closing, open } = this;
    return open === undefined ? closing : [...closing, open];
  }

  /** The unsealed rows that may lie between the times. */
  unsealedBetween(from: EpochMs, to: EpochMs): OpenRows[] {
    return this.unsealedRows().filter(
      (rows) => rows.length > 0 && rows.newest >= from && rows.oldest < to,
    );
  }

  /** All visible rows that may lie between the times. */
  groupsBetween(from: EpochMs, to: EpochMs, decoded: DecodedChunks): RowGroup[] {
    const sealed = this.chunksBetween(from, to).map((chunk) => groupOfChunk(chunk, decoded));
    return [...sealed, ...this.unsealedBetween(from, to)];
  }

  /** Whether the row with that place in the order of the device is in a chunk. */
  isInChunks(order: number, decoded: DecodedChunks): boolean {
    if (order > this.sealedOrder) return false;
    return this.chunks.some((chunk) => {
      const { minOrder, maxOrder, rows } = chunk;
      if (order < minOrder || order > maxOrder) return false;
      if (maxOrder - minOrder + 1 === rows || chunk.damaged) return true;
      return decoded.sorted(chunk)?.orders.includes(order) !== false;
    });
  }

  /** Whether an identical sample is stored; `removals` are those of the device. */
  has(
    timestamp: EpochMs,
    data: JsonObject,
    decoded: DecodedChunks,
    removals: readonly Removal[] | undefined,
  ): boolean {
    if (timestamp > this.newest) return false;
    const crowd = this.crowds?.get(timestamp);
    if (crowd !== undefined) return crowd.has(data);
    let compared = 0;
    const isSame = (other: JsonObject): boolean => {
      compared++;
      return sameSampleData(other, data);
    };
    if (this.#someAtInstant(timestamp, decoded, removals, isSame)) return true;
    if (compared > crowdMin) this.#keepCrowd(timestamp, decoded, removals);
    return false;
  }

  #keepCrowd(
    timestamp: EpochMs,
    decoded: DecodedChunks,
    removals: readonly Removal[] | undefined,
  ): void {
    const added = new DataSet();
    this.#someAtInstant(timestamp, decoded, removals, (data) => {
      added.add(data);
      return false;
    });
    this.crowds ??= new Map();
    this.crowds.set(timestamp, added);
    const [oldest] = this.crowds.keys();
    if (this.crowds.size > crowdsMax && oldest !== undefined) this.crowds.delete(oldest);
  }

  /**
   * Whether it is wanted of the data of a visible sample of exactly that time. Lists of what is
   * there would be most of the garbage that a repeated bulk request makes.
   */
  #someAtInstant(
    timestamp: EpochMs,
    decoded: DecodedChunks,
    removals: readonly Removal[] | undefined,
    isWanted: (data: JsonObject) => boolean,
  ): boolean {
    const { topic } = this;
    const isGone = (order: number): boolean =>
      removals !== undefined && isRemoved(removals, topic, timestamp, order);
    const ofRow = (rows: Rows, row: number): boolean =>
      isWanted(dataAt(rows, row)) || dataBefore(metaAt(rows, row), topic, timestamp).some(isWanted);
    for (const rows of this.unsealedBetween(timestamp, timestamp + 1))
      for (const row of rows.rowsAt(timestamp))
        if (!isGone(rows.orders[row]!) && ofRow(rows, row)) return true;
    for (const chunk of this.chunksBetween(timestamp, timestamp + 1)) {
      const sorted = chunk.damaged ? undefined : decoded.sorted(chunk);
      if (sorted === undefined) continue;
      const inChunk = (): boolean => {
        for (
          let place = placeOf(sorted, timestamp);
          place < sorted.length && sorted.timestamps[place] === timestamp;
          place++
        )
          if (!isGone(sorted.orders[place]!) && ofRow(sorted.rows, rowAt(sorted, place)))
            return true;
        return false;
      };
      if (decoded.guarded(chunk, inChunk) === true) return true;
    }
    return false;
  }
}

function isAfter(other: Chunk | undefined, chunk: Chunk): boolean {
  return other !== undefined && other.oldest > chunk.oldest;
}

export class Device {
  readonly id: string;
  readonly topics = new Map<string, Series>();
  /** Rows of the device are numbered in the order of storing. */
  nextOrder = 0;
  /** Where its chunks are counted, together with those of others. */
  usage: ChunkUsage;

  constructor(id: string, usage: ChunkUsage) {
    this.id = id;
    this.usage = usage;
  }

  seriesOf(topic: string): Series {
    let series = this.topics.get(topic);
    if (series === undefined) {
      series = new Series(this, topic);
      this.topics.set(topic, series);
    }
    return series;
  }

  /** The chunks of a deleted device count no more, though they may still be there for a while. */
  endCounting(): void {
    for (const { chunks } of this.topics.values())
      for (const chunk of chunks) this.usage.remove(chunk);
    this.usage = new ChunkUsage();
  }
}

/** What damaged rows were, as readers are told. */
export function unreadableSamples(
  deviceId: string,
  topic: string,
  { oldest: from, newest: to, sealed }: RowGroup,
): UnreadableSamples {
  return { deviceId, topic, from, to, place: sealed?.place ?? 'memory' };
}

/** The rows of a chunk, read when they are asked for. */
export function groupOfChunk(chunk: Chunk, decoded: DecodedChunks): RowGroup {
  return new ChunkGroup(chunk, decoded);
}

/** A class, because a device may have hundreds, and objects with own getters cost a microsecond each. */
class ChunkGroup implements RowGroup, SealedPlace {
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  readonly length: number;
  readonly visibleFrom: EpochMs;
  readonly #chunk: Chunk;
  readonly #decoded: DecodedChunks;

  constructor(chunk: Chunk, decoded: DecodedChunks) {
    this.oldest = chunk.oldest;
    this.newest = chunk.newest;
    this.length = chunk.rows;
    this.visibleFrom = visibleFrom(chunk.origins);
    this.#chunk = chunk;
    this.#decoded = decoded;
  }

  get sealed(): SealedPlace {
    return this;
  }

  get place(): string {
    return `${this.#chunk.file.name} at ${this.#chunk.offset}`;
  }

  get damaged(): boolean {
    return this.#chunk.damaged;
  }

  guarded<T>(read: () => T): T | undefined {
    return this.#decoded.guarded(this.#chunk, read);
  }

  sorted(): SortedRows | undefined {
    return this.#chunk.damaged ? undefined : this.#decoded.sorted(this.#chunk);
  }

  last(count: number): SortedRows | undefined {
    return this.#decoded.lastOf(this.#chunk, count);
  }
}

// Chunk usage: samples and bytes of chunks by workspace, updated with every change.

class ChunkUsage {
  readonly #byWorkspace = new Map<string, { samples: number; bytes: number }>();

  get byWorkspace(): ReadonlyMap<string, { readonly samples: number; readonly bytes: number }> {
    return this.#byWorkspace;
  }

  add(chunk: Chunk): void {
    this.#count(chunk, 1);
  }

  remove(chunk: Chunk): void {
    this.#count(chunk, -1);
  }

  #count({ origins, originRows, rows, length }: Chunk, sign: 1 | -1): void {
    for (const [i, { workspaceId }] of origins.entries()) {
      const samples = originRows[i] ?? missing('count of an origin');
      const sum = this.#byWorkspace.get(workspaceId) ?? { samples: 0, bytes: 0 };
      this.#byWorkspace.set(workspaceId, sum);
      sum.samples += sign * samples;
      sum.bytes += sign * Math.round((length * samples) / rows);
    }
  }
}

// The devices of the store and their unsealed rows: where rows go, and when open rows are closed so that they can be sealed.

/**
 * Rows that open rows have room for at first, for a topic that never filled any and for one that
 * did.
 */
const capacityFirst = 16;
const capacityNext = 256;

export interface ClosedRows {
  readonly series: Series;
  readonly rows: OpenRows;
  /** What the rows take in memory. */
  readonly bytes: number;
}

export class SeriesRegistry {
  readonly #limits: StoreLimits;
  readonly devices = new IdMap<Device>();
  /** What chunks of all devices take. */
  readonly chunkUsage = new ChunkUsage();
  /**
   * Devices of which entries before a position do not count, as long as such entries may still
   * come.
   */
  readonly dropped = new Map<string, number>();
  readonly removals = new Removals();
  /** Devices that are dropped in memory only, because the disk refused. */
  readonly notDropped = new Set<string>();
  readonly origins = new Origins();
  /** Series with rows that are not sealed. */
  readonly unsealed = new Set<Series>();
  readonly #dropping = new Set<{ readonly id: string }>();
  readonly #closed: ClosedRows[] = [];
  #closedBytes = 0;
  #journalledBytes = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  /** The device is being dropped until the returned function is called. */
  beginDropping(id: string): () => void {
    const device = { id };
    this.#dropping.add(device);
    return () => void this.#dropping.delete(device);
  }

  isDropping(deviceId: string): boolean {
    return [...this.#dropping].some(({ id }) => id === deviceId);
  }

  deviceOf(id: string): Device {
    let device = this.devices.get(id);
    if (device === undefined) {
      device = new Device(id, this.chunkUsage);
      this.devices.set(id, device);
    }
    return device;
  }

  /** Makes a row visible. `position` is that of its entry. */
  addRow(series: Series, row: RowToAdd, position: number): void {
    this.#openFor(series, row.timestamp, position).append(row);
    if (row.timestamp > series.newest) series.newest = row.timestamp;
  }

  /** Makes rows visible that are in the order of time. */
  addColumns(series: Series, added: ColumnsToAdd, position: number): void {
    const { timestamps, to } = added.rows;
    for (let from = added.rows.from; from < to; ) {
      const open = this.#openFor(series, timestamps[from]!, position);
      // Open rows may be full at an end of an hour, or with their number of rows.
      const room = Math.max(1, this.#limits.rowsMax - open.length);
      const end = Math.min(from + room, endOfHour(timestamps, from, to));
      open.appendColumns(added, from, end);
      from = end;
    }
    series.newest = Math.max(series.newest, timestamps[to - 1] ?? series.newest);
  }

  /** The open rows that take a row of that time. */
  #openFor(series: Series, timestamp: EpochMs, position: number): OpenRows {
    if (series.open !== undefined && isFull(series.open, timestamp, this.#limits))
      this.close(series);
    if (series.open === undefined) {
      const capacity = series.chunks.length === 0 ? capacityFirst : capacityNext;
      series.open = new OpenRows(position, this.#journalledBytes, capacity);
      this.unsealed.add(series);
    }
    return series.open;
  }

  /** Counts the bytes that the journal takes; open rows remember where theirs began. */
  noteJournalled(bytes: number): void {
    this.#journalledBytes += bytes;
  }

  get journalledBytes(): number {
    return this.#journalledBytes;
  }

  /** Takes the oldest closed rows that wait to be sealed; undefined when none do. */
  nextClosed(): ClosedRows | undefined {
    const next = this.#closed.shift();
    if (next !== undefined) this.#closedBytes -= next.bytes;
    return next;
  }

  get closedCount(): number {
    return this.#closed.length;
  }

  /** What they take in memory. */
  get closedBytes(): number {
    return this.#closedBytes;
  }

  close(series: Series): void {
    const { open } = series;
    if (open === undefined) return;
    series.open = undefined;
    if (open.length < this.#limits.rowsToCloseAtDay) series.isBusy = false;
    this.#addClosed(series, open);
  }

  /** Unsealed rows of the series make room for others; undefined adds or removes. */
  exchangeRows(series: Series, gone: OpenRows | undefined, added: OpenRows | undefined): void {
    if (gone !== undefined && series.open === gone) series.open = added;
    else {
      series.closing = series.closing.filter((rows) => rows !== gone);
      if (added !== undefined) this.#addClosed(series, added);
    }
    if (added !== undefined) this.unsealed.add(series);
  }

  #addClosed(series: Series, rows: OpenRows): void {
    series.closing.push(rows);
    this.#closed.push({ series, rows, bytes: rows.bytes });
    this.#closedBytes += rows.bytes;
  }

  /** Forgets that the series has unsealed rows when it has none. */
  settle(series: Series): void {
    if (series.open === undefined && series.closing.length === 0) this.unsealed.delete(series);
  }
}

/** The origins of rows. */
export class Origins {
  readonly #byWorkspace = new Map<string, Map<string | null, Origin>>();
  #rules: RetentionTimes | undefined;
  #last: Origin | undefined;

  all(): Origin[] {
    return [...this.#byWorkspace.values()].flatMap((ofWorkspace) => [...ofWorkspace.values()]);
  }

  /** Hides rows by these rules from now on, also those of origins that come later. */
  setRetention(rules: RetentionTimes): void {
    this.#rules = rules;
    for (const origin of this.all()) origin.keepFrom = keepFromOf(origin, rules);
  }

  /** The same object for the same origin. */
  of(workspaceId: string, dataFlowId: string | null): Origin {
    // Consecutive rows usually have the same origin.
    const last = this.#last;
    if (last?.workspaceId === workspaceId && last.dataFlowId === dataFlowId) return last;
    this.#last = this.#find(workspaceId, dataFlowId);
    return this.#last;
  }

  #find(workspaceId: string, dataFlowId: string | null): Origin {
    const ofWorkspace = this.#byWorkspace.get(workspaceId) ?? new Map<string | null, Origin>();
    this.#byWorkspace.set(workspaceId, ofWorkspace);
    let origin = ofWorkspace.get(dataFlowId);
    if (origin === undefined) {
      const names = { workspaceId, dataFlowId };
      origin = { ...names, keepFrom: keepFromOf(names, this.#rules) };
      ofWorkspace.set(dataFlowId, origin);
    }
    return origin;
  }
}

/** The place behind the last time of the hour. */
function endOfHour(timestamps: Float64Array, from: number, to: number): number {
  const hourEnd = (Math.floor(timestamps[from]! / hourMs) + 1) * hourMs;
  let end = from + 1;
  while (end < to && timestamps[end]! < hourEnd) end++;
  return end;
}

/** Whether the row of that time should begin new open rows. */
function isFull(rows: OpenRows, timestamp: EpochMs, limits: StoreLimits): boolean {
  const { length, newest } = rows;
  if (length < limits.rowsToCloseAtDay)
    return rows.cells > limits.openCellsMax || rows.bytes > limits.openRowsBytesMax;
  if (timestamp > newest && Math.floor(timestamp / dayMs) !== Math.floor(newest / dayMs))
    return true;
  if (length < limits.rowsToCloseAtHour) return rows.cells > limits.openCellsMax;
  if (timestamp > newest && Math.floor(timestamp / hourMs) !== Math.floor(newest / hourMs))
    return true;
  return length >= limits.rowsMax;
}
