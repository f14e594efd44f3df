// Segment of raw uplinks: blocks of lines, what is known of them, read at a start and rewritten without devices.
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { refuseOtherFormat } from '../../../model/errors.ts';
import type { EpochMs } from '../../../model/instant.ts';
import {
  type BlockDamage,
  compressBlock,
  decompressBlock,
  readBlock,
  type ScanRange,
  scanBlocks,
  segmentDigits,
  type SegmentName,
} from '../../block-log/segment-files.ts';
import { type GrowingSegment, SegmentAppender } from '../../block-log/segment-appender.ts';
import { frameBytes, frameOf } from '../../log/frame.ts';
import { deviceOfLine, uplinkOf } from '../raw-uplink-line.ts';

// The format of the files of raw uplinks: one number for blocks, indexes and the mark.

export const rawUplinkFormat = 1;
export const segmentSuffix = 'uplinks';

/**
 * The frame type of a block; journal frames have smaller ones. A block of format n has this number
 * plus n - 1.
 */
const blockFrameType = 16;

/** Throws OtherFormatError for a file of another format. */
export function refuseOtherUplinks(path: string, format: number): void {
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

export interface ScannedSegment {
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
export async function scanUplinks(
  path: string,
  { to, synced }: Pick<ScanRange, 'to' | 'synced'>,
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

/** The frame of a block of lines; the position and the time are those of its newest uplink. */
export async function blockOf(
  lines: readonly string[],
  { position, receivedAt }: { readonly position: number; readonly receivedAt: EpochMs },
): Promise<Buffer> {
  const type = blockFrameType + rawUplinkFormat - 1;
  const block = await compressBlock(Buffer.from(lines.join('\n')));
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

interface SegmentCopy {
  readonly contents: SegmentContents;
  readonly bytes: number;
  readonly damage: readonly BlockDamage[];
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
): Promise<SegmentCopy> {
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
        const frame = await blockOf(lines, { position, receivedAt: place.to });
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
