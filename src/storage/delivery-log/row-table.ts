// Row table: what lists need of the records of one connector in one segment, as rows of fixed length, and their owners.
import { type DeliveryState, deliveryStates } from '../../model/delivery.ts';
import type { EpochMs } from '../../model/instant.ts';
import { missing } from '../../structures/missing.ts';
import { type BlockPlace, idMark, type RecordPlace, type StoredDelivery } from './record.ts';

// Owners: the organizations and workspaces of a segment, numbered in the order of their first record.

export type Owner = readonly [organizationId: string, workspaceId: string];

export class Owners {
  readonly list: Owner[];
  readonly #numbers: Map<string, number>;

  constructor(list: readonly Owner[] = []) {
    this.list = [...list];
    this.#numbers = new Map(this.list.map((owner, number) => [owner.join(' '), number]));
  }

  /** The number of the owner, which is added when it is new. */
  numberOf({
    organizationId,
    workspaceId,
  }: {
    readonly organizationId: string;
    readonly workspaceId: string;
  }): number {
    const key = `${organizationId} ${workspaceId}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.list.push([organizationId, workspaceId]) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** A record without its strings. */
export type DeliveryRow = Pick<
  StoredDelivery,
  | 'id'
  | 'sequence'
  | 'connectorId'
  | 'organizationId'
  | 'workspaceId'
  | 'deviceId'
  | 'state'
  | 'tries'
  | 'revision'
  | 'isResent'
  | 'nextAt'
  | 'created'
  | 'updated'
> & { readonly place: RecordPlace };

/** How many rows of each kind a table has. */
export interface RowCounts {
  readonly rows: number;
  /** Ended deliveries, each in the segment where it ended first. */
  readonly ended: number;
  readonly pending: number;
  /** Rows that replace earlier ones. */
  readonly revised: number;
}

// Layout, little endian: id 36, device 16, owner u32, state u8, resent u8, tries u16, revision u32,
// sequence, nextAt, created and updated f64 each, block offset u32, offset in block u32.
const idBytes = 36;
const deviceBytes = 16;
const fixedAt = idBytes + deviceBytes;
export const rowBytes = fixedAt + 52;
const stateAt = fixedAt + 4;
/** Of the block offset, in what follows the ids. */
const offsetAt = 44;
const pendingNumber = deliveryStates.indexOf('PENDING');

export class RowTable {
  #bytes: Buffer;
  #counts: { -readonly [K in keyof RowCounts]: RowCounts[K] };

  constructor(bytes: Buffer = Buffer.alloc(0), counts?: RowCounts) {
    this.#bytes = bytes;
    this.#counts = { ...(counts ?? { rows: 0, ended: 0, pending: 0, revised: 0 }) };
  }

  get counts(): RowCounts {
    return this.#counts;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#counts.rows * rowBytes);
  }

  /** `offset` is that of the block, `at` that of the record in it. */
  add(record: StoredDelivery, offset: number, at: number, owners: Owners): void {
    const row = this.#roomFor(1);
    const bytes = this.#bytes;
    bytes.write(record.id, row, idBytes, 'latin1');
    bytes.write(record.deviceId, row + idBytes, deviceBytes, 'latin1');
    const fixed = row + fixedAt;
    bytes.writeUInt32LE(owners.numberOf(record), fixed);
    bytes.writeUInt8(deliveryStates.indexOf(record.state), fixed + 4);
    bytes.writeUInt8(Number(record.isResent), fixed + 5);
    bytes.writeUInt16LE(record.tries, fixed + 6);
    bytes.writeUInt32LE(record.revision, fixed + 8);
    bytes.writeDoubleLE(record.sequence, fixed + 12);
    bytes.writeDoubleLE(record.nextAt, fixed + 20);
    bytes.writeDoubleLE(record.created, fixed + 28);
    bytes.writeDoubleLE(record.updated, fixed + 36);
    bytes.writeUInt32LE(offset, fixed + offsetAt);
    bytes.writeUInt32LE(at, fixed + 48);
    this.#count(record);
  }

  /** Adds the rows of a block that was written at the offset; `owners` has their numbers here. */
  append(of: RowTable, offset: number, owners: readonly number[]): void {
    const from = this.#roomFor(of.counts.rows);
    this.#bytes.set(of.bytes, from);
    const to = from + of.bytes.length;
    for (let fixed = from + fixedAt; fixed < to; fixed += rowBytes) {
      const owner = owners[this.#bytes.readUInt32LE(fixed)] ?? missing('owner');
      this.#bytes.writeUInt32LE(owner, fixed);
      this.#bytes.writeUInt32LE(offset, fixed + offsetAt);
    }
    const counts = this.#counts;
    counts.rows += of.counts.rows;
    counts.ended += of.counts.ended;
    counts.pending += of.counts.pending;
    counts.revised += of.counts.revised;
  }

  /** Where the next rows begin. */
  #roomFor(rows: number): number {
    const from = this.#counts.rows * rowBytes;
    const needed = from + rows * rowBytes;
    if (needed > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(16 * rowBytes, 2 * this.#bytes.length, needed));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return from;
  }

  #count({ state, isResent, revision }: StoredDelivery): void {
    const counts = this.#counts;
    counts.rows += 1;
    if (state === 'PENDING') counts.pending += 1;
    else if (!isResent) counts.ended += 1;
    if (revision > 0) counts.revised += 1;
  }

  /** Whether some record is of one of the devices, which may say too much. */
  hasDevice(deviceIds: ReadonlySet<string>): boolean {
    return [...deviceIds].some((id) => this.bytes.includes(id, 0, 'latin1'));
  }

  /** The rows; without `pending` only those of ended deliveries. */
  *read(of: RowsOf, { pending }: { readonly pending: boolean }): Generator<DeliveryRow> {
    const bytes = this.bytes;
    for (let row = 0; row < bytes.length; row += rowBytes) {
      if (pending || bytes[row + stateAt] !== pendingNumber) yield rowAt(bytes, row, of);
    }
  }

  /** The rows of the delivery. */
  *find(id: string, of: RowsOf): Generator<DeliveryRow> {
    const bytes = this.bytes;
    const wanted = Buffer.from(id.padEnd(idBytes, '\0'), 'latin1');
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
      if (at % rowBytes === 0) yield rowAt(bytes, at, of);
    }
  }
}

/** What the rows of a table share. */
export interface RowsOf {
  readonly connectorId: string;
  readonly blockAt: (offset: number) => BlockPlace;
  readonly owners: readonly Owner[];
}

function rowAt(bytes: Buffer, row: number, { connectorId, blockAt, owners }: RowsOf): DeliveryRow {
  const fixed = row + fixedAt;
  const [organizationId, workspaceId] = owners[bytes.readUInt32LE(fixed)] ?? missing('owner');
  const state: DeliveryState = deliveryStates[bytes.readUInt8(fixed + 4)] ?? missing('state');
  return {
    id: textAt(bytes, row, idBytes),
    deviceId: textAt(bytes, row + idBytes, deviceBytes),
    connectorId,
    organizationId,
    workspaceId,
    state,
    isResent: bytes.readUInt8(fixed + 5) === 1,
    tries: bytes.readUInt16LE(fixed + 6),
    revision: bytes.readUInt32LE(fixed + 8),
    sequence: bytes.readDoubleLE(fixed + 12),
    nextAt: bytes.readDoubleLE(fixed + 20),
    created: bytes.readDoubleLE(fixed + 28),
    updated: bytes.readDoubleLE(fixed + 36),
    place: {
      block: blockAt(bytes.readUInt32LE(fixed + offsetAt)),
      at: bytes.readUInt32LE(fixed + 48),
    },
  };
}

function textAt(bytes: Buffer, from: number, length: number): string {
  const text = bytes.toString('latin1', from, from + length);
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

/** The rows of some records by connector, and what lists need of all of them. */
export class RecordRows {
  records = 0;
  /** The largest journal position of the records; -1 without any. */
  lastPosition = -1;
  /** Time of the newest record. */
  updated: EpochMs = 0;
  /** Whether some ids do not begin with the mark of their connector. */
  hasForeignIds = false;
  owners = new Owners();
  /** By connector. */
  tables = new Map<string, RowTable>();

  /** Enters a record; `offset` is that of its block, `at` that of the record in it. */
  add(record: StoredDelivery, offset: number, at: number): void {
    this.#tableOf(record.connectorId).add(record, offset, at, this.owners);
    this.records += 1;
    this.lastPosition = Math.max(this.lastPosition, Math.floor(record.sequence));
    this.updated = Math.max(this.updated, record.updated);
    this.hasForeignIds ||= !record.id.startsWith(idMark(record.connectorId));
  }

  /** Enters the records of a block that was written at the offset. */
  append(block: RecordRows, offset: number): void {
    const owners = block.owners.list.map(([organizationId, workspaceId]) =>
      this.owners.numberOf({ organizationId, workspaceId }),
    );
    for (const [connectorId, table] of block.tables)
      this.#tableOf(connectorId).append(table, offset, owners);
    this.records += block.records;
    this.lastPosition = Math.max(this.lastPosition, block.lastPosition);
    this.updated = Math.max(this.updated, block.updated);
    this.hasForeignIds ||= block.hasForeignIds;
  }

  #tableOf(connectorId: string): RowTable {
    let table = this.tables.get(connectorId);
    if (table === undefined) {
      table = new RowTable();
      this.tables.set(connectorId, table);
    }
    return table;
  }
}
