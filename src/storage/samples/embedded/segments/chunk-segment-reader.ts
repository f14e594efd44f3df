// Opening a segment file, of chunks or a run: its index in memory, the rest read when it is asked for.
import { crc32, zstdDecompressSync } from 'node:zlib';
import type { ShapeInterner } from '../../../log/data-shape.ts';
import { OtherFormatError, refuseOtherFormat } from '../../../../model/errors.ts';
import { type Chunk, DamagedChunk, sectionCount, statisticsPerColumn } from '../chunks/chunk.ts';
import { type SchemaInterner, schemaFromText } from '../chunks/chunk-schema.ts';
import type { Origin } from '../rows/origin.ts';
import {
  doublesPerChunk,
  footerBytes,
  type PlacedChunk,
  type SegmentHead,
  segmentFormat,
  segmentMagic,
  wordsPerChunk,
} from './chunk-segment-writer.ts';
import { missing } from '../../../../structures/missing.ts';
import { SegmentFile } from './segment-file.ts';
import { RunFile } from '../runs/run-file.ts';
import { type RunIndex, runMagic } from '../runs/run-index.ts';

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
  /** The same object for the same origin. */
  readonly origin: (workspaceId: string, dataFlowId: string | null) => Origin;
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

function readIndex(file: SegmentFile, interners: Interners): Omit<OpenedSegment, 'file'> {
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

function readRunIndex(file: SegmentFile): Omit<OpenedSegment, 'file'> {
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
  const schemas = head.schemas.map((text) =>
    schemaFromText(text, interners.shapes, interners.schemas),
  );
  const origins = head.origins.map(([workspaceId, dataFlowId]) =>
    interners.origin(workspaceId, dataFlowId),
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
    endsAt += sectionCount(schema);
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
