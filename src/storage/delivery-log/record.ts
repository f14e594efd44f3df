// A record of the delivery log: its id, and a delivery after one of its changes as two strings after their lengths.
import { crc32 } from 'node:zlib';
import type { Delivery, DeliveryCause, DeliveryState } from '../../model/delivery.ts';
import { createBoundedMap } from '../../structures/caches.ts';
import { dayMs } from '../../model/instant.ts';
import { refuseOtherFormat } from '../../model/problem.ts';

// Delivery ids: UUIDs that begin with a mark of their connector, by which the log finds them.

const marks = createBoundedMap<string, string>(10_000);

/** The first eight characters of the ids of the connector's deliveries. */
export function idMark(connectorId: string): string {
  let mark = marks.get(connectorId);
  if (mark === undefined) {
    mark = crc32(connectorId).toString(16).padStart(8, '0');
    marks.set(connectorId, mark);
  }
  return mark;
}

const partsOfPosition = 4_096;
const positionDigits = 11;

/**
 * The id of the delivery of a sample, the same after a crash. The random correlation id
 * distinguishes the samples of two data folders that were one.
 */
export function deliveryId(sequence: number, connectorId: string, correlationId: string): string {
  const position = Math.floor(sequence);
  const part = Math.round((sequence - position) * partsOfPosition);
  const at = position.toString(16).padStart(positionDigits, '0').slice(-positionDigits);
  const random = crc32(correlationId).toString(16).padStart(8, '0');
  // Version 8, and the variant in the two upper bits of the digit behind.
  return `${idMark(connectorId)}-${at.slice(0, 4)}-8${at.slice(4, 7)}-8${at.slice(7, 10)}-${at.slice(10)}${part.toString(16).padStart(3, '0')}${random}`;
}

/** A random id of the connector, for deliveries without a sample. */
export function randomDeliveryId(connectorId: string, uuid: string): string {
  return `${idMark(connectorId)}${uuid.slice(8, 14)}8${uuid.slice(15)}`;
}

/** A delivery as the log keeps it: its template context is a JSON string. */
export interface StoredDelivery extends Omit<Delivery, 'context' | 'contextText'> {
  readonly context: string;
}

/** Where a block is: in memory, then in a segment. All places in it share it. */
export interface BlockPlace {
  /** Number of the segment; 0 until the block is written. */
  segment: number;
  /** In the segment. */
  offset: number;
  /** The block, until it is written. */
  unwritten: RecordBlock | undefined;
}

/** Where a record is. A copy of its segment has another place. */
export interface RecordPlace {
  readonly block: BlockPlace;
  /** Of the record in its unpacked block. */
  readonly at: number;
}

type Head = readonly [
  id: string,
  sequence: number,
  connectorId: string,
  organizationId: string,
  workspaceId: string,
  deviceId: string,
  correlationId: string,
  cause: DeliveryCause,
  ruleId: string | null,
  ruleHops: number,
  state: DeliveryState,
  tries: number,
  revision: number,
  isResent: 0 | 1,
  nextAt: number,
  created: number,
  updated: number,
  payload: string | null,
  answer: string | null,
  reason: string | null,
];

const lengthsBytes = 8;
/** Of a UTF-16 code unit in UTF-8. */
const unitBytesMax = 3;

/** Records one after the other in one growing buffer. */
export class RecordBlock {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Removes the records and keeps the memory. */
  clear(): void {
    this.#length = 0;
  }

  /** A view that the next `add` after `clear` overwrites. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Appends the record; returns its offset. */
  add(record: StoredDelivery): number {
    const at = this.#length;
    const head = JSON.stringify(headOf(record));
    const { context } = record;
    this.#grow(lengthsBytes + (head.length + context.length) * unitBytesMax);
    const headBytes = this.#bytes.write(head, at + lengthsBytes);
    const contextBytes = this.#bytes.write(context, at + lengthsBytes + headBytes);
    this.#bytes.writeUInt32LE(headBytes, at);
    this.#bytes.writeUInt32LE(contextBytes, at + 4);
    this.#length = at + lengthsBytes + headBytes + contextBytes;
    return at;
  }

