// Memtable: unsealed rows of one shape and topic; a chain connects those of each device.
import { type DataShape, leafKinds } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import { textKey } from '../../../../structures/hash-tables.ts';
import {
  type Column,
  type Origin,
  type RowGroup,
  type Rows,
  type RowToAdd,
  type SortedRows,
  visibleFrom,
} from '../rows/open-rows.ts';
import { columnKindOf } from '../runs/page.ts';
import type { MemtableRows } from '../runs/run-writer.ts';

// Memtable columns: the arrays of a memtable in shared memory, and rows of them for readers.

type Values = Float64Array | Uint8Array | Uint32Array;

interface MemtableArrays {
  readonly device: Uint32Array;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** The row of the same device stored before, or `noRow`. */
  readonly previous: Uint32Array;
  readonly originIds: Uint16Array;
  readonly columns: readonly Values[];
}

function columnOf(
  leaf: DataShape['leaves'][number],
  values: Values,
  texts: readonly string[],
): Column {
  const none = new Uint32Array(0);
  if (values instanceof Uint32Array)
    return { path: leaf.path, kind: leaf.kind, numbers: new Uint8Array(0), ids: values, texts };
  return { path: leaf.path, kind: leaf.kind, numbers: values, ids: none, texts: [] };
}

/** Rows in the order of storing. */
function groupOfRows(stored: Uint32Array, rows: Rows): RowGroup {
  const { timestamps, orders, origins, originIds } = rows;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  let visibleFrom = Number.POSITIVE_INFINITY;
  for (const row of stored) {
    const timestamp = timestamps[row]!;
    if (timestamp < oldest) oldest = timestamp;
    if (timestamp > newest) newest = timestamp;
    visibleFrom = Math.min(visibleFrom, origins[originIds?.[row] ?? 0]!.keepFrom);
  }
  let sorted: SortedRows | undefined;
  return {
    oldest,
    newest,
    length: stored.length,
    visibleFrom,
    sorted: () => {
      if (sorted === undefined) {
        const permutation = inOrderOfTime(stored, timestamps);
        sorted = {
          rows,
          length: stored.length,
          timestamps: Float64Array.from(permutation, (row) => timestamps[row]!),
          orders: Float64Array.from(permutation, (row) => orders[row]!),
          permutation,
        };
      }
      return sorted;
    },
  };
}

/** Sorted by time; rows of one instant stay in the order of storing. */
function inOrderOfTime(rows: Uint32Array, timestamps: Float64Array): Uint32Array {
  for (let i = 1; i < rows.length; i++) {
    if (timestamps[rows[i]!]! >= timestamps[rows[i - 1]!]!) continue;
    return rows.sort((a, b) => timestamps[a]! - timestamps[b]! || a - b);
  }
  return rows;
}

/** What gives memory of a size, with any content. */
export type Memory = { take(bytes: number): SharedArrayBuffer };

const newMemory: Memory = { take: (bytes) => new SharedArrayBuffer(bytes) };

/**
 * Arrays of the capacity with the values of `old`. Their memory is shared, so that a worker reads it without a copy.
 * What follows the values of `old` is undefined.
 */
function newArrays(
  shape: DataShape,
  capacity: number,
  old: MemtableArrays | undefined,
  memory: Memory = newMemory,
): MemtableArrays {
  return {
    device: copied(Uint32Array, capacity, old?.device, memory),
    timestamps: copied(Float64Array, capacity, old?.timestamps, memory),
    orders: copied(Float64Array, capacity, old?.orders, memory),
    previous: copied(Uint32Array, capacity, old?.previous, memory),
    originIds: copied(Uint16Array, capacity, old?.originIds, memory),
    columns: shape.leaves.map(({ kind }, i) => {
      const values = old?.columns[i];
      if (kind === leafKinds.number) return copied(Float64Array, capacity, values, memory);
      if (columnKindOf(kind) === 'text') return copied(Uint32Array, capacity, values, memory);
      return copied(Uint8Array, capacity, values, memory);
    }),
  };
}

/** The memory of the arrays. */
function buffersOf({ columns, ...arrays }: MemtableArrays): SharedArrayBuffer[] {
  return [...Object.values(arrays), ...columns]
    .map(({ buffer }) => buffer)
    .filter((buffer) => buffer instanceof SharedArrayBuffer);
}

