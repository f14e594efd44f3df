// Row table: what lists need of the records of one connector in one segment, as rows of fixed length, and their owners.
import { type DeliveryState, deliveryStates } from '../../model/delivery.ts';
import { missing } from '../../structures/missing.ts';
import type { RecordPlace, StoredDelivery } from './record.ts';

// Owners: the organizations and workspaces of a segment, numbered in the order of their first record.

export type Owner = readonly [organizationId: string, workspaceId: string];

interface Owned {
  readonly organizationId: string;
  readonly workspaceId: string;
}

export class Owners {
  readonly list: Owner[];
  readonly #numbers: Map<string, number>;

  constructor(list: readonly Owner[] = []) {
    this.list = [...list];
    this.#numbers = new Map(this.list.map((owner, number) => [owner.join(' '), number]));
  }

  /** The number of the owner, which is added when it is new. */
  numberOf({ organizationId, workspaceId }: Owned): number {
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

  add(record: StoredDelivery, { offset, at }: RecordPlace, owners: Owners): void {
    const row = this.#counts.rows * rowBytes;
    if (row + rowBytes > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(16 * rowBytes, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
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
    bytes.writeUInt32LE(offset, fixed + 44);
    bytes.writeUInt32LE(at, fixed + 48);
    this.#count(record);
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
  /** Number of the segment. */
  readonly segment: number;
  readonly owners: readonly Owner[];
}

function rowAt(bytes: Buffer, row: number, { connectorId, segment, owners }: RowsOf): DeliveryRow {
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
      segment,
      offset: bytes.readUInt32LE(fixed + 44),
      at: bytes.readUInt32LE(fixed + 48),
      waiting: undefined,
    },
  };
}

function textAt(bytes: Buffer, from: number, length: number): string {
  const text = bytes.toString('latin1', from, from + length);
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}
