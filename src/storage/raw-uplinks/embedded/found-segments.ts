// Segments of a start: the closed ones by their indexes, the one that was open, and the mark of its synced bytes.
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { missing } from '../../../structures/missing.ts';
import {
  type BlockDamage,
  listSegments,
  removeSegment,
  type SegmentName,
} from '../../block-log/segment-files.ts';
import { readChecked, replaceChecked, syncDirectory } from '../../log/durable-file.ts';
import {
  closedSegment,
  type ClosedSegment,
  closeSegment,
  rawUplinkFormat,
  readHead,
  refuseOtherUplinks,
  type ScannedSegment,
  scanUplinks,
  segmentName,
  segmentSuffix,
  type WrittenSegment,
} from './uplink-segment.ts';

// Durable mark: the synced length of the open segment. A shorter segment is damaged.

/** The open segment by its number, and its bytes that were synced. */
interface DurableMark {
  readonly sequence: number;
  readonly bytes: number;
}

const markPath = (directory: string): string => join(directory, 'durable.json');

/** The segment of the mark is gone. */
export function missingSegment(directory: string, { sequence, bytes }: DurableMark): BlockDamage {
  return { path: segmentName(directory, sequence, 0).path, offset: 0, bytes };
}

/** Unlimited for a segment that no mark tells of: nothing of it may count as torn. */
export function syncedOf({ number }: SegmentName, mark: DurableMark | undefined): number {
  return mark?.sequence === number ? mark.bytes : Number.POSITIVE_INFINITY;
}

/** Notes the mark. */
export async function writeDurableMark(directory: string, mark: DurableMark): Promise<void> {
  await replaceChecked(markPath(directory), JSON.stringify({ format: rawUplinkFormat, ...mark }));
}

/** Deletes the mark when no segment is open. */
export async function removeDurableMark(directory: string): Promise<void> {
  await rm(markPath(directory), { force: true });
  await syncDirectory(directory);
}

/**
 * Undefined without one; a damaged mark is none, because nothing depends on it but a warning.
 * Throws OtherFormatError for one of another format.
 */
export async function readDurableMark(directory: string): Promise<DurableMark | undefined> {
  const found = await readChecked(markPath(directory));
  if (found === undefined || found === 'damaged') return undefined;
  const { format, ...mark } = JSON.parse(found.text) as DurableMark & { readonly format: number };
  refuseOtherUplinks(markPath(directory), format);
  return mark;
}

// Finding: what a start continues.

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
  readonly damaged: (damage: BlockDamage) => void;
}

export interface FoundSegments {
  /** In the order of writing. */
  readonly closed: ClosedSegment[];
  /** A segment that a stop or a crash left open, to be continued. */
  readonly open: WrittenSegment | undefined;
  readonly nextNumber: number;
  /** Uplinks up to this position are there already. */
  readonly lastPosition: number;
}

/** Reads the folder, and calls `damaged` for what is missing or cannot be read. */
export async function findSegments(options: FindingOptions): Promise<FoundSegments> {
  const { directory, damaged } = options;
  const { closed, left } = await openClosedSegments(directory, damaged);
  const mark = await readDurableMark(directory);
  const found = left === undefined ? undefined : await readOpen(left, mark);
  const short = found && (await closedShort(found, mark, options));
  if (short !== undefined) closed.push(short);
  const isOpenThere = left !== undefined || closed.some(({ number }) => number === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const open =
    found === undefined || short !== undefined ? undefined : await continued(found, options);
  const files = await listSegments(directory, segmentSuffix);
  const positions = closed.map(({ head }) => head.lastPosition);
  return {
    closed,
    open,
    nextNumber: (files.at(-1)?.number ?? 0) + 1,
    lastPosition: Math.max(open?.contents.lastPosition ?? -1, ...positions),
  };
}

interface ClosedSegments {
  /** In the order of their writing. */
  readonly closed: ClosedSegment[];
  /** The one that was being written. */
  readonly left: SegmentName | undefined;
}

/** A missing or damaged index is rebuilt. */
async function openClosedSegments(
  directory: string,
  damaged: (damage: BlockDamage) => void,
): Promise<ClosedSegments> {
  const names = await withoutHalves(await listSegments(directory, segmentSuffix));
  const closed: ClosedSegment[] = [];
  for (const name of names) {
    const { size } = await stat(name.path);
    const head = await readHead(name.path);
    if (head !== undefined) {
      closed.push(closedSegment(name, head, size));
      continue;
    }
    if (name === names.at(-1) && name.generation === 0) return { closed, left: name };
    const { contents, damage } = await scanUplinks(name.path, { to: size, synced: Infinity });
    damage.forEach(damaged);
    closed.push(await closeSegment(name, contents, size));
  }
  return { closed, left: undefined };
}

/**
 * A segment is written anew under its next generation: the newest one with an index is whole,
 * others are what a crash left over.
 */
async function withoutHalves(names: readonly SegmentName[]): Promise<SegmentName[]> {
  const byNumber = Map.groupBy(names, ({ number }) => number);
  const whole: SegmentName[] = [];
  for (const generations of byNumber.values()) {
    const heads = await Promise.all(generations.map(({ path }) => readHead(path)));
    const newest = heads.findLastIndex((head) => head !== undefined);
    const kept = generations[Math.max(newest, 0)] ?? missing('generation of a segment');
    for (const other of generations) if (other !== kept) await removeSegment(other.path);
    whole.push(kept);
  }
  return whole;
}

/** The segment that was open. It is read once: of a busy platform it has 350,000 uplinks. */
interface FoundOpen {
  readonly name: SegmentName;
  readonly bytes: number;
  /** Bytes that were synced; unlimited when nobody knows. */
  readonly synced: number;
  readonly scanned: ScannedSegment;
}

async function readOpen(name: SegmentName, mark: DurableMark | undefined): Promise<FoundOpen> {
  const { size: bytes } = await stat(name.path);
  const synced = syncedOf(name, mark);
  return { name, bytes, synced, scanned: await scanUplinks(name.path, { to: bytes, synced }) };
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
  if (mark === undefined || mark.sequence !== name.number || scanned.end >= mark.bytes)
    return undefined;
  scanned.damage.forEach(damaged);
  damaged({ path: name.path, offset: scanned.end, bytes: mark.bytes - scanned.end });
  const closed = await closeSegment(name, scanned.contents, bytes);
  await removeDurableMark(directory);
  return closed;
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there. Where the journal lost some of it, all blocks stay, and what it gives
 * again is skipped.
 */
async function continued(
  { name, bytes, synced, scanned: whole }: FoundOpen,
  { followedFrom, isLost = () => false, damaged }: FindingOptions,
): Promise<WrittenSegment> {
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut ? await scanUplinks(name.path, { to: bytes, synced }, followedFrom) : whole;
  scanned.damage.forEach(damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end, synced };
}
