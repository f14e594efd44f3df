// Index of a closed segment: its blocks, and the uplinks per device in each block.
// File: the head, CRC32 u32 of the table, the table of devices, then for each device its pairs.
import { crc32 } from 'node:zlib';
import { IndexFile, indexHead, writeIndexFile } from '../../block-log/index-file.ts';
import { indexPath, type SegmentName } from '../../block-log/segment-files.ts';
import type { EpochMs } from '../../../model/instant.ts';
import {
  type BlockCount,
  type BlockPlace,
  rawUplinkFormat,
  refuseOtherUplinks,
  type SegmentContents,
} from './uplink-segment.ts';

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
