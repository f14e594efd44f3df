// Rows as columns, and an open chunk of them: durable rows of one device and topic in memory, in the order of arrival, until they are sealed.
import {
  dataOf,
  type DataShape,
  type LeafKind,
  leafKinds,
  leafName,
  type LeafSource,
  type LeafValues,
} from '../../../log/data-shape.ts';
import type { RowColumns } from '../../../log/logged-entry.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import { grown } from '../../../../structures/bytes.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/hash-tables.ts';
import type { JsonObject } from '../../../../model/json.ts';
import type { RetentionTimes, SampleColumn } from '../../sample-store.ts';

// Rows of one device and topic as columns: what open chunks grow and sealed chunks decode to.

export interface Column extends SampleColumn {
  readonly path: readonly string[];
}

export interface Rows {
  readonly length: number;
  readonly timestamps: Float64Array;
  /** Place among all rows of the device in the order of storing. */
  readonly orders: Float64Array;
  readonly shapes: readonly DataShape[];
  /** The shape of each row; undefined when there is one shape only. */
  readonly shapeIds: Uint16Array | undefined;
  /** For each shape the columns of its leaves, in their order. */
  readonly shapeColumns: readonly (readonly number[])[];
  readonly columns: readonly Column[];
  readonly origins: readonly Origin[];
  /** The origin of each row; undefined when there is one origin only. */
  readonly originIds: Uint16Array | undefined;
  /** JSON texts by row; undefined when no row has meta. */
  readonly metas: readonly (string | undefined)[] | undefined;
}

/** The data of a row, exactly as it was stored. */
export function dataAt(rows: Rows, row: number): JsonObject {
  const shapeId = shapeIdAt(rows, row);
  const shape = rows.shapes[shapeId] ?? missing('shape of a row');
  const columns = rows.shapeColumns[shapeId] ?? missing('columns of a shape');
  return dataOf(shape, new RowLeaves(rows, columns, row));
}

function shapeIdAt({ shapeIds }: Rows, row: number): number {
  return shapeIds?.[row] ?? 0;
}

function addValues(rows: Rows, row: number, values: LeafValues): void {
  values.cutBack(0, 0);
  const columns = rows.shapeColumns[shapeIdAt(rows, row)] ?? missing('columns of a shape');
  for (const index of columns) {
    // Only what the kind has is touched: a sealed column decodes what it is asked for.
    const column = rows.columns[index] ?? missing('column of a leaf');
    const isNumber = column.kind === leafKinds.number || column.kind === leafKinds.boolean;
    if (isNumber) values.addNumber(column.numbers[row]!);
    else values.addText(column.texts[column.ids[row]!] ?? missing('string of a row'));
  }
}

/**
 * Everything of a row but its time and order, as it is needed to add it to other rows; `values` is
 * used again.
 */
export function rowValuesAt(
  rows: Rows,
  row: number,
  values: LeafValues,
): { shape: DataShape; values: LeafValues; origin: Origin; meta: string | undefined } {
  addValues(rows, row, values);
  return {
    shape: rows.shapes[shapeIdAt(rows, row)] ?? missing('shape of a row'),
    values,
    origin: originAt(rows, row),
    meta: rows.metas?.[row],
  };
}

export function originAt({ origins, originIds }: Rows, row: number): Origin {
  return origins[originIds?.[row] ?? 0] ?? missing('origin of a row');
}

export function metaAt(rows: Rows, row: number): JsonObject | undefined {
  const text = rows.metas?.[row];
  return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
}

/**
 * The leaves of one row, read from its columns. A class, because one is made for every row that is
 * read.
 */
class RowLeaves implements LeafSource {
  readonly #rows: Rows;
  readonly #columns: readonly number[];
  readonly #row: number;

  constructor(rows: Rows, columns: readonly number[], row: number) {
    this.#rows = rows;
    this.#columns = columns;
    this.#row = row;
  }

  numberAt(leaf: number): number {
    return this.#column(leaf).numbers[this.#row]!;
  }

