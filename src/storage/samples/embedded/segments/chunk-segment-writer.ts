// Writing a segment file: chunks one after the other, then an index that says all about them, then a footer that finds the index.
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, zstdCompress } from 'node:zlib';
import { missing } from '../../../../structures/missing.ts';
import { syncDirectory } from '../../../log/durable-file.ts';
import { type Chunk, sectionCount, statisticsPerColumn } from '../chunks/chunk.ts';

/** A larger one is of a newer version of the program, whose chunks would read as damage. */
export const segmentFormat = 1;
export const segmentMagic = 0x3153_4c48;
export const footerBytes = 16;
const writeBytes = 1024 * 1024;
const chunksPerSlice = 1_000;
const compressed = promisify(zstdCompress);

/** A chunk and whose it is. */
export interface PlacedChunk {
  readonly deviceId: string;
  readonly topic: string;
  readonly chunk: Chunk;
}

/** Where a written chunk is, and its share of its segment's arrays. */
export type ChunkPlace = Pick<Chunk, 'offset' | 'stats' | 'statsAt' | 'ends' | 'endsAt'>;

/** The names in an index; chunks refer to them by number. */
export interface SegmentHead {
  /** Of the segment and its chunks. */
  readonly format: number;
  /** Segments whose contents are in this one: they count no more, whatever the manifest says. */
  readonly replaces: readonly string[];
  readonly devices: readonly string[];
  readonly topics: readonly string[];
  readonly schemas: readonly string[];
  /** [workspace, data flow]. */
  readonly origins: readonly (readonly [string, string | null])[];
  /**
   * Origins of each chunk that has more than one, with their rows; the others have one number in
   * the table.
   */
  readonly originSets: readonly (readonly (readonly [number, number])[])[];
  readonly chunks: number;
}

/** Numbers of each chunk in the index: doubles and words, in this order. */
export const doublesPerChunk = 5;
export const wordsPerChunk = 6;

/**
 * Writes and syncs the file and says where the chunks went. Chunk bytes are verified nowhere on the
 * way: they are copied as they are, each section with its checksum. Without room the file is
 * removed again. It gets its name when it is whole, so that a file with the name of a segment is
 * one.
 */
export async function writeSegment(
  path: string,
  placed: readonly PlacedChunk[],
  replaces: readonly string[],
): Promise<readonly ChunkPlace[]> {
  const beside = join(dirname(path), `.${basename(path)}.new`);
  const file = await open(beside, 'w');
  try {
    const offsets = await writeChunks(file, placed);
    const end = alignedEnd(placed, offsets);
    const { encoded, places } = await encodeIndex(placed, offsets, replaces);
    const index = await compressed(encoded);
    const footer = Buffer.alloc(footerBytes);
    footer.writeUInt32LE(index.length, 0);
    footer.writeUInt32LE(crc32(index), 4);
    footer.writeUInt32LE(placed.length, 8);
    footer.writeUInt32LE(segmentMagic, 12);
    await file.write(Buffer.concat([index, footer]), 0, index.length + footerBytes, end);
    await file.datasync();
    await file.close();
    await rename(beside, path);
    await syncDirectory(dirname(path));
    return places;
  } catch (error) {
    await file.close().catch(() => undefined);
    for (const name of [beside, path]) await unlink(name).catch(() => undefined);
    throw error;
  }
}

async function writeChunks(file: FileHandle, placed: readonly PlacedChunk[]): Promise<number[]> {
  const offsets: number[] = [];
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let written = 0;
  async function flush(): Promise<void> {
    const bytes = Buffer.concat(batch, batchBytes);
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, written + done)).bytesWritten;
    written += batchBytes;
    batch = [];
    batchBytes = 0;
  }
  for (const { chunk } of placed) {
    offsets.push(written + batchBytes);
    batch.push(chunk.file.read(chunk.offset, chunk.length), new Uint8Array(-chunk.length & 3));
    batchBytes += (chunk.length + 3) & ~3;
    if (batchBytes >= writeBytes) await flush();
  }
  await flush();
  return offsets;
}

function alignedEnd(placed: readonly PlacedChunk[], offsets: readonly number[]): number {
  const last = placed.at(-1);
  const offset = offsets.at(-1) ?? 0;
  return offset + (((last?.chunk.length ?? 0) + 3) & ~3);
}

