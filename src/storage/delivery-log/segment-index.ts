// Index of a segment: a file with its counts and the rows of each connector.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../log/durable-file.ts';
import { deliveryLogFormat, refuseOtherDeliveries } from './format.ts';
import { type Owner, Owners, rowBytes, type RowCounts, RowTable } from './row-table.ts';
import { indexPath, type Segment } from './segment.ts';

/** The table of a connector in the index file. */
export interface TablePlace {
  readonly counts: RowCounts;
  readonly offset: number;
  readonly checksum: number;
}

/** What of a segment is kept in memory. */
export interface SegmentHead {
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

const prefixBytes = 8;

export function headOf(segment: Segment): SegmentHead {
  const tables: [string, TablePlace][] = [];
  let offset = 0;
  for (const [connectorId, table] of segment.tables ?? []) {
    const { bytes, counts } = table;
    tables.push([connectorId, { counts: { ...counts }, offset, checksum: crc32(bytes) }]);
    offset += bytes.length;
  }
  const { bytes, records, lastPosition, updated, hasForeignIds, owners } = segment;
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

/** Writes the index of a segment whose tables are in memory; durable when it resolves. */
export async function writeIndex(segment: Segment): Promise<SegmentHead> {
  const head = headOf(segment);
  const text = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(crc32(text), 0);
  prefix.writeUInt32LE(text.length, 4);
  const rows = [...(segment.tables?.values() ?? [])].map(({ bytes }) => bytes);
  await replaceFile(indexPath(segment.path), Buffer.concat([prefix, text, ...rows]));
  return head;
}

/** Undefined without an index or with a damaged one. Throws OtherFormatError for one of another format. */
export async function readHead(segmentFile: string): Promise<SegmentHead | undefined> {
  return withIndex(segmentFile, async (file) => (await headIn(segmentFile, file))?.head);
}

/** All tables of an index; undefined when one of them is damaged. */
export async function readTables(segmentFile: string): Promise<Map<string, RowTable> | undefined> {
  return withIndex(segmentFile, async (file) => {
    const found = await headIn(segmentFile, file);
    if (found === undefined) return undefined;
    const tables = new Map<string, RowTable>();
    for (const [connectorId, place] of found.head.tables) {
      const table = await tableIn(file, found.end, place);
      if (table === undefined) return undefined;
      tables.set(connectorId, table);
    }
    return tables;
  });
}

/** The rows of a connector; undefined when they are damaged. */
export async function readTable(
  segmentFile: string,
  connectorId: string,
): Promise<RowTable | undefined> {
  return withIndex(segmentFile, async (file) => {
    const found = await headIn(segmentFile, file);
    const place = found?.head.tables.find(([id]) => id === connectorId)?.[1];
    if (found === undefined) return undefined;
    return place === undefined ? new RowTable() : tableIn(file, found.end, place);
  });
}

export const ownersOf = ({ owners }: SegmentHead): Owners => new Owners(owners);

async function headIn(
  segmentFile: string,
  file: FileHandle,
): Promise<{ readonly head: SegmentHead; readonly end: number } | undefined> {
  const prefix = await bytesAt(file, 0, prefixBytes);
  const length = prefix?.readUInt32LE(4) ?? 0;
  if (prefix === undefined || length > (await file.stat()).size) return undefined;
  const text = await bytesAt(file, prefixBytes, length);
  if (text === undefined || crc32(text) !== prefix.readUInt32LE(0)) return undefined;
  const head = JSON.parse(text.toString('utf8')) as SegmentHead;
  refuseOtherDeliveries(indexPath(segmentFile), head.format);
  return { head, end: prefixBytes + length };
}

async function tableIn(
  file: FileHandle,
  from: number,
  { counts, offset, checksum }: TablePlace,
): Promise<RowTable | undefined> {
  const bytes = await bytesAt(file, from + offset, counts.rows * rowBytes);
  if (bytes === undefined || crc32(bytes) !== checksum) return undefined;
  return new RowTable(bytes, counts);
}

async function bytesAt(file: FileHandle, offset: number, length: number) {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}

async function withIndex<T>(
  segmentFile: string,
  use: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  let file: FileHandle;
  try {
    file = await open(indexPath(segmentFile), 'r');
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