  #grow(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

function headOf(record: StoredDelivery): Head {
  return [
    record.id,
    record.sequence,
    record.connectorId,
    record.organizationId,
    record.workspaceId,
    record.deviceId,
    record.correlationId,
    record.cause,
    record.ruleId ?? null,
    record.ruleHops ?? 0,
    record.state,
    record.tries,
    record.revision,
    record.isResent ? 1 : 0,
    record.nextAt,
    record.created,
    record.updated,
    record.payload,
    record.answer,
    record.reason,
  ];
}

/** The record at the offset of an unpacked block, whose checksum was right. */
export function recordAt(block: Buffer, at: number): StoredDelivery {
  const headEnd = at + lengthsBytes + block.readUInt32LE(at);
  const head = JSON.parse(block.toString('utf8', at + lengthsBytes, headEnd)) as Head;
  const context = block.toString('utf8', headEnd, headEnd + block.readUInt32LE(at + 4));
  return storedOf(head, context);
}

/** The records of an unpacked block without their contexts, with the offset of each. */
export function* recordsOf(block: Buffer): Generator<{
  readonly at: number;
  readonly record: StoredDelivery;
}> {
  for (let at = 0; at < block.length; ) {
    const headEnd = at + lengthsBytes + block.readUInt32LE(at);
    const head = JSON.parse(block.toString('utf8', at + lengthsBytes, headEnd)) as Head;
    yield { at, record: storedOf(head, '') };
    at = headEnd + block.readUInt32LE(at + 4);
  }
}

function storedOf(head: Head, context: string): StoredDelivery {
  const [id, sequence, connectorId, organizationId, workspaceId, deviceId] = head;
  const [, , , , , , correlationId, cause, ruleId, ruleHops, state, tries, revision] = head;
  const [nextAt, created, updated, payload, answer, reason] = head.slice(14) as [
    number,
    number,
    number,
    string | null,
    string | null,
    string | null,
  ];
  return {
    id,
    sequence,
    connectorId,
    organizationId,
    workspaceId,
    deviceId,
    correlationId,
    cause,
    ruleHops,
    state,
    tries,
    revision,
    isResent: head[13] === 1,
    nextAt,
    created,
    updated,
    payload,
    answer,
    reason,
    context,
    ...(ruleId !== null && { ruleId }),
  };
}

// The format of the files of the delivery log: one number for all of them, and its limits by name.

export const deliveryLogFormat = 1;

/**
 * Frame types of blocks; the journal and raw uplinks have smaller ones. Format n adds 2 * (n - 1).
 */
export const blockTypes = { plain: 32, packed: 33 } as const;

/** Throws OtherFormatError for a file of another format. */
export function refuseOtherDeliveries(path: string, format: number): void {
  refuseOtherFormat(path, format, deliveryLogFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseOtherBlock(path: string, frameType: number): void {
  refuseOtherDeliveries(path, ((frameType - blockTypes.plain) >> 1) + 1);
}

// The limits of the delivery log, by name; tests use smaller ones.

export const deliveryLogLimits = {
  /** Ended deliveries are kept for this time, up to this number per connector. */
  keptMsMax: 7 * dayMs,
  keptPerConnectorMax: 10_000,
  /** Records are written together at this number of bytes, or after this time. */
  blockBytes: 256 * 1024,
  blockMsMax: 50,
  /** Smaller blocks are written as they are: packing them saves less than it costs. */
  packedBytesMin: 4 * 1024,
  /** A segment is closed when it is longer or has more records. */
  segmentBytes: 8 * 1024 * 1024,
  segmentRecords: 20_000,
  /** A closed segment of which less than this part is still needed is copied and removed. */
  neededShareMin: 0.25,
  /** With more bytes that wait for the disk, no delivery starts. */
  unwrittenBytesMax: 8 * 1024 * 1024,
  /** Unpacked blocks that are kept for the next read. */
  blocksCached: 8,
} as const;

export type DeliveryLogLimits = { readonly [K in keyof typeof deliveryLogLimits]: number };