/** In slices, and compressed by another thread: the index of a large segment takes long. */
async function encodeIndex(
  placed: readonly PlacedChunk[],
  offsets: readonly number[],
  replaces: readonly string[],
): Promise<{ encoded: Buffer; places: ChunkPlace[] }> {
  const names = {
    devices: new Map<string, number>(),
    topics: new Map<string, number>(),
    schemas: new Map<string, number>(),
    origins: new Map<string, number>(),
  };
  const originSets: (readonly [number, number])[][] = [];
  const sections = placed.reduce((sum, { chunk }) => sum + sectionCount(chunk.schema), 0);
  const columns = placed.reduce((sum, { chunk }) => sum + chunk.schema.columnCount, 0);
  const doubles = new Float64Array(placed.length * doublesPerChunk + columns * statisticsPerColumn);
  const words = new Uint32Array(placed.length * wordsPerChunk + sections);
  const places: ChunkPlace[] = [];
  let statsAt = placed.length * doublesPerChunk;
  let endsAt = placed.length * wordsPerChunk;
  for (const [i, { deviceId, topic, chunk }] of placed.entries()) {
    if (i % chunksPerSlice === chunksPerSlice - 1) await nextTurn();
    const { schema } = chunk;
    const offset = offsets[i] ?? missing('offset of a chunk');
    doubles.set(
      [chunk.oldest, chunk.newest, chunk.minOrder, chunk.maxOrder, offset],
      i * doublesPerChunk,
    );
    words.set(
      [
        chunk.length,
        chunk.rows,
        numberIn(names.devices, deviceId),
        numberIn(names.topics, topic),
        numberIn(names.schemas, schema.text),
        originReference(chunk, names.origins, originSets),
      ],
      i * wordsPerChunk,
    );
    places.push({ offset, stats: doubles, statsAt, ends: words, endsAt });
    const statsEnd = chunk.statsAt + schema.columns.length * statisticsPerColumn;
    doubles.set(chunk.stats.subarray(chunk.statsAt, statsEnd), statsAt);
    statsAt += statsEnd - chunk.statsAt;
    words.set(chunk.ends.subarray(chunk.endsAt, chunk.endsAt + sectionCount(schema)), endsAt);
    endsAt += sectionCount(schema);
  }
  const head: SegmentHead = {
    format: segmentFormat,
    replaces,
    devices: [...names.devices.keys()],
    topics: [...names.topics.keys()],
    schemas: [...names.schemas.keys()],
    origins: [...names.origins.keys()].map((text) => JSON.parse(text) as [string, string | null]),
    originSets,
    chunks: placed.length,
  };
  return { encoded: packIndex(head, doubles, words), places };
}

/**
 * An even number is the one origin of the chunk, an odd one its set of origins, which is added to
 * the sets.
 */
function originReference(
  { origins, originRows }: Chunk,
  names: Map<string, number>,
  originSets: (readonly [number, number])[][],
): number {
  const counts = origins.map(({ workspaceId, dataFlowId }, i) => {
    const id = numberIn(names, JSON.stringify([workspaceId, dataFlowId]));
    return [id, originRows[i] ?? missing('count of an origin')] as const;
  });
  const [first] = counts;
  if (first !== undefined && counts.length === 1) return first[0] * 2;
  return originSets.push(counts) * 2 - 1;
}

function packIndex(head: SegmentHead, doubles: Float64Array, words: Uint32Array): Buffer {
  const headBytes = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(12);
  lengths.writeUInt32LE(headBytes.length, 0);
  lengths.writeUInt32LE(doubles.length, 4);
  lengths.writeUInt32LE(words.length, 8);
  return Buffer.concat([
    lengths,
    headBytes,
    new Uint8Array(doubles.buffer, 0, doubles.byteLength),
    new Uint8Array(words.buffer, 0, words.byteLength),
  ]);
}

// Names numbered in the order of their first use, as tables in files refer to them.

/** The number of the name, a new one when it is new. */
function numberIn(names: Map<string, number>, name: string): number {
  let number = names.get(name);
  if (number === undefined) {
    number = names.size;
    names.set(name, number);
  }
  return number;
}
