// Segments of the delivery log, and which a start or a check finds: blocks of records, the rows of each connector, and the index file that has them.
// Index file: the head, then the rows of each connector.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';
import {
  blockBytes,
  type BlockDamage,
  compressBlock,
  decompressBlock,
  type GrowingSegment,
  IndexFile,
  listSegments,
  openExisting,
  readBlock,
  scanBlocks,
  segmentDigits,
} from '../block-log/segment-files.ts';
import { frameOf, unreadableText } from '../log/frame.ts';
import {
  blockTypes,
  deliveryLogFormat,
  recordsOf,
  refuseOtherBlock,
  refuseOtherDeliveries,
} from './record.ts';
import { type Owner, Owners, RecordRows, rowBytes, type RowCounts, RowTable } from './row-table.ts';
import { isDiskFull } from '../../model/problem.ts';
import { readChecked, replaceChecked } from '../log/durable-file.ts';

const segmentSuffix = 'deliveries';

/** Something that was written and cannot be read; what it held is lost. */
export interface DeliveryLogDamage {
  readonly path: string;
  readonly reason: string;
}

export function unreadable({ path, ...damage }: BlockDamage): DeliveryLogDamage {
  return { path, reason: unreadableText(damage) };
}

/** The table of a connector in the index file. */
interface TablePlace {
  readonly counts: RowCounts;
  readonly offset: number;
  readonly checksum: number;
}

