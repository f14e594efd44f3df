// Index of a closed segment: its blocks, and the uplinks per device in each block.
// File: CRC32 u32 and length u32 of the head, the head as JSON, CRC32 of the table, the table of
// devices, then for each device its pairs.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../../model/instant.ts';
import { rawUplinkFormat, refuseOtherUplinks } from './block.ts';

export interface BlockPlace {
  /** Of its frame in the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly from: EpochMs;
  /** Inclusive. */
  readonly to: EpochMs;
}

export interface SegmentHead {
  /** Of the index and its segment. */
  readonly format: number;
  readonly blocks: readonly BlockPlace[];
  readonly devices: number;
  readonly uplinks: number;
  readonly lastPosition: number;
}

/** Which block has how many uplinks of a device, ascending. */
export interface BlockCount {
  readonly block: number;
  readonly count: number;
}

/**
 * What is known of a segment while it is being written, and whole when it is read from its file.
 */
export interface SegmentContents {
  readonly blocks: BlockPlace[];
  readonly devices: Map<string, BlockCount[]>;
  uplinks: number;
  lastPosition: number;
}

export function emptyContents(): SegmentContents {
  return { blocks: [], devices: new Map(), uplinks: 0, lastPosition: -1 };
}

const rowBytes = 32;
const idBytes = 16;
const prefixBytes = 8;
const pairBytes = 8;

export function encodeIndex({ blocks, devices, uplinks, lastPosition }: SegmentContents): Buffer {
  const rows = [...devices].toSorted(byId);
  const head: SegmentHead = {
    format: rawUplinkFormat,
    blocks,
    devices: rows.length,
    uplinks,
    lastPosition,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(crc32(headBytes), 0);
  prefix.writeUInt32LE(headBytes.length, 4);
  const table = Buffer.alloc(rows.length * rowBytes);
  const pairs: Buffer[] = [];
  let offset = prefixBytes + headBytes.length + 4 + table.length;
  for (const [row, [id, counts]] of rows.entries()) {
    const own = pairsOf(counts);
    table.write(id.padEnd(idBytes, '\0'), row * rowBytes, 'latin1');
    table.writeUInt32LE(offset, row * rowBytes + idBytes);
    table.writeUInt32LE(own.length, row * rowBytes + idBytes + 4);
    table.writeUInt32LE(crc32(own), row * rowBytes + idBytes + 8);
    pairs.push(own);
    offset += own.length;
  }
  const tableCrc = Buffer.alloc(4);
  tableCrc.writeUInt32LE(crc32(table));
  return Buffer.concat([prefix, headBytes, tableCrc, table, ...pairs]);
}

function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return Number(a > b) - Number(a < b);
}

function pairsOf(counts: readonly BlockCount[]): Buffer {
  const bytes = Buffer.alloc(counts.length * pairBytes);
  for (const [at, { block, count }] of counts.entries()) {
    bytes.writeUInt32LE(block, at * pairBytes);
    bytes.writeUInt32LE(count, at * pairBytes + 4);
  }
  return bytes;
}

/**
 * The head of an index file; undefined when there is none or it is damaged. Throws OtherFormatError
 * for one of another format.
 */
export async function readHead(path: string): Promise<SegmentHead | undefined> {
  return withFile(path, async (file) => {
    const found = await headOf(file);
    if (found !== undefined) refuseOtherUplinks(path, found.head.format);
    return found?.head;
  });
}

/** The table of devices of an index file; undefined when it is damaged. */
export async function readTable(path: string): Promise<Buffer | undefined> {
  return withFile(path, async (file) => {
    const found = await headOf(file);
    if (found === undefined) return undefined;
    const bytes = await readBytes(file, found.end, 4 + found.head.devices * rowBytes);
    const table = bytes?.subarray(4);
    return table !== undefined && crc32(table) === bytes?.readUInt32LE(0) ? table : undefined;
  });
}

/**
 * The blocks of one device; empty when it has none, undefined when what the table points to is
 * damaged.
 */
export async function readCounts(
  path: string,
  table: Buffer,
  deviceId: string,
): Promise<BlockCount[] | undefined> {
  const row = findRow(table, deviceId);
  if (row === undefined) return [];
  return withFile(path, async (file) => {
    const offset = table.readUInt32LE(row + idBytes);
    const pairs = await readBytes(file, offset, table.readUInt32LE(row + idBytes + 4));
    if (pairs === undefined || crc32(pairs) !== table.readUInt32LE(row + idBytes + 8))
      return undefined;
    return Array.from({ length: pairs.length / pairBytes }, (_, at) => ({
      block: pairs.readUInt32LE(at * pairBytes),
      count: pairs.readUInt32LE(at * pairBytes + 4),
    }));
  });
}

function findRow(table: Buffer, deviceId: string): number | undefined {
  const wanted = Buffer.from(deviceId.padEnd(idBytes, '\0'), 'latin1');
  let low = 0;
  let high = table.length / rowBytes - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = table.compare(wanted, 0, idBytes, middle * rowBytes, middle * rowBytes + idBytes);
    if (order === 0) return middle * rowBytes;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

async function headOf(file: FileHandle): Promise<{ head: SegmentHead; end: number } | undefined> {
  const prefix = await readBytes(file, 0, prefixBytes);
  const length = prefix?.readUInt32LE(4) ?? 0;
  const bytes =
    length > (await file.stat()).size ? undefined : await readBytes(file, prefixBytes, length);
  if (bytes === undefined || prefix === undefined || crc32(bytes) !== prefix.readUInt32LE(0))
    return undefined;
  return { head: JSON.parse(bytes.toString('utf8')) as SegmentHead, end: prefixBytes + length };
}

async function withFile<T>(
  path: string,
  use: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function readBytes(
  file: FileHandle,
  offset: number,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}
