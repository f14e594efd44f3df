// Segment files of a block log: their names in a folder, and their blocks, each in a frame, scanned and read one by one.
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import {
  type Frame,
  type FrameDamage,
  frameBytes,
  frameHeaderBytes,
  readFrame,
  scanFrames,
} from '../log/frame.ts';
import { namesIn } from '../log/journal-segments.ts';

export interface SegmentName {
  /** Ascending in the order of writing. */
  readonly number: number;
  /** Grows when the segment is rewritten; 0 where its name has none. */
  readonly generation: number;
  readonly path: string;
}

/** The digits of a number in the name of a segment. */
export function segmentDigits(number: number): string {
  return String(number).padStart(10, '0');
}

/** The index next to a segment. */
export function indexPath(segment: string): string {
  return segment.replace(/\.[a-z]+$/, '.index');
}

/**
 * The segments of the folder with this suffix in the order of their writing; none without the
 * folder.
 */
export async function listSegments(directory: string, suffix: string): Promise<SegmentName[]> {
  const pattern = new RegExp(`^(\\d{10})(?:\\.(\\d+))?\\.${suffix}$`);
  const names = (await namesIn(directory)).flatMap((name) => {
    const [, number, generation = '0'] = pattern.exec(name) ?? [];
    if (number === undefined) return [];
    return { number: Number(number), generation: Number(generation), path: join(directory, name) };
  });
  return names.toSorted(
    (one, other) => one.number - other.number || one.generation - other.generation,
  );
}

/**
 * Removes a segment with its index. The index goes first: a segment with an index is whole, so that
 * a crash in between never leaves an index without its segment.
 */
export async function removeSegment(path: string): Promise<void> {
  for (const file of [indexPath(path), path]) {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Bytes of a segment that cannot be read; what they held is lost. */
export interface BlockDamage extends FrameDamage {
  readonly path: string;
}

export interface ScanRange {
  readonly from: number;
  readonly to: number;
  /** What cannot be read behind it is no damage: the blocks end before it. */
  readonly synced: number;
}

interface ScannedBlocks {
  /** Behind the last whole block. */
  readonly end: number;
  /** What cannot be read before that end. */
  readonly damage: readonly BlockDamage[];
  /** What cannot be read behind it: a torn end, unless the segment was complete. */
  readonly tail: readonly BlockDamage[];
}

/**
 * Gives the blocks of a segment to `enter`, in their order. It returns false at a block that is not
 * wanted: the scan ends before it.
 */
export async function scanBlocks(
  path: string,
  { from, to, synced }: ScanRange,
  enter: (frame: Frame, offset: number) => boolean,
): Promise<ScannedBlocks> {
  const damage: BlockDamage[] = [];
  let end = from;
  for await (const batch of scanFrames(path, from, to, synced)) {
    const found = batch.damage === undefined ? [] : [{ path, ...batch.damage }];
    if (batch.frames.length === 0) return { end, damage, tail: found };
    damage.push(...found);
    let { offset } = batch;
    for (const frame of batch.frames) {
      if (!enter(frame, offset)) return { end: offset, damage, tail: [] };
      offset += frameBytes(frame);
    }
    end = offset;
  }
  return { end, damage, tail: [] };
}

/** The block whose frame has so many bytes; undefined when they are not what was written. */
export async function readBlock(
  file: FileHandle,
  offset: number,
  bytes: number,
): Promise<Frame | undefined> {
  const frame = await readBytes(file, offset, bytes);
  const read = frame && readFrame(frame, 0);
  return typeof read === 'string' ? undefined : read;
}

/** The bytes of the frame at the offset, as it says; undefined when the file does not have so many. */
export async function blockBytes(file: FileHandle, offset: number): Promise<number | undefined> {
  const head = await readBytes(file, offset, frameHeaderBytes);
  if (head === undefined) return undefined;
  const bytes = frameHeaderBytes + head.readUInt32LE(8);
  const { size } = await file.stat();
  return offset + bytes > size ? undefined : bytes;
}

/** So many bytes at the offset; undefined when the file ends before. */
export async function readBytes(
  file: FileHandle,
  offset: number,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}

/** Opens a file for reading; undefined when there is none, such as one that was removed meanwhile. */
export async function openExisting(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

const compressed = promisify(zstdCompress);

/** Compresses a block in another thread. */
export function compressBlock(block: Uint8Array): Promise<Buffer> {
  return compressed(block, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/**
 * The block that was compressed. Throws for other bytes, which a checksum has ruled out before. Not
 * in another thread: the way there and back doubles the time of a list of raw uplinks.
 */
export function decompressBlock(bytes: Buffer): Buffer {
  return zstdDecompressSync(bytes);
}
