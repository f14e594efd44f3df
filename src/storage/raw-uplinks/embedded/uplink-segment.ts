// Segment of raw uplinks: blocks of lines, what is known of them, read at a start and rewritten without devices.
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { refuseOtherFormat } from '../../../model/errors.ts';
import type { EpochMs } from '../../../model/instant.ts';
import {
  type BlockDamage,
  compressBlock,
  decompressBlock,
  type GrowingSegment,
  IndexFile,
  indexHead,
  indexPath,
  readBlock,
  scanBlocks,
  SegmentAppender,
  segmentDigits,
  type SegmentName,
  writeIndexFile,
} from '../../block-log/segment-files.ts';
import { frameBytes, frameOf } from '../../log/frame.ts';
import { deviceOfLine, uplinkOf } from '../raw-uplink-line.ts';

// The format of the files of raw uplinks: one number for blocks, indexes and the mark.

export const rawUplinkFormat = 1;
export const segmentSuffix = 'uplinks';

/**
 * The frame type of a block; journal frames have smaller ones. A block of format n has this number
 * plus n - 1.
 */
const blockFrameType = 16;

/** Throws OtherFormatError for a file of another format. */
export function refuseOtherUplinks(path: string, format: number): void {
  refuseOtherFormat(path, format, rawUplinkFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseOtherBlock(path: string, frameType: number): void {
  refuseOtherUplinks(path, frameType - blockFrameType + 1);
}

export function segmentName(directory: string, number: number, generation: number): SegmentName {
  const path = join(directory, `${segmentDigits(number)}.${generation}.${segmentSuffix}`);
  return { number, generation, path };
}

/** Where a block is, and when its uplinks were received. */
export interface BlockPlace {
  /** Of its frame in the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly from: EpochMs;
  /** Inclusive. */
  readonly to: EpochMs;
}

/** Which block has how many uplinks of a device, ascending. */
export interface BlockCount {
  readonly block: number;
  readonly count: number;
}

/** Whose uplink a line is, and when it was received. */
export interface LineHead {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
}

/** What is known of the blocks of a segment. */
export class SegmentContents {
  readonly blocks: BlockPlace[] = [];
  readonly devices = new Map<string, BlockCount[]>();
  uplinks = 0;
  /** -1 without any. */
  lastPosition = -1;

  /** Enters the next block. */
  add(
    { offset, bytes }: { readonly offset: number; readonly bytes: number },
    heads: readonly LineHead[],
    lastPosition: number,
  ): void {
    const counts = new Map<string, number>();
    let from = Number.POSITIVE_INFINITY;
    let to = Number.NEGATIVE_INFINITY;
    for (const { deviceId, receivedAt } of heads) {
      counts.set(deviceId, (counts.get(deviceId) ?? 0) + 1);
      from = Math.min(from, receivedAt);
      to = Math.max(to, receivedAt);
    }
    const block = this.blocks.length;
    this.blocks.push({ offset, bytes, from, to });
    for (const [deviceId, count] of counts) {
      const before = this.devices.get(deviceId);
      if (before === undefined) this.devices.set(deviceId, [{ block, count }]);
      else before.push({ block, count });
    }
    this.uplinks += heads.length;
    this.lastPosition = Math.max(this.lastPosition, lastPosition);
  }
}

/** The segment that is being written. */
export interface WrittenSegment extends SegmentName, GrowingSegment {
  readonly path: string;
  readonly contents: SegmentContents;
}

export interface ScannedSegment {
  readonly contents: SegmentContents;
  /** Behind the last whole block. */
  readonly end: number;
  /** What cannot be read before that end. */
  readonly damage: readonly BlockDamage[];
}

/**
 * Reads a segment to its end or to the first block with uplinks from the position `before` on.
 * Throws OtherFormatError for blocks of another format.
 */
export async function scanUplinks(
  path: string,
  { to, synced }: { readonly to: number; readonly synced: number },
  before = Number.POSITIVE_INFINITY,
): Promise<ScannedSegment> {
  const contents = new SegmentContents();
  const scanned = await scanBlocks(path, { from: 0, to, synced }, (frame, offset) => {
    refuseOtherBlock(path, frame.type);
    if (frame.position >= before) return false;
    const heads = linesOf(frame.payload).map(headOf);
    contents.add({ offset, bytes: frameBytes(frame) }, heads, frame.position);
    return true;
  });
  return { contents, end: scanned.end, damage: scanned.damage };
}

const headPattern = /^\["[^"]*","[^"]*",\d+,(-?\d+(?:\.\d+)?)/;

function headOf(line: string): LineHead {
  const [, receivedAt] = headPattern.exec(line) ?? [];
  return receivedAt === undefined
    ? uplinkOf(line)
    : { deviceId: deviceOfLine(line), receivedAt: Number(receivedAt) };
}

/**
 * The frame of a block of lines, separated by line feeds; the position and the time are those of its
 * newest uplink.
 */
export async function blockOf(
  lines: Uint8Array,
  { position, receivedAt }: { readonly position: number; readonly receivedAt: EpochMs },
): Promise<Buffer> {
  const type = blockFrameType + rawUplinkFormat - 1;
  const block = await compressBlock(lines);
  return frameOf({ type, position, storedAt: receivedAt }, block);
}

/** The lines of the payload of a block. */
export function linesOf(payload: Buffer): string[] {
  return decompressBlock(payload).toString('utf8').split('\n');
}

/** The lines of one block; undefined when its bytes are not what was written. */
export async function readLines(
  file: FileHandle,
  { offset, bytes }: BlockPlace,
): Promise<string[] | undefined> {
  const block = await readBlock(file, offset, bytes);
  return block && linesOf(block.payload);
}

interface SegmentCopy {
  readonly contents: SegmentContents;
  readonly bytes: number;
  readonly damage: readonly BlockDamage[];
}

/**
 * Writes the segment's uplinks to another file, but for lines that are not to be kept; durable when
 * it resolves.
 */
export async function copySegment(
  from: string,
  blocks: readonly BlockPlace[],
  to: string,
  keep: (line: string) => boolean,
): Promise<SegmentCopy> {
  const contents = new SegmentContents();
  const damage: BlockDamage[] = [];
  const source = await open(from, 'r');
  try {
    const target = await SegmentAppender.open({ path: to, bytes: 0, synced: 0 });
    try {
      for (const place of blocks) {
        const { offset, bytes } = place;
        const read = await readLines(source, place);
        if (read === undefined) damage.push({ path: from, offset, bytes });
        const lines = read?.filter(keep) ?? [];
        const last = lines.at(-1);
        if (last === undefined) continue;
        const { position } = uplinkOf(last);
        const block = Buffer.from(lines.join('\n'));
        const frame = await blockOf(block, { position, receivedAt: place.to });
        const at = { offset: await target.append(frame), bytes: frame.length };
        contents.add(at, lines.map(headOf), position);
      }
      await target.sync();
    } finally {
      await target.close();
    }
    return { contents, bytes: target.segment.bytes, damage };
  } finally {
    await source.close();
  }
}

// Index of a closed segment: its blocks, and the uplinks per device in each block.
// File: the head, CRC32 u32 of the table, the table of devices, then for each device its pairs.

interface SegmentHead {
  /** Of the index and its segment. */
  readonly format: number;
  readonly blocks: readonly BlockPlace[];
  readonly devices: number;
  readonly uplinks: number;
  readonly lastPosition: number;
}

/** A segment that is complete: its index has the rest. */
export interface ClosedSegment extends SegmentName {
  readonly head: SegmentHead;
  readonly bytes: number;
  /** When its newest uplink was received. */
  readonly to: EpochMs;
}

/** The segment of a head that was written or read. */
export function closedSegment(
  { number, generation, path }: SegmentName,
  head: SegmentHead,
  bytes: number,
): ClosedSegment {
  const to = head.blocks.reduce((newest, block) => Math.max(newest, block.to), 0);
  return { number, generation, path, head, bytes, to };
}

const rowBytes = 32;
const idBytes = 16;
const pairBytes = 8;

/** Writes the index of a segment that is complete; durable when it resolves. */
export async function closeSegment(
  name: SegmentName,
  contents: SegmentContents,
  bytes: number,
): Promise<ClosedSegment> {
  const { blocks, devices, uplinks, lastPosition } = contents;
  const rows = [...devices].toSorted(byId);
  const head = { format: rawUplinkFormat, blocks, devices: rows.length, uplinks, lastPosition };
  const headBytes = indexHead(head);
  const table = Buffer.alloc(rows.length * rowBytes);
  const pairs: Buffer[] = [];
  let offset = headBytes.length + 4 + table.length;
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
  await writeIndexFile(indexPath(name.path), [headBytes, tableCrc, table, ...pairs]);
  return closedSegment(name, head, bytes);
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
 * The head of the index of a segment; undefined when there is none or it is damaged. Throws
 * OtherFormatError for one of another format.
 */
export async function readHead(segment: string): Promise<SegmentHead | undefined> {
  const path = indexPath(segment);
  return IndexFile.use(path, async (index: IndexFile<SegmentHead>) => {
    const found = await index.head();
    if (found !== undefined) refuseOtherUplinks(path, found.head.format);
    return found?.head;
  });
}

/** Reads indexes of closed segments; keeps the tables of devices that were read last. */
export class SegmentIndexes {
  readonly #tables = new Map<string, Buffer>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Forgets a segment that is removed. */
  forget(segment: string): void {
    this.#bytes -= this.#tables.get(segment)?.length ?? 0;
    this.#tables.delete(segment);
  }

  /** Whether the segment may have uplinks of some of the devices: a damaged index hides them. */
  async mayHave(segment: string, deviceIds: ReadonlySet<string>): Promise<boolean> {
    const table = await this.#table(segment);
    return table === undefined || [...deviceIds].some((id) => table.includes(id, 0, 'latin1'));
  }

  /** The blocks with uplinks of the device; undefined when the index cannot be read. */
  async countsOf(segment: string, deviceId: string): Promise<BlockCount[] | undefined> {
    const table = await this.#table(segment);
    if (table === undefined) return undefined;
    const row = findRow(table, deviceId);
    if (row === undefined) return [];
    const pairs = await IndexFile.use(indexPath(segment), (index) =>
      index.read(
        table.readUInt32LE(row + idBytes),
        table.readUInt32LE(row + idBytes + 4),
        table.readUInt32LE(row + idBytes + 8),
      ),
    );
    if (pairs === undefined) return undefined;
    return Array.from({ length: pairs.length / pairBytes }, (_, at) => ({
      block: pairs.readUInt32LE(at * pairBytes),
      count: pairs.readUInt32LE(at * pairBytes + 4),
    }));
  }

  /** Undefined when the table cannot be read. */
  async #table(segment: string): Promise<Buffer | undefined> {
    const table = this.#tables.get(segment) ?? (await readTable(segment));
    if (table === undefined) return undefined;
    this.forget(segment);
    this.#tables.set(segment, table);
    this.#bytes += table.length;
    for (const oldest of this.#tables.keys()) {
      if (this.#bytes <= this.#bytesMax || oldest === segment) break;
      this.forget(oldest);
    }
    return table;
  }
}

async function readTable(segment: string): Promise<Buffer | undefined> {
  return IndexFile.use(indexPath(segment), async (index: IndexFile<SegmentHead>) => {
    const found = await index.head();
    if (found === undefined) return undefined;
    const checksum = await index.bytes(found.end, 4);
    return (
      checksum && index.read(found.end + 4, found.head.devices * rowBytes, checksum.readUInt32LE(0))
    );
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
