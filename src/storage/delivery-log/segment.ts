// Segment of the delivery log: its file of blocks, and what is known of its records.
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';
import { frameHeaderBytes, readFrame, writeFrame } from '../log/frame.ts';
import { scanSegment } from '../log/journal-segments.ts';
import { blockTypes, refuseOtherBlock } from './format.ts';
import { idMark, type RecordPlace, recordsOf, type StoredDelivery } from './record.ts';
import { Owners, RowTable } from './row-table.ts';

/** Bytes of a file that cannot be read; what they held is lost. */
export interface DeliveryLogDamage {
  readonly path: string;
  readonly reason: string;
}

export interface Segment {
  readonly number: number;
  readonly path: string;
  bytes: number;
  /** Bytes that are on the disk for certain. */
  synced: number;
  records: number;
  /** The largest journal position of its records; -1 without any. */
  lastPosition: number;
  /** Time of its newest record. */
  updated: EpochMs;
  /** Whether some ids do not begin with the mark of their connector. */
  hasForeignIds: boolean;
  readonly owners: Owners;
  /** By connector; undefined while they are in the index file only. */
  tables: Map<string, RowTable> | undefined;
}

const namePattern = /^(\d{10})\.deliveries$/;

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(10, '0')}.deliveries`);
}

export const indexPath = (path: string): string => path.replace(/\.deliveries$/, '.index');

/** Numbers of the segments in the folder, ascending. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

export function emptySegment(directory: string, number: number): Segment {
  return {
    number,
    path: segmentPath(directory, number),
    bytes: 0,
    synced: 0,
    records: 0,
    lastPosition: -1,
    updated: 0,
    hasForeignIds: false,
    owners: new Owners(),
    tables: new Map(),
  };
}

/** Enters a record into what is known of its segment, whose tables are in memory. */
export function enter(segment: Segment, record: StoredDelivery, place: RecordPlace): void {
  const tables = (segment.tables ??= new Map<string, RowTable>());
  let table = tables.get(record.connectorId);
  if (table === undefined) {
    table = new RowTable();
    tables.set(record.connectorId, table);
  }
  table.add(record, place, segment.owners);
  segment.records += 1;
  segment.lastPosition = Math.max(segment.lastPosition, Math.floor(record.sequence));
  segment.updated = Math.max(segment.updated, record.updated);
  segment.hasForeignIds ||= isForeign(record);
}

function isForeign({ id, connectorId }: StoredDelivery): boolean {
  return !id.startsWith(idMark(connectorId));
}

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** The frame of a block. */
export async function frameOf(
  block: Buffer,
  head: { readonly position: number; readonly storedAt: EpochMs },
  packedBytesMin: number,
): Promise<Buffer> {
  const isPacked = block.length >= packedBytesMin;
  const payload = isPacked
    ? await pack(block, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
    : block;
  const frame = Buffer.allocUnsafeSlow(frameHeaderBytes + payload.length);
  const type = isPacked ? blockTypes.packed : blockTypes.plain;
  writeFrame(frame, 0, { type, ...head }, payload);
  return frame;
}

/** The unpacked block at the offset; undefined when its bytes are not what was written. */
export async function readBlock(path: string, offset: number): Promise<Buffer | undefined> {
  const file = await open(path, 'r');
  try {
    const head = await readBytes(file, offset, frameHeaderBytes);
    if (head === undefined) return undefined;
    const { size } = await file.stat();
    const length = head.readUInt32LE(8);
    if (offset + frameHeaderBytes + length > size) return undefined;
    const bytes = await readBytes(file, offset, frameHeaderBytes + length);
    const frame = bytes && readFrame(bytes, 0);
    if (frame === undefined || frame === 'short' || frame === 'bad') return undefined;
    return await unpacked(frame);
  } finally {
    await file.close();
  }
}

async function readBytes(file: FileHandle, offset: number, length: number) {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}

async function unpacked({ type, payload }: { readonly type: number; readonly payload: Buffer }) {
  return type % 2 === blockTypes.packed % 2 ? unpack(payload) : payload;
}

export interface ScannedSegment {
  /** Behind the last whole block. */
  readonly end: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/**
 * Reads the blocks between two offsets and enters their records. A torn end is behind `end` and not
 * damage, nor is what cannot be read behind the synced bytes: the blocks end before it. Throws OtherFormatError for blocks of another format.
 */
export async function scanBlocks(
  segment: Segment,
  from: number,
  to: number,
): Promise<ScannedSegment> {
  const damage: DeliveryLogDamage[] = [];
  let end = from;
  for await (const batch of scanSegment(segment.path, from, to, segment.synced)) {
    if (batch.frames.length === 0) break;
    if (batch.damage !== undefined) damage.push(unreadable(segment.path, batch.damage));
    let { offset } = batch;
    for (const frame of batch.frames) {
      refuseOtherBlock(segment.path, frame.type);
      const block = await unpacked(frame);
      for (const { at, record } of recordsOf(block))
        enter(segment, record, { segment: segment.number, offset, at, waiting: undefined });
      offset += frameHeaderBytes + frame.payload.length;
    }
    end = batch.end;
  }
  return { end, damage };
}

/** Checks the blocks between two offsets without entering their records. */
export async function checkBlocks(path: string, from: number, to: number): Promise<ScannedSegment> {
  const damage: DeliveryLogDamage[] = [];
  let end = from;
  for await (const batch of scanSegment(path, from, to)) {
    if (batch.damage !== undefined) damage.push(unreadable(path, batch.damage));
    if (batch.frames.length > 0) end = batch.end;
  }
  return { end, damage };
}

function unreadable(
  path: string,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
): DeliveryLogDamage {
  return { path, reason: unreadableReason(offset, bytes) };
}

export function unreadableReason(offset: number, bytes: number): string {
  return `${bytes} bytes from ${offset} on cannot be read`;
}

export async function removeSegment({ path }: Pick<Segment, 'path'>): Promise<void> {
  for (const file of [path, indexPath(path)]) {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