  textAt(leaf: number): string {
    const { ids, texts } = this.#column(leaf);
    return texts[ids[this.#row]!] ?? missing('string of a row');
  }

  #column(leaf: number): Column {
    const index = this.#columns[leaf] ?? missing('column of a leaf');
    return this.#rows.columns[index] ?? missing('column of a leaf');
  }
}

/** Rows in the order of time, then of storing. */
export interface SortedRows {
  readonly rows: Rows;
  readonly length: number;
  /** Sorted. */
  readonly timestamps: Float64Array;
  /** In the same order. */
  readonly orders: Float64Array;
  /** The row at each place; undefined when rows are in order as they stand. */
  readonly permutation: Uint32Array | undefined;
}

/** Where sealed rows are on the disk. */
export interface SealedPlace {
  /** In words for an operator. */
  readonly place: string;
  /** Whether reading has met damage there. */
  readonly damaged: boolean;
  /** What the reading gives; undefined when it meets damage, which is reported once. */
  readonly guarded: <T>(read: () => T) => T | undefined;
}

/** Sorted rows that need not be read before their time comes. */
export interface RowGroup {
  /** Undefined for unsealed rows. */
  readonly sealed?: SealedPlace;
  readonly oldest: number;
  readonly newest: number;
  readonly length: number;
  /** Rows before are past their retention. */
  readonly visibleFrom: number;
  /** Undefined when the rows cannot be read. */
  readonly sorted: () => SortedRows | undefined;
  /** At least `count` of the last rows; undefined when all are to be read at once. */
  readonly last?: (count: number) => SortedRows | undefined;
}

/** The row that stands at a place. */
export function rowAt(
  { permutation }: { readonly permutation: Uint32Array | undefined },
  place: number,
): number {
  return permutation?.[place] ?? place;
}

/** The first place whose timestamp is not below `at`. */
export function placeOf(sorted: SortedRows, at: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted.timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The origin of rows: what retention and usage go by.

export interface Origin {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /**
   * Rows before are past their retention: never read, though their block may still be there. Set
   * whenever the rules are looked at.
   */
  keepFrom: EpochMs;
}

/**
 * From when on rows of these origins may be read; where they are mixed, the most lenient of their
 * rules counts for all.
 */
export function visibleFrom(origins: readonly Origin[]): EpochMs {
  let from = Number.POSITIVE_INFINITY;
  for (const { keepFrom } of origins) if (keepFrom < from) from = keepFrom;
  return from;
}

/** From when on the rules keep rows of the origin: the rule of its data flow, else of its workspace. */
export function keepFromOf(
  { workspaceId, dataFlowId }: { readonly workspaceId: string; readonly dataFlowId: string | null },
  rules: RetentionTimes | undefined,
): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : rules?.dataFlows.get(dataFlowId);
  return ofFlow ?? rules?.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}

/**
 * What an open chunk takes at least, and each of its cells about: for the limit on the memory of
 * all open chunks.
 */
const baseBytes = 3_000;
const cellBytes = 9;
/** A shape that nothing else holds, and each of its leaves. */
const shapeBytes = 1_000;
const leafBytes = 300;

class OpenColumn implements Column {
  readonly path: readonly string[];
  readonly kind: LeafKind;
  readonly texts: string[] = [];
  numbers: Float64Array | Uint8Array;
  ids: Uint32Array;
  readonly #textIds = new Map<string, number>();

  constructor(path: readonly string[], kind: LeafKind, capacity: number) {
    this.path = path;
    this.kind = kind;
    const isNumber = kind === leafKinds.number;
    const isBoolean = kind === leafKinds.boolean;
    this.numbers = isNumber ? new Float64Array(capacity) : new Uint8Array(isBoolean ? capacity : 0);
    this.ids = new Uint32Array(isNumber || isBoolean ? 0 : capacity);
  }

  /** Sets the text of a row and says how many bytes of memory that took. */
  setText(row: number, text: string): number {
    const key = textKey(text);
    let id = this.#textIds.get(key);
    const isNew = id === undefined;
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.#textIds.set(key, id);
    }
    this.ids[row] = id;
    return isNew ? 2 * text.length + 60 : 0;
  }

  grow(capacity: number): void {
    if (this.numbers.length > 0) this.numbers = grown(this.numbers, capacity);
    if (this.ids.length > 0) this.ids = grown(this.ids, capacity);
  }
}

export interface RowToAdd {
  readonly timestamp: EpochMs;
  /** Place among all rows of the device in the order of storing. */
  readonly order: number;
  readonly shape: DataShape;
  readonly values: LeafValues;
  readonly valuesAt: number;
  readonly origin: Origin;
  /** JSON text. */
  readonly meta: string | undefined;
}

