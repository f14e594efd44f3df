// Segment finding: at a start, the closed segments of raw uplinks and the one left open.
import { stat } from 'node:fs/promises';
import { replaceFile } from '../../log/durable-file.ts';
import { missing } from '../../structures/missing.ts';
import { type ClosedSegment, closedSegment, openClosedSegments } from './closed-segments.ts';
import {
  type DurableMark,
  missingSegment,
  readDurableMark,
  removeDurableMark,
  syncedOf,
} from './durable-mark.ts';
import {
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  type ScannedSegment,
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
  const found = left === undefined ? undefined : await foundOpen(left, directory, mark);
  const halved = found && (await closedShort(found, mark, options));
  if (halved !== undefined) closed.push(halved);
  const isOpenThere =
    left !== undefined || closed.some(({ sequence }) => sequence === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const resume =
    found === undefined || halved !== undefined ? undefined : await resumed(found, options);
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

/** The segment that was open. It is read once: of a busy platform it has 350,000 uplinks. */
interface FoundOpen {
  readonly name: SegmentName;
  readonly bytes: number;
  /** Bytes that were synced; unlimited when nobody knows. */
  readonly synced: number;
  readonly scanned: ScannedSegment;
}

async function foundOpen(
  path: string,
  directory: string,
  mark: DurableMark | undefined,
): Promise<FoundOpen> {
  const names = await listSegmentFiles(directory);
  const name = names.find((each) => each.path === path) ?? missing('segment that was open');
  const { size: bytes } = await stat(path);
  const synced = syncedOf(name, mark);
  return { name, bytes, synced, scanned: await scanSegmentFile(path, bytes, { synced }) };
}

/**
 * The open segment when it is shorter than what was synced of it: reported as damage and closed as
 * it is, so that nothing is cut off it. Undefined for a complete segment.
 */
async function closedShort(
  { name, bytes, scanned }: FoundOpen,
  mark: DurableMark | undefined,
  { directory, damaged }: FindingOptions,
): Promise<ClosedSegment | undefined> {
  if (mark === undefined || mark.sequence !== name.sequence) return undefined;
  if (scanned.end >= mark.bytes) return undefined;
  const { path } = name;
  scanned.damage.forEach(damaged);
  damaged({ path, offset: scanned.end, bytes: mark.bytes - scanned.end });
  await replaceFile(indexPath(path), encodeIndex(scanned.contents));
  await removeDurableMark(directory);
  return closedSegment({ ...name, contents: scanned.contents, bytes });
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there. Where the journal lost some of it, all blocks stay, and what it gives
 * again is skipped.
 */
async function resumed(
  { name, bytes, synced, scanned: whole }: FoundOpen,
  { followedFrom, isLost = () => false, damaged }: FindingOptions,
): Promise<WrittenSegment> {
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut
    ? await scanSegmentFile(name.path, bytes, { synced, before: followedFrom })
    : whole;
  scanned.damage.forEach(damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end, synced };
}
