// Segment finding: at a start, the closed segments of raw uplinks and the one left open.
import { stat } from 'node:fs/promises';
import { replaceFile } from '../log/durable-file.ts';
import { missing } from '../structures/missing.ts';
import { type ClosedSegment, closedSegment, openClosedSegments } from './closed-segments.ts';
import {
  type DurableMark,
  missingSegment,
  readDurableMark,
  removeDurableMark,
} from './durable-mark.ts';
import {
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  type SegmentName,
  scanSegmentFile,
} from './segment-file.ts';
import { encodeIndex } from './segment-index.ts';
import type { SegmentWriterParts, WrittenSegment } from './segment-writer.ts';

export interface FindingOptions {
  readonly directory: string;
  /**
   * The journal gives uplinks again from this position on; undefined when nothing was ever
   * followed.
   */
  readonly followedFrom: number | undefined;
  /**
   * Whether the journal lost some of the entries from a position on and before another; what it
   * cannot give again is not cut off.
   */
  readonly isLost?: (from: number, to: number) => boolean;
  /** Call for bytes that cannot be read, found when opening or reading. */
  readonly damaged: (damage: RawUplinkDamage) => void;
}

export interface RawUplinkSegments
  extends Pick<SegmentWriterParts, 'resume' | 'sequence' | 'lastPosition'> {
  /** In the order of writing. */
  readonly closed: ClosedSegment[];
}

/** Reads the folder, and calls `damaged` for what is missing or cannot be read. */
export async function findSegments(options: FindingOptions): Promise<RawUplinkSegments> {
  const { directory, damaged } = options;
  const { closed, left } = await openClosedSegments(directory, damaged);
  const mark = await readDurableMark(directory);
  const halved = left === undefined ? undefined : await closedShort(left, mark, options);
  if (halved !== undefined) closed.push(halved);
  const isOpenThere =
    left !== undefined || closed.some(({ sequence }) => sequence === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const resume =
    left === undefined || halved !== undefined ? undefined : await resumed(left, options);
  const files = await listSegmentFiles(directory);
  const newest = resume?.contents ?? closed.at(-1)?.head;
  const positions = closed.map(({ head }) => head.lastPosition);
  return {
    closed,
    resume,
    sequence: (files.at(-1)?.sequence ?? 0) + 1,
    lastPosition: Math.max(newest?.lastPosition ?? -1, ...positions),
  };
}

async function segmentNamed(directory: string, path: string): Promise<SegmentName> {
  const names = await listSegmentFiles(directory);
  return names.find((name) => name.path === path) ?? missing('segment that was open');
}

/**
 * The open segment when it is shorter than what was synced of it: reported as damage and closed as
 * it is, so that nothing is cut off it. Undefined for a complete segment.
 */
async function closedShort(
  left: ClosedSegment['path'],
  mark: DurableMark | undefined,
  { directory, damaged }: FindingOptions,
): Promise<ClosedSegment | undefined> {
  const name = await segmentNamed(directory, left);
  if (mark === undefined || mark.sequence !== name.sequence) return undefined;
  const { size } = await stat(left);
  const scanned = await scanSegmentFile(left, size);
  if (scanned.end >= mark.bytes) return undefined;
  scanned.damage.forEach(damaged);
  damaged({ path: left, offset: scanned.end, bytes: mark.bytes - scanned.end });
  await replaceFile(indexPath(left), encodeIndex(scanned.contents));
  await removeDurableMark(directory);
  return closedSegment({ ...name, contents: scanned.contents, bytes: size });
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there. Where the journal lost some of it, all blocks stay, and what it gives
 * again is skipped.
 */
async function resumed(
  left: ClosedSegment['path'],
  options: FindingOptions,
): Promise<WrittenSegment | undefined> {
  const name = await segmentNamed(options.directory, left);
  const { followedFrom, isLost = () => false } = options;
  const { size } = await stat(left);
  const whole = await scanSegmentFile(left, size);
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut ? await scanSegmentFile(left, size, followedFrom) : whole;
  scanned.damage.forEach(options.damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end };
}
