// Segment files of raw uplinks: frames with a block each, read by block, rewritten without a device.
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RawUplink } from '../../../model/uplink.ts';
import { realDisk } from '../../log/disk.ts';
import { frameHeaderBytes, readFrame, writeFrame } from '../../log/frame.ts';
import { scanSegment } from '../../log/journal-segments.ts';
import { deviceOfLine, uplinkOf } from '../raw-uplink-line.ts';
import { blockFrameType, linesOf, rawUplinkFormat, refuseOtherBlock } from './block.ts';
import { type BlockPlace, emptyContents, type SegmentContents } from './segment-index.ts';

/** Bytes of a segment that cannot be read; what they held is lost. */
export interface RawUplinkDamage {
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface SegmentName {
  readonly sequence: number;
  /** Grows when the segment is rewritten. */
  readonly generation: number;
  readonly path: string;
}

const namePattern = /^(\d{10})\.(\d+)\.uplinks$/;

export function segmentName(directory: string, sequence: number, generation: number): SegmentName {
  const path = join(directory, `${String(sequence).padStart(10, '0')}.${generation}.uplinks`);
  return { sequence, generation, path };
}

export const indexPath = (path: string): string => path.replace(/\.uplinks$/, '.index');

/** Segments of the folder in the order of their writing. */
export async function listSegmentFiles(directory: string): Promise<SegmentName[]> {
  const names = (await readdir(directory)).flatMap((name) => {
    const [, sequence, generation] = namePattern.exec(name) ?? [];
    return sequence === undefined
      ? []
      : [segmentName(directory, Number(sequence), Number(generation))];
  });
  return names.toSorted(
    (one, other) => one.sequence - other.sequence || one.generation - other.generation,
  );
}

export async function removeSegmentFile({ path }: Pick<SegmentName, 'path'>): Promise<void> {
  for (const file of [indexPath(path), path]) {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

export interface ScannedSegment {
  readonly contents: SegmentContents;
  /** Behind the last whole frame. */
  readonly end: number;
  /** What cannot be read before that end. */
  readonly damage: readonly RawUplinkDamage[];
}

/**
 * Reads a segment of so many bytes, to its end or to the first block with uplinks from a position
 * on. A torn tail lies behind `end` and is no damage, nor is what cannot be read behind the synced
 * bytes: the blocks end before it. Throws OtherFormatError for blocks of another
 * format.
 */
export async function scanSegmentFile(
  path: string,
  bytes: number,
  { synced = Number.POSITIVE_INFINITY, before = Number.POSITIVE_INFINITY } = {},
): Promise<ScannedSegment> {
  const contents = emptyContents();
  const damage: RawUplinkDamage[] = [];
  let end = 0;
  for await (const batch of scanSegment(path, 0, bytes, synced)) {
    if (batch.frames.length === 0) break;
    if (batch.damage !== undefined) damage.push({ path, ...batch.damage });
    let offset = batch.offset;
    for (const frame of batch.frames) {
      refuseOtherBlock(path, frame.type);
      if (frame.position >= before) return { contents, end: offset, damage };
      const frameBytes = frameHeaderBytes + frame.payload.length;
      addBlock(
        contents,
        { offset, bytes: frameBytes },
        linesOf(frame.payload).map(headOf),
        frame.position,
      );
      offset += frameBytes;
    }
    end = batch.end;
  }
  return { contents, end, damage };
}

/** Whose uplink a line is, and when it was received. */
export type LineHead = Pick<RawUplink, 'deviceId' | 'receivedAt'>;

/** Enters a block into what is known of its segment. */
export function addBlock(
  contents: SegmentContents,
  place: Pick<BlockPlace, 'offset' | 'bytes'>,
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
  const block = contents.blocks.length;
  contents.blocks.push({ ...place, from, to });
  for (const [deviceId, count] of counts) {
    const before = contents.devices.get(deviceId);
    if (before === undefined) contents.devices.set(deviceId, [{ block, count }]);
    else before.push({ block, count });
  }
  contents.uplinks += heads.length;
  contents.lastPosition = Math.max(contents.lastPosition, lastPosition);
}

const headPattern = /^\["[^"]*","[^"]*",\d+,(-?\d+(?:\.\d+)?)/;

function headOf(line: string): LineHead {
  const [, receivedAt] = headPattern.exec(line) ?? [];
  return receivedAt === undefined
    ? uplinkOf(line)
    : { deviceId: deviceOfLine(line), receivedAt: Number(receivedAt) };
}

/** The frame of a block. */
export function frameOf(block: Buffer, position: number, storedAt: number): Buffer {
  const frame = Buffer.allocUnsafeSlow(frameHeaderBytes + block.length);
  writeFrame(frame, 0, { type: blockFrameType + rawUplinkFormat - 1, position, storedAt }, block);
  return frame;
}

/** The lines of one block; `damaged` when its bytes are not what was written. */
export async function readBlock(
  file: FileHandle,
  { offset, bytes }: BlockPlace,
): Promise<string[] | 'damaged'> {
  const buffer = Buffer.alloc(bytes);
  await file.read(buffer, 0, bytes, offset);
  const frame = readFrame(buffer, 0);
  return frame === 'short' || frame === 'bad' ? 'damaged' : linesOf(frame.payload);
}

/** Opens a segment for reading; undefined when it was dropped meanwhile. */
export async function openSegmentFile(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

export interface SegmentCopy {
  /** Path of the segment. */
  readonly from: string;
  readonly blocks: readonly BlockPlace[];
  /** Path of the file to write. */
  readonly to: string;
  readonly keep: (line: string) => boolean;
  readonly compress: (lines: readonly string[]) => Promise<Buffer>;
}

/**
 * Writes the segment's uplinks to another file, but for lines that are not to be kept; durable when
 * it resolves.
 */
export async function copySegment({ from, blocks, to, keep, compress }: SegmentCopy): Promise<{
  contents: SegmentContents;
  bytes: number;
  damage: readonly RawUplinkDamage[];
}> {
  const contents = emptyContents();
  const damage: RawUplinkDamage[] = [];
  const source = await open(from, 'r');
  const target = await open(to, 'w');
  let offset = 0;
  try {
    for (const place of blocks) {
      const read = await readBlock(source, place);
      if (read === 'damaged') damage.push({ path: from, offset: place.offset, bytes: place.bytes });
      const lines = read === 'damaged' ? [] : read.filter(keep);
      const last = lines.at(-1);
      if (last === undefined) continue;
      const { position } = uplinkOf(last);
      const frame = frameOf(await compress(lines), position, place.to);
      await realDisk.write(target.fd, frame, offset);
      addBlock(contents, { offset, bytes: frame.length }, lines.map(headOf), position);
      offset += frame.length;
    }
    await target.datasync();
  } finally {
    await source.close();
    await target.close();
  }
  return { contents, bytes: offset, damage };
}