/** Rows in the order of time. */
export interface ColumnsToAdd {
  readonly rows: RowColumns;
  readonly origin: Origin;
  /** Place of the first row among all rows of the device in the order of storing. */
  readonly firstOrder: number;
}

export class OpenRows implements Rows, RowGroup {
  length = 0;
  timestamps: Float64Array;
  orders: Float64Array;
  shapeIds: Uint16Array | undefined;
  originIds: Uint16Array | undefined;
  metas: (string | undefined)[] | undefined;
  readonly origins: Origin[] = [];
  readonly shapes: DataShape[] = [];
  readonly shapeColumns: number[][] = [];
  readonly columns: OpenColumn[] = [];
  /** Journal position of the oldest row: the journal is needed from there on. */
  readonly firstPosition: number;
  /** Bytes that the journal had taken when the first row came. */
  readonly firstBytes: number;
  newest = Number.NEGATIVE_INFINITY;
  oldest = Number.POSITIVE_INFINITY;
  readonly #shapeIdByText = new Map<string, number>();
  readonly #columnIdByName = new Map<string, number>();
  #textBytes = 0;
  /** Beyond the first, which most rows share. */
  #shapeBytes = 0;
  #inOrder = true;
  #sorted: SortedRows | undefined;
  #rowsByTime: Map<EpochMs, number[]> | undefined;

  /** Room for `capacity` rows is allocated first; it doubles whenever they are more. */
  constructor(firstPosition: number, firstBytes: number, capacity: number) {
    this.timestamps = new Float64Array(capacity);
    this.orders = new Float64Array(capacity);
    this.firstPosition = firstPosition;
    this.firstBytes = firstBytes;
  }