function copied<T extends Values | Uint16Array>(
  constructor: { new (buffer: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  capacity: number,
  old: ArrayLike<number> | undefined,
  memory: Memory = newMemory,
): T {
  const values = new constructor(memory.take(capacity * constructor.BYTES_PER_ELEMENT));
  if (old !== undefined) values.set(old);
  return values;
}

/** Notes the row in an index of rows by time. */
function noteRow(index: Map<EpochMs, number[]>, timestamp: EpochMs, row: number): void {
  const rows = index.get(timestamp);
  if (rows === undefined) index.set(timestamp, [row]);
  else rows.push(row);
}

// Device chains: newest row and row count of each device, in an open hash table.

const firstPlaces = 1 << 8;
/** Words of a place: the number of the device plus 1, 0 when it is free; its newest row; its rows. */
const stride = 4;
const rowAt = 1;
const lengthAt = 2;
/** Marks the end of a chain. */
const noRow = 0xffff_ffff;

/** Device numbers are below 2^32 - 1. */
class DeviceChains {
  #places = new Uint32Array(firstPlaces * stride);
  #count = 0;

  /** Devices that have rows. */
  count(): number {
    return this.#count;
  }

  /** The newest row of the device; `noRow` without any. */
  newestRow(device: number): number {
    const place = this.#placeOf(device);
    return this.#places[place + lengthAt] === 0 ? noRow : this.#places[place + rowAt]!;
  }

  length(device: number): number {
    return this.#places[this.#placeOf(device) + lengthAt]!;
  }

  /** Makes `row` the newest of the device; returns the one before. */
  push(device: number, row: number): number {
    let place = this.#placeOf(device);
    if (this.#places[place] === 0 && (this.#count + 1) * 2 * stride > this.#places.length) {
      this.#grow();
      place = this.#placeOf(device);
    }
    if (this.#places[place] === 0) {
      this.#places[place] = device + 1;
      this.#count++;
    }
    const before = this.#places[place + lengthAt] === 0 ? noRow : this.#places[place + rowAt]!;
    this.#places[place + rowAt] = row;
    this.#places[place + lengthAt]!++;
    return before;
  }

  /** Removes the rows of the device. */
  drop(device: number): void {
    this.#places[this.#placeOf(device) + lengthAt] = 0;
  }

  forEach(visit: (device: number, length: number) => void): void {
    for (let at = 0; at < this.#places.length; at += stride)
      if (this.#places[at + lengthAt] !== 0)
        visit(this.#places[at]! - 1, this.#places[at + lengthAt]!);
  }

  /** The place of the device, or the free one where it belongs. */
  #placeOf(device: number): number {
    const mask = this.#places.length - 1;
    // Eight neighbors stay together, because they often come one after the other. Multiplication
    // spreads the eights: large ranges in sequence would be searched from their beginning.
    const block = Math.imul(device >>> 3, 0x9e37_79b1) << 3;
    let place = Math.imul(block | (device & 7), stride) & mask;
    while (this.#places[place] !== 0 && this.#places[place] !== device + 1)
      place = (place + stride) & mask;
    return place;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += stride) {
      if (old[at] === 0) continue;
      const place = this.#placeOf(old[at]! - 1);
      this.#places[place] = old[at]!;
      this.#places[place + rowAt] = old[at + rowAt]!;
      this.#places[place + lengthAt] = old[at + lengthAt]!;
    }
  }
}

// Origin rows: the origins of the rows of a memtable, and how many rows each has.

/** A class, because one call per row goes through it. */
class OriginRows {
  readonly origins: Origin[] = [];
  /** Of each origin, by its place in `origins`. */
  readonly counts: number[] = [];
  readonly #ids = new Map<Origin, number>();
  #last: Origin | undefined;
  #lastId = 0;

  /** Counts a row of the origin; returns the place of the origin. */
  add(origin: Origin): number {
    // Consecutive rows usually have the same origin.
    if (origin !== this.#last) {
      this.#lastId = this.#idOf(origin);
      this.#last = origin;
    }
    this.counts[this.#lastId]!++;
    return this.#lastId;
  }

  #idOf(origin: Origin): number {
    let id = this.#ids.get(origin);
    if (id === undefined) {
      id = this.origins.push(origin) - 1;
      this.counts.push(0);
      this.#ids.set(origin, id);
    }
    return id;
  }
}

const capacityFirst = 4_096;
/** Distinct ids of origins, less those of one entry. */
const originsMax = 60_000;
/** Texts are copied to the thread that seals them: more of them would delay this one. */
const textBytesMax = 4 * 1024 * 1024;
/** With more rows of a device than this, rows of one time are looked up in an index. */
const indexedFrom = 64;
/** Devices with such an index at most. */
const indexesMax = 64;

/** A class, because one call per row goes through it and its fields are arrays that grow. */
export class Memtable {
  readonly shape: DataShape;
  readonly topic: string;
  /** Journal positions of the oldest and of the newest row. */
  readonly firstPosition: number;
  lastPosition: number;
  /** Bytes of the journal when the table sealer met it first; undefined before. */
  journalledSince: number | undefined;
  length = 0;
  oldest = Number.POSITIVE_INFINITY;
  newest = Number.NEGATIVE_INFINITY;
  readonly #rowsMax: number;
  readonly #chains = new DeviceChains();
  readonly #texts: string[] = [];
  readonly #textIds = new Map<string, number>();
  #textBytes = 0;
  readonly #isText: readonly boolean[];
  readonly #ofOrigins = new OriginRows();
  readonly #memory: Memory | undefined;
  #arrays: MemtableArrays;
  #metaIds: Uint32Array | undefined;
  readonly #indexes = new Map<number, Map<EpochMs, number[]>>();
  readonly #forgotten = new Set<number>();

  /** Memory for `capacity` rows is allocated immediately, and more when needed. */
  constructor(
    {
      shape,
      topic,
      rowsMax,
      capacity = capacityFirst,
      memory,
    }: {
      readonly shape: DataShape;
      readonly topic: string;
      /** It is full with this number of rows. */
      readonly rowsMax: number;
      readonly capacity?: number;
      /** Where its arrays are; new memory without. */
      readonly memory?: Memory;
    },
    firstPosition: number,
  ) {
    this.shape = shape;
    this.#isText = shape.leaves.map(({ kind }) => columnKindOf(kind) === 'text');
    this.topic = topic;
    this.firstPosition = firstPosition;
    this.lastPosition = firstPosition;
    this.#rowsMax = rowsMax;
    this.#memory = memory;
    this.#arrays = newArrays(shape, Math.min(capacity, rowsMax), undefined, memory);
  }

  get isFull(): boolean {
    const { length } = this.#ofOrigins.origins;
    return this.length >= this.#rowsMax || length >= originsMax || this.#textBytes >= textBytesMax;
  }

  /** Memory that its arrays and texts take, about. */
  get bytes(): number {
    const { columns, device } = this.#arrays;
    const perRow = columns.reduce((sum, column) => sum + column.BYTES_PER_ELEMENT, 26);
    return device.length * perRow + this.#textBytes + this.#chains.count() * 40;
  }

  /** The origins of its rows, and the number of rows of each. */
  get originRows(): readonly (readonly [Origin, number])[] {
    return this.#ofOrigins.origins.map((origin, i) => [origin, this.#ofOrigins.counts[i]!]);
  }

  /** Rows before have expired for every origin that has rows. */
  get visibleFrom(): EpochMs {
    return visibleFrom(this.#ofOrigins.origins.filter((_, i) => this.#ofOrigins.counts[i]! > 0));
  }

  /** Adds a row of a durable entry: readers see it immediately. */
  add(number: number, row: RowToAdd): void {
    const at = this.length;
    if (at === this.#arrays.device.length) this.#grow();
    const { device, timestamps, orders, previous, originIds, columns } = this.#arrays;
    device[at] = number;
    timestamps[at] = row.timestamp;
    orders[at] = row.order;
    originIds[at] = this.#ofOrigins.add(row.origin);
    const { values, valuesAt } = row;
    const { numbers } = values;
    for (let i = 0; i < columns.length; i++) {
      const isText = this.#isText[i]!;
      columns[i]![at] = isText ? this.#textId(values.textAt(valuesAt + i)) : numbers[valuesAt + i]!;
    }
    if (row.meta !== undefined) this.#setMeta(at, row.meta);
    previous[at] = this.#chains.push(number, at);
    this.length = at + 1;
    if (row.timestamp < this.oldest) this.oldest = row.timestamp;
    if (row.timestamp > this.newest) this.newest = row.timestamp;
    const index = this.#indexes.get(number);
    if (index !== undefined) noteRow(index, row.timestamp, at);
  }

  has(device: number): boolean {
    return this.#chains.length(device) > 0;
  }

  rowCount(device: number): number {
    return this.#chains.length(device);
  }

  /** Calls back with each device that has rows and their number. */
  forEachDevice(visit: (device: number, rows: number) => void): void {
    this.#chains.forEach(visit);
  }

  /** Removes the rows of a device that was deleted or whose rows are now in chunks; returns their number. */
  forget(device: number): number {
    const { originIds, previous } = this.#arrays;
    let count = 0;
    for (let row = this.#chains.newestRow(device); row !== noRow; row = previous[row]!) {
      this.#ofOrigins.counts[originIds[row]!]!--;
      count++;
    }
    this.#chains.drop(device);
    this.#indexes.delete(device);
    // A device that was deleted gets another number, and one whose rows are in chunks came when no
    // more rows do.
    this.#forgotten.add(device);
    return count;
  }

  /** Devices whose rows count no more, though the columns still contain them. */
  get forgotten(): ReadonlySet<number> {
    return this.#forgotten;
  }

  /** Time of the newest row of the device; -Infinity without any. */
  newestOf(device: number): EpochMs {
    const { timestamps, previous } = this.#arrays;
    let newest = Number.NEGATIVE_INFINITY;
    for (let row = this.#chains.newestRow(device); row !== noRow; row = previous[row]!)
      if (timestamps[row]! > newest) newest = timestamps[row]!;
    return newest;
  }

  /** Rows that have expired but are still here. */
  expiredRows(): number {
    const { timestamps, originIds } = this.#arrays;
    const keepFrom = this.#ofOrigins.origins.map((origin) => origin.keepFrom);
    if (keepFrom.every((from) => from <= this.oldest)) return 0;
    let count = 0;
    for (let row = 0; row < this.length; row++)
      if (timestamps[row]! < keepFrom[originIds[row]!]!) count++;
    return count;
  }

  /** All rows of the device with exactly that time; `rows` has their columns. */
  rowsAt(device: number, timestamp: EpochMs): readonly number[] {
    const count = this.#chains.length(device);
    if (count === 0 || timestamp < this.oldest || timestamp > this.newest) return [];
    if (count >= indexedFrom) return this.#indexOf(device).get(timestamp) ?? [];
    const found: number[] = [];
    const { timestamps, previous } = this.#arrays;
    for (let row = this.#chains.newestRow(device); row !== noRow; row = previous[row]!)
      if (timestamps[row] === timestamp) found.push(row);
    return found;
  }

  /** The rows of the device from `from` on and before `to`; undefined without any. */
  groupOf(device: number, from: EpochMs, to: EpochMs): RowGroup | undefined {
    if (this.newest < from || this.oldest >= to) return undefined;
    const { timestamps, previous } = this.#arrays;
    const found: number[] = [];
    for (let row = this.#chains.newestRow(device); row !== noRow; row = previous[row]!) {
      const timestamp = timestamps[row]!;
      if (timestamp >= from && timestamp < to) found.push(row);
    }
    if (found.length === 0) return undefined;
    return groupOfRows(Uint32Array.from(found.reverse()), this.rows(found));
  }

  /** The rows as columns for `dataAt` and `metaAt`: of all devices, with metas of only the given rows. */
  rows(wanted: readonly number[]): Rows {
    const { timestamps, orders, originIds, columns } = this.#arrays;
    return {
      length: this.length,
      timestamps,
      orders,
      shapes: [this.shape],
      shapeIds: undefined,
      shapeColumns: [columns.map((_, i) => i)],
      columns: this.shape.leaves.map((leaf, i) => columnOf(leaf, columns[i]!, this.#texts)),
      origins: this.#ofOrigins.origins,
      originIds,
      metas: this.#metasOf(wanted),
    };
  }

  /** Everything that sealing needs. The arrays are shared with the worker; no more rows are added. */
  toSeal(devices: number): MemtableRows {
    const { device, timestamps, orders, originIds, columns } = this.#arrays;
    return {
      length: this.length,
      topic: this.topic,
      device,
      devices,
      timestamps,
      orders,
      originIds,
      origins: this.#ofOrigins.origins.map(({ workspaceId, dataFlowId }) => [
        workspaceId,
        dataFlowId,
      ]),
      keepFrom: this.#ofOrigins.origins.map(({ keepFrom }) => keepFrom),
      metaIds: this.#metaIds,
      columns,
      texts: this.#texts,
    };
  }

  /** Gives up the memory of its arrays: neither it nor rows of it are used afterwards. */
  release(): SharedArrayBuffer[] {
    const buffers = buffersOf(this.#arrays);
    this.#arrays = newArrays(this.shape, 0, undefined);
    return buffers;
  }

  #grow(): void {
    const doubled = this.#arrays.device.length * 2;
    // The last entry may have more rows than the memtable has room for.
    const larger = this.length < this.#rowsMax ? Math.min(doubled, this.#rowsMax) : doubled;
    this.#arrays = newArrays(this.shape, larger, this.#arrays, this.#memory);
    if (this.#metaIds !== undefined) this.#metaIds = copied(Uint32Array, larger, this.#metaIds);
  }

  #textId(text: string): number {
    const key = textKey(text);
    let id = this.#textIds.get(key);
    if (id === undefined) {
      id = this.#texts.push(text) - 1;
      this.#textIds.set(key, id);
      this.#textBytes += 2 * text.length + 60;
    }
    return id;
  }

  #setMeta(row: number, meta: string): void {
    this.#metaIds ??= copied(Uint32Array, this.#arrays.device.length, undefined);
    this.#metaIds[row] = this.#textId(meta) + 1;
  }

  #metasOf(wanted: readonly number[]): readonly (string | undefined)[] | undefined {
    if (this.#metaIds === undefined) return undefined;
    const metas: (string | undefined)[] = [];
    for (const row of wanted) {
      const id = this.#metaIds[row]!;
      if (id > 0) metas[row] = this.#texts[id - 1];
    }
    return metas;
  }

  #indexOf(device: number): Map<EpochMs, number[]> {
    const known = this.#indexes.get(device);
    if (known !== undefined) return known;
    if (this.#indexes.size >= indexesMax) this.#indexes.clear();
    const index = new Map<EpochMs, number[]>();
    const { timestamps, previous } = this.#arrays;
    for (let row = this.#chains.newestRow(device); row !== noRow; row = previous[row]!) {
      noteRow(index, timestamps[row]!, row);
    }
    this.#indexes.set(device, index);
    return index;
  }
}

// Spare memory: shared memory of sealed memtables, used again by later ones.
// Two threads hold shared memory, and the collector of neither counts its size: what is not used again stays until
// both have collected for another reason.

/** Smaller buffers are not kept: to allocate them costs little. */
const keptFrom = 64 * 1024;

/** Keeps up to `bytesMax`. */
export class SpareMemory {
  readonly #bytesMax: number;
  readonly #bySize = new Map<number, SharedArrayBuffer[]>();
  #kept = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Shared memory of this size. Its content is not cleared. */
  take(bytes: number): SharedArrayBuffer {
    const found = this.#bySize.get(bytes)?.pop();
    if (found === undefined) return new SharedArrayBuffer(bytes);
    this.#kept -= bytes;
    return found;
  }

  /** No thread reads or writes the buffer from now on. */
  give(buffer: SharedArrayBuffer): void {
    const { byteLength } = buffer;
    if (byteLength < keptFrom || byteLength > this.#bytesMax) return;
    if (this.#kept + byteLength > this.#bytesMax) {
      // What is here has sizes that were not asked for.
      this.#bySize.clear();
      this.#kept = 0;
    }
    const ofSize = this.#bySize.get(byteLength) ?? [];
    this.#bySize.set(byteLength, ofSize);
    ofSize.push(buffer);
    this.#kept += byteLength;
  }
}
