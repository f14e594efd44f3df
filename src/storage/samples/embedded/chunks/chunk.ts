// A sealed chunk: immutable, checksummed sections of one device and topic, and what is known of it without reading them.
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../../../model/instant.ts';
import type { ChunkSchema } from './chunk-schema.ts';
import { ByteReader } from '../../../../structures/bytes.ts';
import type { Origin } from '../rows/rows.ts';

/**
 * The sections before those of the columns; behind the columns comes one section of hours for each
 * column.
 */
export const sections = {
  timestamps: 0,
  orders: 1,
  shapeIds: 2,
  originIds: 3,
  metas: 4,
  hours: 5,
} as const;
export const fixedSections = 6;
const checksumBytes = 4;

/**
 * Statistics of each column, in this order: values, their sum, least and greatest; booleans count
 * as 0 and 1, texts have a count only.
 */
export const statistics = { count: 0, sum: 1, min: 2, max: 3 } as const;
export const statisticsPerColumn = 4;

/** Where the bytes of chunks are. */
export interface ChunkFile {
  readonly name: string;
  /**
   * Bytes of the file from `offset` on, beginning on a four-byte boundary of their memory: in
   * `into` when that is given and large enough, else in memory that never changes.
   */
  readonly read: (offset: number, length: number, into?: Uint8Array) => Uint8Array;
}

export interface Chunk {
  /**
   * Where its bytes are, and its share of the arrays below: these change when it is written to a
   * segment.
   */
  file: ChunkFile;
  offset: number;
  readonly length: number;
  readonly rows: number;
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  /** Least and greatest place among the rows of the device. */
  readonly minOrder: number;
  readonly maxOrder: number;
  readonly schema: ChunkSchema;
  readonly origins: readonly Origin[];
  /** Rows of each origin. */
  readonly originRows: readonly number[];
  /**
   * Ends of the sections relative to the chunk, from `endsAt` on; shared by the chunks of a
   * segment, as statistics are.
   */
  ends: Uint32Array;
  endsAt: number;
  stats: Float64Array;
  statsAt: number;
  /** Set when a section turned out unreadable: the chunk is left out from then on. */
  damaged: boolean;
}

/** The chunk cannot be read as it was written. */
export class DamagedChunk extends Error {
  override readonly name = 'DamagedChunk';
}

export function sectionCount(schema: ChunkSchema): number {
  return fixedSections + 2 * schema.columnCount;
}

export function hoursSection(schema: ChunkSchema, column: number): number {
  return fixedSections + schema.columnCount + column;
}

export function statOf(chunk: Chunk, column: number, statistic: number): number {
  return chunk.stats[chunk.statsAt + column * statisticsPerColumn + statistic]!;
}

/** Sections begin on a four-byte boundary behind the one before. */
function startOf(chunk: Chunk, section: number): number {
  return section === 0 ? 0 : (chunk.ends[chunk.endsAt + section - 1]! + 3) & ~3;
}

/** Whether the chunk has the section at all: constant things are left out. */
export function hasSection(chunk: Chunk, section: number): boolean {
  return chunk.ends[chunk.endsAt + section]! > startOf(chunk, section);
}

/**
 * The section, its checksum verified; `whole` are the bytes of the whole chunk when the caller has
 * read them.
 */
export function readSection(chunk: Chunk, section: number, whole?: Uint8Array): ByteReader {
  const start = startOf(chunk, section);
  const length = chunk.ends[chunk.endsAt + section]! - start;
  if (length <= checksumBytes)
    throw new DamagedChunk(`Section ${section} of a chunk in ${chunk.file.name} is missing`);
  const bytes =
    whole?.subarray(start, start + length) ?? chunk.file.read(chunk.offset + start, length);
  const body = bytes.subarray(0, length - checksumBytes);
  if (bytes.length !== length || crc32(body) !== checksumAt(bytes, length - checksumBytes))
    throw new DamagedChunk(
      `Section ${section} of the chunk at ${chunk.offset} in ${chunk.file.name} is damaged`,
    );
  return new ByteReader(body);
}

function checksumAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  );
}
