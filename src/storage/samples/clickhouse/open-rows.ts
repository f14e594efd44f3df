// Open rows: by device for reads, and in blocks for shipping, in the order of positions.
import type { BlockDoubt, ShippedBlock } from '../../clickhouse/block-shipper.ts';
import {
  addValues,
  type LoggedEntry,
  type LoggedRows,
  type RowColumns,
} from '../../log/logged-entry.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { type PlacedRow, pointsOfShape } from './sample-tables.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample } from '../../../model/sample.ts';
import { missing } from '../../../structures/missing.ts';
import { dataOf, type DataShape, LeafValues } from '../../log/data-shape.ts';

export const blockLimits = {
  /** Entries stored within one such stretch of time are in one block. */
  slotMs: 1_000,
  rowsMax: 20_000,
  /** ClickHouse takes an insert of more than a million rows apart. */
  pointsMax: 400_000,
} as const;

/** Entries that are inserted together. */
export interface Block extends ShippedBlock {
  readonly from: number;
  /** The position behind the last entry. */
  to: number;
  readonly rows: OpenRow[];
  /** See `Comparison.nextOrder`. */
  nextOrder: number;
  points: number;
  /** What its entries take in the journal. */
  bytes: number;
  slot: number;
}

/**
 * A block ends where the time of storing passes into the next slot or where it is full, so that the
 * same journal gives the same blocks.
 */
export class OpenRows {
  readonly #byDevice = new Map<string, OpenRow[]>();
  readonly #closed: Block[] = [];
  readonly #shippedTo: number;
  #current: Block | undefined;
  #end: number;
  #forcedTo: number | null;
  #nextOrder: number;
  #bytes = 0;
  #rows = 0;

  constructor(
    /** The position of the first entry. */
    from: number,
    /** An earlier run has inserted everything before; some of it may be lost with a replica. */
    shipped: number,
    /** The end of the first block, when an earlier run may have inserted it. */
    blockTo: number | null,
    nextOrder: number,
  ) {
    this.#end = from;
    this.#shippedTo = shipped;
    this.#forcedTo = blockTo;
    this.#nextOrder = nextOrder;
  }

  /** Adds the entry. Without its rows when its device was dropped. */
  add(entry: LoggedEntry, isDropped: boolean): readonly OpenRow[] {
    const { position, storedAt, deviceId, firstOrder } = entry;
    const slot = Math.floor(storedAt / blockLimits.slotMs);
    if (this.#current !== undefined && this.#isFull(this.#current, slot, position)) {
      this.#end = position;
      this.cut();
    }
    const current = this.#current ?? this.#begin(this.#closed.at(-1)?.to ?? this.#end, slot);
    this.#current = current;
    this.#end = position + 1;
    current.bytes += entry.bytes;
    this.#bytes += entry.bytes;
    current.nextOrder = Math.max(current.nextOrder, firstOrder + rowCountOf(entry));
    const rows = isDropped ? [] : openRowsOf(entry);
    if (rows.length === 0) return rows;
    this.#rows += rows.length;
    for (const row of rows) {
      current.rows.push(row);
      current.points += pointsOfShape(row.shape).length;
    }
    const known = this.#byDevice.get(deviceId);
    if (known === undefined) this.#byDevice.set(deviceId, rows);
    else known.push(...rows);
    return rows;
  }

  /** Of one device, in the order of storing. The list may change with the next call. */
  rowsOf(deviceId: string): readonly OpenRow[] {
    return this.#byDevice.get(deviceId) ?? none;
  }

  /** Devices with open rows. */
  deviceIds(): Iterable<string> {
    return this.#byDevice.keys();
  }

