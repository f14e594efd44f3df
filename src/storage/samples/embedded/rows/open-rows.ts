// An open chunk: durable rows of one device and topic in memory, in the order of arrival, until they are sealed.
import {
  type DataShape,
  type LeafKind,
  leafKinds,
  leafName,
  type LeafValues,
} from '../../../log/data-shape.ts';
import type { RowColumns } from '../../../log/logged-entry.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import {
  type Column,
  type Origin,
  type RowGroup,
  type Rows,
  type SortedRows,
  visibleFrom,
} from './rows.ts';
import { grown } from '../../../../structures/bytes.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/string-hash.ts';

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
