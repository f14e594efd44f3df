// Writing a segment file: chunks one after the other, then an index that says all about them, then a footer that finds the index.
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { missing } from '../../../../structures/missing.ts';
import { syncDirectory } from '../../../log/durable-file.ts';
import {
  type Chunk,
  DamagedChunk,
  type SchemaInterner,
  statisticsPerColumn,
} from '../chunks/chunk.ts';
import type { ShapeInterner } from '../../../log/data-shape.ts';
import { OtherFormatError, refuseOtherFormat } from '../../../../model/problem.ts';
import type { Origins } from '../rows/series.ts';
import { SegmentFile } from './segment-file.ts';
import { RunFile, type RunIndex, runMagic } from '../runs/run-file.ts';

type SegmentContents = Omit<OpenedSegment, 'file'>;

/** A larger one is of a newer version of the program, whose chunks would read as damage. */
const segmentFormat = 1;
const segmentMagic = 0x3153_4c48;
export const footerBytes = 16;
const writeBytes = 1024 * 1024;
const chunksPerSlice = 1_000;
const compressed = promisify(zstdCompress);

/** A chunk and whose it is. */
interface PlacedChunk {
  readonly deviceId: string;
  readonly topic: string;
  readonly chunk: Chunk;
}

/** Where a written chunk is, and its share of its segment's arrays. */
export type ChunkPlace = Pick<Chunk, 'offset' | 'stats' | 'statsAt' | 'ends' | 'endsAt'>;

/** The names in an index; chunks refer to them by number. */
interface SegmentHead {
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
const doublesPerChunk = 5;
const wordsPerChunk = 6;

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
  const sections = placed.reduce((sum, { chunk }) => sum + chunk.schema.sectionCount, 0);
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
    words.set(chunk.ends.subarray(chunk.endsAt, chunk.endsAt + schema.sectionCount), endsAt);
    endsAt += schema.sectionCount;
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

// Opening a segment file, of chunks or a run: its index in memory, the rest read when it is asked for.

export interface OpenedSegment {
  readonly file: SegmentFile;
  readonly replaces: readonly string[];
  /** Empty for a run. */
  readonly placed: readonly PlacedChunk[];
  /** The index of a run; undefined for a segment of chunks. */
  readonly run?: RunIndex;
}

export interface Interners {
  readonly shapes: ShapeInterner;
  readonly schemas: SchemaInterner;
  readonly origins: Origins;
}

/**
 * Opens the file and its index. Throws DamagedChunk when the index cannot be trusted and
 * OtherFormatError, without leaving the file open.
 */
export function openSegment(path: string, interners: Interners): OpenedSegment {
  const file = new SegmentFile(path);
  try {
    return { file, ...readIndex(file, interners) };
  } catch (error) {
    file.close();
    // A checksum that fits says that we wrote it; whatever goes wrong before is damage too.
    throw error instanceof DamagedChunk || error instanceof OtherFormatError
      ? error
      : new DamagedChunk(`The index of ${file.name} is damaged: ${String(error)}`);
  }
}

function readIndex(file: SegmentFile, interners: Interners): SegmentContents {
  if (file.bytes < footerBytes) throw new DamagedChunk(`${file.name} has no footer`);
  const footer = Buffer.from(file.read(file.bytes - footerBytes, footerBytes).buffer);
  if (footer.readUInt32LE(12) === runMagic) return readRunIndex(file);
  const length = footer.readUInt32LE(0);
  if (footer.readUInt32LE(12) !== segmentMagic || length > file.bytes - footerBytes)
    throw new DamagedChunk(`The footer of ${file.name} is damaged`);
  const packed = file.read(file.bytes - footerBytes - length, length);
  if (crc32(packed) !== footer.readUInt32LE(4))
    throw new DamagedChunk(`The index of ${file.name} is damaged`);
  const index = zstdDecompressSync(packed);
  const headLength = index.readUInt32LE(0);
  const head = JSON.parse(index.toString('utf8', 12, 12 + headLength)) as SegmentHead;
  refuseOtherFormat(file.path, head.format, segmentFormat);
  const doublesAt = 12 + headLength;
  const wordsAt = doublesAt + index.readUInt32LE(4) * 8;
  const doubles = new Float64Array(Uint8Array.from(index.subarray(doublesAt, wordsAt)).buffer);
  const words = new Uint32Array(Uint8Array.from(index.subarray(wordsAt)).buffer);
  return { replaces: head.replaces, placed: chunksOf(file, head, doubles, words, interners) };
}

function readRunIndex(file: SegmentFile): SegmentContents {
  const { index } = new RunFile(file);
  return { replaces: index.head.replaces, placed: [], run: index };
}

function chunksOf(
  file: SegmentFile,
  head: SegmentHead,
  doubles: Float64Array,
  words: Uint32Array,
  interners: Interners,
): PlacedChunk[] {
  const schemas = head.schemas.map((text) => interners.schemas.fromText(text));
  const origins = head.origins.map(([workspaceId, dataFlowId]) =>
    interners.origins.of(workspaceId, dataFlowId),
  );
  const placed: PlacedChunk[] = [];
  let statsAt = head.chunks * doublesPerChunk;
  let endsAt = head.chunks * wordsPerChunk;
  for (let i = 0; i < head.chunks; i++) {
    const d = i * doublesPerChunk;
    const w = i * wordsPerChunk;
    const schema = schemas[words[w + 4]!] ?? missing('schema');
    const rows = words[w + 1]!;
    const ref = words[w + 5]!;
    const set = originSetOf(head, ref, rows);
    const chunk: Chunk = {
      file,
      offset: doubles[d + 4]!,
      length: words[w]!,
      rows,
      oldest: doubles[d]!,
      newest: doubles[d + 1]!,
      minOrder: doubles[d + 2]!,
      maxOrder: doubles[d + 3]!,
      schema,
      origins: set.map(([id]) => origins[id] ?? missing('origin')),
      originRows: set.map(([, count]) => count),
      ends: words,
      endsAt,
      stats: doubles,
      statsAt,
      damaged: false,
    };
    placed.push({
      deviceId: head.devices[words[w + 2]!] ?? missing('device'),
      topic: head.topics[words[w + 3]!] ?? missing('topic'),
      chunk,
    });
    statsAt += schema.columnCount * statisticsPerColumn;
    endsAt += schema.sectionCount;
  }
  return placed;
}

/**
 * The origins of a chunk with their rows. An even reference is the one origin, an odd one is a set
 * of origins.
 */
function originSetOf(
  head: SegmentHead,
  reference: number,
  rows: number,
): SegmentHead['originSets'][number] {
  if (reference % 2 === 0) return [[reference / 2, rows]];
  return head.originSets[(reference - 1) / 2] ?? missing('set of origins');
}