  /** Ends the block that takes entries; everything written is in closed blocks then. */
  cut(): void {
    const current = this.#current;
    if (current === undefined) return;
    current.to = this.#end;
    this.#nextOrder = current.nextOrder;
    this.#closed.push(current);
    this.#current = undefined;
    if (this.#forcedTo !== null && this.#end >= this.#forcedTo) this.#forcedTo = null;
  }

  /** The oldest closed block. */
  first(): Block | undefined {
    return this.#closed[0];
  }

  /** Discards the oldest block, which is in ClickHouse. */
  shipped(): void {
    const block = this.#closed.shift();
    if (block === undefined) return;
    this.#bytes -= block.bytes;
    this.#rows -= block.rows.length;
    for (const deviceId of new Set(block.rows.map((row) => row.deviceId)))
      this.#forget(deviceId, block.to);
  }

  /** Discards rows of the device before the position. Returns how many. */
  drop(deviceId: string, before: number): number {
    let dropped = 0;
    for (const block of [
      ...this.#closed,
      ...(this.#current === undefined ? [] : [this.#current]),
    ]) {
      const kept = block.rows.filter((row) => row.deviceId !== deviceId || row.position >= before);
      dropped += block.rows.length - kept.length;
      if (kept.length < block.rows.length) block.rows.splice(0, Infinity, ...kept);
    }
    this.#rows -= dropped;
    this.#forget(deviceId, before);
    return dropped;
  }

  /** What open entries take in the journal. */
  bytes(): number {
    return this.#bytes;
  }

  rows(): number {
    return this.#rows;
  }

  /** When the oldest open row was stored; undefined without any. */
  oldestStoredAt(): EpochMs | undefined {
    for (const block of [...this.#closed, this.#current]) {
      const [row] = block?.rows ?? none;
      if (row !== undefined) return row.storedAt;
    }
    return undefined;
  }

  /** See `Comparison`; of all devices. */
  nextOrder(): number {
    return this.#current?.nextOrder ?? this.#closed.at(-1)?.nextOrder ?? this.#nextOrder;
  }

  /** The position before which nothing is open. */
  from(): number {
    return this.#closed[0]?.from ?? this.#current?.from ?? this.#end;
  }

  /** The position behind the newest entry. */
  position(): number {
    return this.#end;
  }

  #begin(at: number, slot: number): Block {
    const order = this.#closed.at(-1)?.nextOrder ?? this.#nextOrder;
    const sums = { points: 0, bytes: 0 };
    return {
      from: at,
      to: at,
      rows: [],
      nextOrder: order,
      doubt: this.#doubtAt(at),
      slot,
      ...sums,
    };
  }

  #doubtAt(at: number): BlockDoubt {
    if (at < this.#shippedTo) return 'ended';
    return this.#forcedTo === null ? 'none' : 'running';
  }

  #isFull(block: Block, slot: number, position: number): boolean {
    const { rows, points } = block;
    const isLarge = rows.length >= blockLimits.rowsMax || points >= blockLimits.pointsMax;
    // What was inserted before may be cut anywhere.
    if (block.from < this.#shippedTo) return isLarge || position >= this.#shippedTo;
    if (this.#forcedTo !== null) return position >= this.#forcedTo;
    return isLarge || block.slot !== slot;
  }

  /** Rows that a read has are left as they are. */
  #forget(deviceId: string, before: number): void {
    const rows = this.#byDevice.get(deviceId) ?? none;
    const first = rows.findIndex(({ position }) => position >= before);
    if (first < 0) this.#byDevice.delete(deviceId);
    else if (first > 0) this.#byDevice.set(deviceId, rows.slice(first));
  }
}

const none: readonly never[] = [];

function rowCountOf({ rows }: LoggedEntry): number {
  return 'columns' in rows ? rows.to - rows.from : rows.samples.length;
}

// Open row: a sample that is in the journal, and not known to be in ClickHouse yet, with its place in the order of storing.

export interface OpenRow {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly storedAt: EpochMs;
  /** Of its entry. */
  readonly position: number;
  /** Among the rows of its entry. */
  readonly index: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly meta: JsonObject | undefined;
  readonly shape: DataShape;
  readonly values: LeafValues;
  readonly valuesAt: number;
}

export function dataOfRow({ shape, values, valuesAt }: OpenRow): JsonObject {
  return dataOf(shape, values.sourceFrom(valuesAt));
}

export function sampleOfRow(row: OpenRow): Sample {
  const { deviceId, topic, timestamp, meta } = row;
  const data = dataOfRow(row);
  return meta === undefined
    ? { deviceId, topic, timestamp, data }
    : { deviceId, topic, timestamp, data, meta };
}

/** The rows of the entry that queries may find. */
function openRowsOf(entry: LoggedEntry): OpenRow[] {
  const { rows } = entry;
  return 'columns' in rows ? rowsOfColumns(entry, rows) : rowsOfList(entry, rows);
}

function rowsOfList(
  { deviceId, position, storedAt }: LoggedEntry,
  { samples, shapes, values, valuesAt: first = 0 }: LoggedRows,
): OpenRow[] {
  const rows: OpenRow[] = [];
  let valuesAt = first;
  for (const [index, head] of samples.entries()) {
    const { topic, timestamp, workspaceId, dataFlowId, stored, meta } = head;
    const shape = shapes[index] ?? missing('shape of a row');
    const origin = { workspaceId, dataFlowId, meta };
    const place = { deviceId, topic, timestamp, storedAt, position, index };
    if (stored) rows.push({ ...place, ...origin, shape, values, valuesAt });
    valuesAt += shape.leaves.length;
  }
  return rows;
}

function rowsOfColumns(
  { deviceId, position, storedAt }: LoggedEntry,
  columns: RowColumns,
): OpenRow[] {
  const { head, shape, timestamps, from, to } = columns;
  const { topic, workspaceId, dataFlowId, stored } = head;
  if (!stored) return [];
  const rows: OpenRow[] = [];
  const values = new LeafValues(shape.leaves.length * (to - from));
  for (let row = from; row < to; row++) {
    const valuesAt = values.length;
    addValues(columns, row, values);
    const timestamp = timestamps[row] ?? missing('time');
    const place = { deviceId, topic, timestamp, storedAt, position, index: row - from };
    rows.push({
      ...place,
      workspaceId,
      dataFlowId,
      meta: undefined,
      shape,
      values,
      valuesAt,
    });
  }
  return rows;
}

// Open place: an open or kept row with its place in the order of storing of all journals.

export interface OpenPlace extends PlacedRow {
  readonly row: OpenRow;
}

export function placeOf(row: OpenRow, journal: number): OpenPlace {
  const { timestamp: ts, storedAt, position, index: idx } = row;
  return { ts, storedAt, journal, position, idx, row };
}