  /**
   * Adds a row; `valuesAt` is where its leaf values begin. Rows come in the order of storing, or
   * else in the order of time.
   */
  append(row: RowToAdd): void {
    const { timestamp, values, valuesAt, meta } = row;
    const at = this.length;
    if (at === this.timestamps.length) this.#grow(at * 2);
    this.timestamps[at] = timestamp;
    this.orders[at] = row.order;
    const shapeId = this.#shapeId(row.shape);
    const originId = this.#originId(row.origin);
    if (this.originIds !== undefined) this.originIds[at] = originId;
    if (this.shapeIds !== undefined) this.shapeIds[at] = shapeId;
    let valueAt = valuesAt;
    for (const index of this.shapeColumns[shapeId] ?? missing('columns of a shape')) {
      const column = this.columns[index] ?? missing('column of a leaf');
      if (column.numbers.length > 0) column.numbers[at] = values.numberAt(valueAt);
      else this.#textBytes += column.setText(at, values.textAt(valueAt));
      valueAt++;
    }
    if (meta !== undefined) {
      this.metas ??= [];
      this.metas[at] = meta;
      this.#textBytes += 2 * meta.length;
    }
    if (timestamp < this.newest) this.#inOrder = false;
    else this.newest = timestamp;
    if (timestamp < this.oldest) this.oldest = timestamp;
    this.length = at + 1;
    this.#sorted = undefined;
    if (this.#rowsByTime !== undefined) noteRow(this.#rowsByTime, timestamp, at);
  }

  /** Adds the rows from `from` on and before `end`. */
  appendColumns({ rows, origin, firstOrder }: ColumnsToAdd, from: number, end: number): void {
    const at = this.length;
    const count = end - from;
    while (at + count > this.timestamps.length) this.#grow(this.timestamps.length * 2);
    this.timestamps.set(rows.timestamps.subarray(from, end), at);
    for (let i = 0; i < count; i++) this.orders[at + i] = firstOrder + from - rows.from + i;
    const shapeId = this.#shapeId(rows.shape);
    const originId = this.#originId(origin);
    this.originIds?.fill(originId, at, at + count);
    this.shapeIds?.fill(shapeId, at, at + count);
    for (const [leaf, index] of (this.shapeColumns[shapeId] ?? []).entries()) {
      const column = this.columns[index] ?? missing('column of a leaf');
      const values = rows.columns[leaf] ?? missing('values of a leaf');
      if (column.numbers.length > 0) column.numbers.set(values.subarray(from, end), at);
      else
        for (let i = from; i < end; i++)
          this.#textBytes += column.setText(at + i - from, rows.texts[values[i]!]!);
    }
    const oldest = rows.timestamps[from]!;
    if (oldest < this.newest) this.#inOrder = false;
    this.oldest = Math.min(this.oldest, oldest);
    this.newest = Math.max(this.newest, rows.timestamps[end - 1]!);
    this.length = at + count;
    this.#sorted = undefined;
    this.#rowsByTime = undefined;
  }

  /** Rows of exactly this time. */
  rowsAt(timestamp: EpochMs): readonly number[] {
    if (timestamp < this.oldest || timestamp > this.newest) return [];
    if (this.#rowsByTime === undefined) {
      this.#rowsByTime = new Map();
      for (let row = 0; row < this.length; row++)
        noteRow(this.#rowsByTime, this.timestamps[row]!, row);
    }
    return this.#rowsByTime.get(timestamp) ?? [];
  }

  /** The rows in the order of time; valid until the next `append`. */
  sorted(): SortedRows {
    this.#sorted ??= this.#inOrder ? this.#asTheyStand() : this.#permuted();
    return this.#sorted;
  }

  get visibleFrom(): EpochMs {
    return visibleFrom(this.origins);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const perRow = 16 + this.columns.length * cellBytes;
    return baseBytes + this.timestamps.length * perRow + this.#textBytes + this.#shapeBytes;
  }

  /** Values and gaps of all columns: bounded, so that rows that share no keys are sealed early. */
  get cells(): number {
    return this.length * this.columns.length;
  }

  #asTheyStand(): SortedRows {
    const { length, timestamps, orders } = this;
    return { rows: this, length, timestamps, orders, permutation: undefined };
  }

  #permuted(): SortedRows {
    const { length } = this;
    const permutation = new Uint32Array(length);
    for (let i = 0; i < length; i++) permutation[i] = i;
    // Rows stand in the order of storing, so their number decides between rows of one instant.
    permutation.sort((a, b) => this.timestamps[a]! - this.timestamps[b]! || a - b);
    const timestamps = new Float64Array(length);
    const orders = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      timestamps[i] = this.timestamps[permutation[i]!]!;
      orders[i] = this.orders[permutation[i]!]!;
    }
    return { rows: this, length, timestamps, orders, permutation };
  }

  #shapeId(shape: DataShape): number {
    const last = this.shapeIds?.[this.length - 1] ?? 0;
    if (this.shapes[last] === shape) return last;
    let id = this.#shapeIdByText.get(shape.text);
    if (id === undefined) {
      id = this.shapes.push(shape) - 1;
      this.#shapeIdByText.set(shape.text, id);
      this.shapeColumns.push(shape.leaves.map(({ path, kind }) => this.#columnId(path, kind)));
      if (id > 0) this.#shapeBytes += shapeBytes + shape.leaves.length * leafBytes;
      if (id === 1) this.shapeIds = new Uint16Array(this.timestamps.length);
    }
    return id;
  }

  #originId(origin: Origin): number {
    const last = this.originIds?.[this.length - 1] ?? 0;
    if (this.origins[last] === origin) return last;
    let id = this.origins.findIndex(
      (o) => o.workspaceId === origin.workspaceId && o.dataFlowId === origin.dataFlowId,
    );
    if (id < 0) id = this.origins.push(origin) - 1;
    if (id === 1) this.originIds ??= new Uint16Array(this.timestamps.length);
    return id;
  }

  #columnId(path: readonly string[], kind: LeafKind): number {
    const name = leafName({ path, kind });
    let id = this.#columnIdByName.get(name);
    if (id === undefined) {
      id = this.columns.push(new OpenColumn(path, kind, this.timestamps.length)) - 1;
      this.#columnIdByName.set(name, id);
    }
    return id;
  }

  #grow(capacity: number): void {
    this.timestamps = grown(this.timestamps, capacity);
    this.orders = grown(this.orders, capacity);
    if (this.shapeIds !== undefined) this.shapeIds = grown(this.shapeIds, capacity);
    if (this.originIds !== undefined) this.originIds = grown(this.originIds, capacity);
    for (const column of this.columns) column.grow(capacity);
  }
}

function noteRow(rowsByTime: Map<EpochMs, number[]>, timestamp: EpochMs, row: number): void {
  const rows = rowsByTime.get(timestamp);
  if (rows === undefined) rowsByTime.set(timestamp, [row]);
  else rows.push(row);
}
