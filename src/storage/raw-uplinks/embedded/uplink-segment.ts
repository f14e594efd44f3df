// Segment of raw uplinks: blocks of lines, what is known of them, found and read at a start and rewritten without devices.
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { refuseOtherFormat } from '../../../model/problem.ts';
import type { EpochMs } from '../../../model/instant.ts';
import {
  type BlockDamage,
  compressBlock,
  decompressBlock,
  type GrowingSegment,
  IndexFile,
  listSegments,
  readBlock,
  removeSegment,
  scanBlocks,
  SegmentAppender,
  segmentDigits,
  type SegmentName,
} from '../../block-log/segment-files.ts';
import { frameBytes, frameOf, scanFrames } from '../../log/frame.ts';
import { deviceOfLine, uplinkOf } from '../raw-uplink-store.ts';
import { missing } from '../../../structures/missing.ts';
import { readChecked, replaceChecked, syncDirectory } from '../../log/durable-file.ts';

// The format of the files of raw uplinks: one number for blocks, indexes and the mark.

const rawUplinkFormat = 1;
export const segmentSuffix = 'uplinks';

/**
 * The frame type of a block; journal frames have smaller ones. A block of format n has this number
 * plus n - 1.
 */
const blockFrameType = 16;

/** Throws OtherFormatError for a file of another format. */
function refuseOtherUplinks(path: string, format: number): void {
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

interface ScannedSegment {
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
async function scanUplinks(
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

/**
 * Writes the segment's uplinks to another file, but for lines that are not to be kept; durable when
 * it resolves.
 */
export async function copySegment(
  from: string,
  blocks: readonly BlockPlace[],
  to: string,
  keep: (line: string) => boolean,
): Promise<{
  readonly contents: SegmentContents;
  readonly bytes: number;
  readonly damage: readonly BlockDamage[];
}> {
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
function closedSegment(
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
  const headBytes = IndexFile.headBytes(head);
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
  await IndexFile.write(name.path, [headBytes, tableCrc, table, ...pairs]);
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
async function readHead(segment: string): Promise<SegmentHead | undefined> {
  return IndexFile.use(segment, async (index: IndexFile<SegmentHead>) => {
    const found = await index.head();
    if (found !== undefined) refuseOtherUplinks(IndexFile.pathOf(segment), found.head.format);
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
    const pairs = await IndexFile.use(segment, (index) =>
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
  return IndexFile.use(segment, async (index: IndexFile<SegmentHead>) => {
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

// Segments of a start: the closed ones by their indexes, the one that was open, and the mark of its synced bytes.

// Durable mark: the synced length of the open segment. A shorter segment is damaged.

/** The open segment by its number, and its bytes that were synced. */
interface DurableMark {
  readonly sequence: number;
  readonly bytes: number;
}

const markPath = (directory: string): string => join(directory, 'durable.json');

/** The segment of the mark is gone. */
function missingSegment(directory: string, { sequence, bytes }: DurableMark): BlockDamage {
  return { path: segmentName(directory, sequence, 0).path, offset: 0, bytes };
}

/** Unlimited for a segment that no mark tells of: nothing of it may count as torn. */
function syncedOf({ number }: SegmentName, mark: DurableMark | undefined): number {
  return mark?.sequence === number ? mark.bytes : Number.POSITIVE_INFINITY;
}

/** Notes the mark. */
export async function writeDurableMark(directory: string, mark: DurableMark): Promise<void> {
  await replaceChecked(markPath(directory), JSON.stringify({ format: rawUplinkFormat, ...mark }));
}

/** Deletes the mark when no segment is open. */
export async function removeDurableMark(directory: string): Promise<void> {
  await rm(markPath(directory), { force: true });
  await syncDirectory(directory);
}

/**
 * Undefined without one; a damaged mark is none, because nothing depends on it but a warning.
 * Throws OtherFormatError for one of another format.
 */
async function readDurableMark(directory: string): Promise<DurableMark | undefined> {
  const found = await readChecked(markPath(directory));
  if (found === undefined || found === 'damaged') return undefined;
  const { format, ...mark } = JSON.parse(found.text) as DurableMark & { readonly format: number };
  refuseOtherUplinks(markPath(directory), format);
  return mark;
}

// Finding: what a start continues.

export interface FindingOptions {
  readonly directory: string;
  /**
   * The journal gives uplinks again from this position on; undefined when nothing was ever
   * followed.
   */
  readonly followedFrom: number | undefined;
  /**
   * Whether the journal lost some of the entries from a position on and before another; what it
   * cannot give again is not cut off.
   */
  readonly isLost?: (from: number, to: number) => boolean;
  /** Call for bytes that cannot be read, found when opening or reading. */
  readonly damaged: (damage: BlockDamage) => void;
}

export interface FoundSegments {
  /** In the order of writing. */
  readonly closed: ClosedSegment[];
  /** A segment that a stop or a crash left open, to be continued. */
  readonly open: WrittenSegment | undefined;
  readonly nextNumber: number;
  /** Uplinks up to this position are there already. */
  readonly lastPosition: number;
}

/** Reads the folder, and calls `damaged` for what is missing or cannot be read. */
export async function findSegments(options: FindingOptions): Promise<FoundSegments> {
  const { directory, damaged } = options;
  const { closed, left } = await openClosedSegments(directory, damaged);
  const mark = await readDurableMark(directory);
  const found = left === undefined ? undefined : await readOpen(left, mark);
  const short = found && (await closedShort(found, mark, options));
  if (short !== undefined) closed.push(short);
  const isOpenThere = left !== undefined || closed.some(({ number }) => number === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const open =
    found === undefined || short !== undefined ? undefined : await continued(found, options);
  const files = await listSegments(directory, segmentSuffix);
  const positions = closed.map(({ head }) => head.lastPosition);
  return {
    closed,
    open,
    nextNumber: (files.at(-1)?.number ?? 0) + 1,
    lastPosition: Math.max(open?.contents.lastPosition ?? -1, ...positions),
  };
}

/** A missing or damaged index is rebuilt. */
async function openClosedSegments(
  directory: string,
  damaged: (damage: BlockDamage) => void,
): Promise<{
  /** In the order of their writing. */
  readonly closed: ClosedSegment[];
  /** The one that was being written. */
  readonly left: SegmentName | undefined;
}> {
  const names = await withoutHalves(await listSegments(directory, segmentSuffix));
  const closed: ClosedSegment[] = [];
  for (const name of names) {
    const { size } = await stat(name.path);
    const head = await readHead(name.path);
    if (head !== undefined) {
      closed.push(closedSegment(name, head, size));
      continue;
    }
    if (name === names.at(-1) && name.generation === 0) return { closed, left: name };
    const { contents, damage } = await scanUplinks(name.path, { to: size, synced: Infinity });
    damage.forEach(damaged);
    closed.push(await closeSegment(name, contents, size));
  }
  return { closed, left: undefined };
}

/**
 * A segment is written anew under its next generation: the newest one with an index is whole,
 * others are what a crash left over.
 */
async function withoutHalves(names: readonly SegmentName[]): Promise<SegmentName[]> {
  const byNumber = Map.groupBy(names, ({ number }) => number);
  const whole: SegmentName[] = [];
  for (const generations of byNumber.values()) {
    const heads = await Promise.all(generations.map(({ path }) => readHead(path)));
    const newest = heads.findLastIndex((head) => head !== undefined);
    const kept = generations[Math.max(newest, 0)] ?? missing('generation of a segment');
    for (const other of generations) if (other !== kept) await removeSegment(other.path);
    whole.push(kept);
  }
  return whole;
}

/** The segment that was open. It is read once: of a busy platform it has 350,000 uplinks. */
interface FoundOpen {
  readonly name: SegmentName;
  readonly bytes: number;
  /** Bytes that were synced; unlimited when nobody knows. */
  readonly synced: number;
  readonly scanned: ScannedSegment;
}

async function readOpen(name: SegmentName, mark: DurableMark | undefined): Promise<FoundOpen> {
  const { size: bytes } = await stat(name.path);
  const synced = syncedOf(name, mark);
  return { name, bytes, synced, scanned: await scanUplinks(name.path, { to: bytes, synced }) };
}

/**
 * The open segment when it is shorter than what was synced of it: reported as damage and closed as
 * it is, so that nothing is cut off it. Undefined for a complete segment.
 */
async function closedShort(
  { name, bytes, scanned }: FoundOpen,
  mark: DurableMark | undefined,
  { directory, damaged }: FindingOptions,
): Promise<ClosedSegment | undefined> {
  if (mark === undefined || mark.sequence !== name.number || scanned.end >= mark.bytes)
    return undefined;
  scanned.damage.forEach(damaged);
  damaged({ path: name.path, offset: scanned.end, bytes: mark.bytes - scanned.end });
  const closed = await closeSegment(name, scanned.contents, bytes);
  await removeDurableMark(directory);
  return closed;
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there. Where the journal lost some of it, all blocks stay, and what it gives
 * again is skipped.
 */
async function continued(
  { name, bytes, synced, scanned: whole }: FoundOpen,
  { followedFrom, isLost = () => false, damaged }: FindingOptions,
): Promise<WrittenSegment> {
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut ? await scanUplinks(name.path, { to: bytes, synced }, followedFrom) : whole;
  scanned.damage.forEach(damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end, synced };
}

// Folder of raw uplinks without its store: checked, and how far it was followed.

export interface RawUplinkFindings {
  readonly uplinks: number;
  /** A torn end is none: the journal gives again what was in it. */
  readonly damage: readonly BlockDamage[];
}

/** Reads every block, changes nothing. A folder that is not there holds none. */
export async function verifyRawUplinks(directory: string): Promise<RawUplinkFindings> {
  const damage: BlockDamage[] = [];
  let uplinks = 0;
  const files = await listSegments(directory, segmentSuffix);
  const mark = await readDurableMark(directory);
  if (mark !== undefined && !files.some(({ number }) => number === mark.sequence))
    damage.push(missingSegment(directory, mark));
  for (const name of files) {
    const { path, number } = name;
    const { size } = await stat(path);
    const isLast = name === files.at(-1);
    const synced = isLast ? syncedOf(name, mark) : Number.POSITIVE_INFINITY;
    const scanned = await scanUplinks(path, { to: size, synced });
    uplinks += scanned.contents.uplinks;
    damage.push(...scanned.damage);
    const durable = number === mark?.sequence ? mark.bytes : 0;
    const indexed = await readHead(path);
    const written = Math.max(
      durable,
      ...(indexed?.blocks.map(({ offset, bytes }) => offset + bytes) ?? []),
    );
    if (scanned.end < written)
      damage.push({ path, offset: scanned.end, bytes: written - scanned.end });
    else if (scanned.end < size && !isLast)
      damage.push({ path, offset: scanned.end, bytes: size - scanned.end });
  }
  return { uplinks, damage };
}

/**
 * How far the journal was followed: the position behind the newest uplink in the folder, 0 without
 * any. Throws OtherFormatError for files of another format.
 */
export async function positionBehindUplinks(directory: string): Promise<number> {
  const newest = (await listSegments(directory, segmentSuffix)).at(-1);
  if (newest === undefined) return 0;
  let position = (await readHead(newest.path))?.lastPosition ?? -1;
  if (position < 0) {
    const { size } = await stat(newest.path);
    for await (const { frames } of scanFrames(newest.path, 0, size))
      for (const frame of frames) position = Math.max(position, frame.position);
  }
  return position + 1;
}