/** What of a segment is kept in memory. */
interface SegmentHead {
  readonly format: number;
  /** Of the segment; what is longer was written after the index. */
  readonly bytes: number;
  readonly records: number;
  readonly lastPosition: number;
  readonly updated: number;
  readonly hasForeignIds: boolean;
  readonly owners: readonly Owner[];
  /** By connector; offsets count from the end of the head. */
  readonly tables: readonly (readonly [string, TablePlace])[];
}

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${segmentDigits(number)}.${segmentSuffix}`);
}

/** A segment with its rows in memory. */
export class Segment extends RecordRows implements GrowingSegment {
  readonly number: number;
  readonly path: string;
  bytes = 0;
  synced = 0;

  constructor(path: string, number: number) {
    super();
    this.path = path;
    this.number = number;
  }

  /**
   * Reads the blocks between two offsets and enters their records. A torn end is behind `end` and
   * not damage, nor is what cannot be read behind the synced bytes: the blocks end before it. Throws
   * OtherFormatError for blocks of another format.
   */
  async scan(
    from: number,
    to: number,
  ): Promise<{ readonly end: number; readonly damage: readonly DeliveryLogDamage[] }> {
    const { path, synced } = this;
    const { end, damage } = await scanBlocks(path, { from, to, synced }, (frame, offset) => {
      refuseOtherBlock(path, frame.type);
      for (const { at, record } of recordsOf(unpacked(frame))) this.add(record, offset, at);
      return true;
    });
    return { end, damage: damage.map(unreadable) };
  }

  /** Takes over what an index covers, and returns how many bytes that is: 0 when it is damaged. */
  async takeIndex(head: SegmentHead): Promise<number> {
    const tables = await readTables(this.path);
    if (tables === undefined) return 0;
    this.tables = tables;
    this.records = head.records;
    this.lastPosition = head.lastPosition;
    this.updated = head.updated;
    this.hasForeignIds = head.hasForeignIds;
    this.owners = new Owners(head.owners);
    return head.bytes;
  }

  head(): SegmentHead {
    const tables: [string, TablePlace][] = [];
    let offset = 0;
    for (const [connectorId, { bytes, counts }] of this.tables) {
      tables.push([connectorId, { counts: { ...counts }, offset, checksum: crc32(bytes) }]);
      offset += bytes.length;
    }
    const { bytes, records, lastPosition, updated, hasForeignIds, owners } = this;
    return {
      format: deliveryLogFormat,
      bytes,
      records,
      lastPosition,
      updated,
      hasForeignIds,
      tables,
      owners: owners.list,
    };
  }

  /** Writes the index of what there is; durable when it resolves. */
  async writeIndex(): Promise<SegmentHead> {
    const head = this.head();
    const rows = [...this.tables.values()].map(({ bytes }) => bytes);
    await IndexFile.write(this.path, [IndexFile.headBytes(head), ...rows]);
    return head;
  }
}

/** A complete segment: its rows are in its index file. */
export class ClosedSegment {
  readonly number: number;
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  readonly lastPosition: number;
  readonly updated: number;
  readonly hasForeignIds: boolean;
  readonly owners: readonly Owner[];
  /** By connector. */
  readonly counts: ReadonlyMap<string, RowCounts>;

  constructor(path: string, number: number, head: SegmentHead) {
    this.path = path;
    this.number = number;
    this.bytes = head.bytes;
    this.records = head.records;
    this.lastPosition = head.lastPosition;
    this.updated = head.updated;
    this.hasForeignIds = head.hasForeignIds;
    this.owners = head.owners;
    this.counts = new Map(head.tables.map(([connectorId, { counts }]) => [connectorId, counts]));
  }

  /** The rows of a connector; an index that is lost or damaged is rebuilt. */
  async tableOf(connectorId: string): Promise<RowTable> {
    const { path } = this;
    const table = await readTable(path, connectorId);
    if (table !== undefined) return table;
    try {
      const anew = new Segment(path, this.number);
      const { size } = await stat(path);
      await anew.scan(0, size);
      anew.bytes = size;
      await anew.writeIndex();
      return anew.tables.get(connectorId) ?? new RowTable();
    } catch (error) {
      // It was removed meanwhile, and what was needed of it is elsewhere.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new RowTable();
      throw error;
    }
  }
}

/** The frame of a block. */
export async function blockOf(
  block: Buffer,
  head: { readonly position: number; readonly storedAt: EpochMs },
  packedBytesMin: number,
): Promise<Buffer> {
  if (block.length < packedBytesMin) return frameOf({ type: blockTypes.plain, ...head }, block);
  return frameOf({ type: blockTypes.packed, ...head }, await compressBlock(block));
}

/**
 * The unpacked block at the offset; `damaged` when its bytes are not what was written, undefined
 * when the segment was removed.
 */
export async function readRecords(
  path: string,
  offset: number,
): Promise<Buffer | 'damaged' | undefined> {
  const file = await openExisting(path);
  if (file === undefined) return undefined;
  try {
    const bytes = await blockBytes(file, offset);
    const frame = bytes === undefined ? undefined : await readBlock(file, offset, bytes);
    return frame === undefined ? 'damaged' : unpacked(frame);
  } finally {
    await file.close();
  }
}

function unpacked({ type, payload }: { readonly type: number; readonly payload: Buffer }): Buffer {
  return type % 2 === blockTypes.packed % 2 ? decompressBlock(payload) : payload;
}

/** Checks the blocks of the first bytes without entering their records; all of them are synced. */
async function checkBlocks(path: string, to: number): Promise<DeliveryLogDamage[]> {
  const range = { from: 0, to, synced: Number.POSITIVE_INFINITY };
  const { damage, tail } = await scanBlocks(path, range, () => true);
  return [...damage, ...tail].map(unreadable);
}

/** Undefined without an index or with a damaged one. Throws OtherFormatError for one of another format. */
async function readHead(segment: string): Promise<SegmentHead | undefined> {
  return IndexFile.use(segment, async (index: IndexFile<SegmentHead>) => {
    return (await headIn(segment, index))?.head;
  });
}

async function headIn(segment: string, index: IndexFile<SegmentHead>) {
  const found = await index.head();
  if (found !== undefined) refuseOtherDeliveries(IndexFile.pathOf(segment), found.head.format);
  return found;
}

/** All tables of an index; undefined when one of them is damaged. */
async function readTables(segment: string): Promise<Map<string, RowTable> | undefined> {
  return IndexFile.use(segment, async (index: IndexFile<SegmentHead>) => {
    const found = await headIn(segment, index);
    if (found === undefined) return undefined;
    const tables = new Map<string, RowTable>();
    for (const [connectorId, place] of found.head.tables) {
      const table = await tableIn(index, found.end, place);
      if (table === undefined) return undefined;
      tables.set(connectorId, table);
    }
    return tables;
  });
}

/** The rows of a connector; undefined when they are damaged. */
async function readTable(segment: string, connectorId: string): Promise<RowTable | undefined> {
  return IndexFile.use(segment, async (index: IndexFile<SegmentHead>) => {
    const found = await headIn(segment, index);
    if (found === undefined) return undefined;
    const place = found.head.tables.find(([id]) => id === connectorId)?.[1];
    return place === undefined ? new RowTable() : tableIn(index, found.end, place);
  });
}

async function tableIn(
  index: IndexFile<SegmentHead>,
  from: number,
  { counts, offset, checksum }: TablePlace,
): Promise<RowTable | undefined> {
  const bytes = await index.read(from + offset, counts.rows * rowBytes, checksum);
  return bytes && new RowTable(bytes, counts);
}

// Segments of a start or a check: those of the manifest, their indexes, and the end of the newest one; damage is reported.

export interface FoundSegments {
  /** Ascending by number. */
  readonly closed: ClosedSegment[];
  /** The one to continue; its file may be longer than its bytes. */
  readonly open: Segment | undefined;
  readonly nextNumber: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/** Reads what a start must know. */
export async function findSegments(
  directory: string,
  /** Whether the folder had files before, so that an empty one is damage. */
  expected: boolean,
  /** Whether indexes that are missing are written, which a check does not. */
  repair: boolean,
): Promise<FoundSegments> {
  const names = await listSegments(directory, segmentSuffix);
  const numbers = names.map(({ number }) => number);
  const damage: DeliveryLogDamage[] = [];
  const written = await writtenBytes(directory, { numbers, expected }, damage);
  const closed: ClosedSegment[] = [];
  let open: Segment | undefined;
  for (const { number, path } of names) {
    const isLast = number === numbers.at(-1);
    // Segments before the last one are synced as a whole; without a manifest nobody knows of that one.
    const synced = isLast ? (written?.get(number) ?? (written ? 0 : Infinity)) : Infinity;
    const found = await findSegment(new Segment(path, number), { isLast, synced });
    const short = shortOf(path, found, written?.get(number) ?? 0);
    damage.push(...found.damage, ...short);
    const isHarmed = found.damage.length + short.length > 0;
    if (found.segment === undefined) closed.push(new ClosedSegment(path, number, found.head));
    else if (isLast && !isHarmed) open = found.segment;
    else {
      // What cannot be read stays in the file for a repair.
      found.segment.bytes = found.size;
      const head = found.segment.head();
      if (repair) await unlessDiskFull(found.segment.writeIndex());
      closed.push(new ClosedSegment(path, number, head));
    }
  }
  const known = [...numbers, ...(written?.keys() ?? [])];
  return { closed, open, nextNumber: Math.max(0, ...known) + 1, damage };
}

/** The synced bytes of each segment. Undefined without a manifest; one that is missing is reported, as are segments. */
async function writtenBytes(
  directory: string,
  { numbers, expected }: { readonly numbers: readonly number[]; readonly expected: boolean },
  damage: DeliveryLogDamage[],
): Promise<ReadonlyMap<number, number> | undefined> {
  const manifest = await readManifest(directory);
  if (manifest === 'missing' && (expected || numbers.length > 0))
    damage.push({ path: directory, reason: 'the manifest is missing' });
  if (manifest !== 'missing' && 'damaged' in manifest)
    damage.push({ path: manifest.damaged, reason: 'it cannot be read' });
  if (manifest === 'missing' || 'damaged' in manifest) return undefined;
  for (const [number] of manifest.segments) {
    if (!numbers.includes(number))
      damage.push({ path: segmentPath(directory, number), reason: 'the segment is missing' });
  }
  return new Map(manifest.segments);
}

/** A start does not fail because the disk is full: the next one writes it. */
export async function unlessDiskFull(write: Promise<unknown>): Promise<boolean> {
  return write.then(
    () => true,
    (error: unknown) => {
      if (isDiskFull(error)) return false;
      throw error;
    },
  );
}

interface Found {
  /** Bytes that the index on the disk covers. */
  readonly indexed: number;
  /** Undefined when the index says everything. */
  readonly segment: Segment | undefined;
  readonly head: SegmentHead;
  readonly size: number;
  /** Behind the last whole block. */
  readonly end: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/** Reports a segment of which less can be read than was written. */
function shortOf(path: string, { indexed, end }: Found, written: number): DeliveryLogDamage[] {
  const wanted = Math.max(written, indexed);
  if (end >= wanted) return [];
  return [{ path, reason: `${wanted} bytes were written and ${end} can be read` }];
}

async function findSegment(
  segment: Segment,
  { isLast, synced }: { readonly isLast: boolean; readonly synced: number },
): Promise<Found> {
  const { path } = segment;
  const { size } = await stat(path);
  const head = await readHead(path);
  if (!isLast && head !== undefined && head.bytes === size)
    return { indexed: size, segment: undefined, head, size, end: size, damage: [] };
  const covered = head !== undefined && head.bytes <= size ? await segment.takeIndex(head) : 0;
  const checked = await checkBlocks(path, covered);
  segment.synced = Math.max(synced, covered);
  const scanned = await segment.scan(covered, size);
  segment.bytes = scanned.end;
  segment.synced = Math.min(segment.synced, scanned.end);
  return {
    indexed: head?.bytes ?? 0,
    segment,
    size,
    head: segment.head(),
    end: scanned.end,
    damage: [...checked, ...scanned.damage],
  };
}

// Manifest of the delivery log: its segments and how many bytes of each are on the disk for certain.

interface Manifest {
  /** By number, ascending; the last one may be longer. */
  readonly segments: readonly (readonly [number: number, bytes: number])[];
}

const manifestPath = (directory: string): string => join(directory, 'manifest.json');

/** Durable when it resolves. */
export async function writeManifest(directory: string, { segments }: Manifest): Promise<void> {
  const text = JSON.stringify({ format: deliveryLogFormat, segments });
  await replaceChecked(manifestPath(directory), text);
}

/** Throws OtherFormatError for one of another format. */
async function readManifest(
  directory: string,
): Promise<Manifest | 'missing' | { readonly damaged: string }> {
  const path = manifestPath(directory);
  const found = await readChecked(path);
  if (found === undefined) return 'missing';
  if (found === 'damaged') return { damaged: path };
  const manifest = JSON.parse(found.text) as Manifest & { readonly format: number };
  refuseOtherDeliveries(path, manifest.format);
  return manifest;
}

// Check of a data folder: reads every block, changes nothing.

export interface DeliveryLogFindings {
  readonly records: number;
  /** Without a torn end, whose deliveries are sent again. */
  readonly damage: readonly DeliveryLogDamage[];
}

/** `expected`: whether the folder had files before. */
export async function verifyDeliveryLog(
  directory: string,
  expected: boolean,
): Promise<DeliveryLogFindings> {
  const { closed, open, damage } = await findSegments(directory, expected, false);
  const found = [...damage];
  const told = new Set(damage.map(({ path }) => path));
  for (const { path, bytes } of closed)
    if (!told.has(path)) found.push(...(await checkBlocks(path, bytes)));
  const records = closed.reduce((sum, segment) => sum + segment.records, open?.records ?? 0);
  return { records, damage: found };
}
