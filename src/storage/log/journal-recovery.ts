// Journal recovery: the durable end, the frames to replay and the unreadable bytes at a start.
import { rename, stat, truncate, unlink } from 'node:fs/promises';
import type { EpochMs } from '../../model/instant.ts';
import { syncDirectory } from './durable-file.ts';
import { type Frame, frameBytes } from './frame.ts';
import { entriesOf, entryCountOf, groupOf, type KeptEntry } from './journal-block.ts';
import { addMark, listSegments, type Segment } from './segment-list.ts';
import { type ScannedFrames, scanSegment } from './segment-scan.ts';
import { readSegmentStart } from './segment-start.ts';

/**
 * How many positions are skipped behind an end that was lost: more than are acknowledged between
 * two notes of how far somebody came, so that no position, cursor or delivery key stands for two
 * entries.
 */
const positionsLeftOut = 1_000_000;
/** About the entries of a block. With more, collections of garbage copy what they become. */
const visitedMin = 256;
/**
 * A segment without one whole frame is removed when it is not longer than a first frame; a longer
 * one is moved aside.
 */
const neverWholeBytesMax = 4_096;

/**
 * A finding of a start or a check; `tornTail` is the normal trace of a crash, the others are lost
 * data.
 */
export interface JournalDamage {
  readonly kind: 'tornTail' | 'unreadableBytes' | 'missingEntries';
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
  /** Entries known to be lost: from this position, this number. */
  readonly firstPosition: number;
  readonly entries: number;
}

export interface RecoveredJournal {
  readonly segments: Segment[];
  readonly nextPosition: number;
  /**
   * Acknowledged entries before this position and behind the end of the files are lost; undefined
   * when none are.
   */
  readonly lostTo: number | undefined;
  /** Whether the last segment is left as it is, and the next entry begins another one. */
  readonly startsNew: boolean;
  readonly lastStoredAt: EpochMs;
  readonly damage: readonly JournalDamage[];
}

interface Progress {
  /** Undefined before the first segment that is looked into. */
  position: number | undefined;
  storedAt: EpochMs;
  damage: JournalDamage[];
  /** Whether the newest segment begins with a whole first frame. */
  hasStart: boolean;
}

export interface RecoveryOptions {
  /**
   * Segments that hold positions from here on are read; older ones are taken as they are, and
   * whoever reads them meets their damage.
   */
  readonly from: number;
  /** Gets the entries from `from` on, in order, some at a time. */
  readonly visit: (entries: readonly KeptEntry[]) => void | Promise<void>;
  /**
   * Every entry before this position was acknowledged: when the files end before it, the end was
   * lost and nothing is cut.
   */
  readonly acknowledgedTo: number;
  /** Whether a torn tail, which was never acknowledged, is cut off. */
  readonly repair: boolean;
}

/**
 * Reads the journal of the folder. Throws OtherFormatError for files of another format.
 */
export async function recoverJournal(
  directory: string,
  options: RecoveryOptions,
): Promise<RecoveredJournal> {
  const { from, visit, acknowledgedTo, repair } = options;
  const segments = await listSegments(directory);
  const progress: Progress = {
    position: undefined,
    storedAt: 0,
    damage: [],
    hasStart: false,
  };
  for (const [i, segment] of segments.entries()) {
    segment.bytes = (await stat(segment.path)).size;
    const next = segments[i + 1];
    if (next !== undefined && next.firstPosition <= from) {
      segment.lastStoredAt = (await readSegmentStart(next.path))?.storedAt;
      continue;
    }
    const newest = next === undefined;
    await recoverSegment(segment, progress, { from, acknowledgedTo, visit, newest });
  }
  const last = segments.at(-1);
  const end = Math.max(progress.position ?? 0, last?.firstPosition ?? 0);
  const found = { segments, lastStoredAt: progress.storedAt };
  if (end < acknowledgedTo) {
    const lost = { firstPosition: end, entries: acknowledgedTo - end };
    const damage = progress.damage.map((place) => ({ ...place, kind: lostKind(place) }));
    damage.push({
      kind: 'missingEntries',
      path: last?.path ?? directory,
      offset: last?.bytes ?? 0,
      bytes: 0,
      ...lost,
    });
    return {
      ...found,
      nextPosition: acknowledgedTo + positionsLeftOut,
      lostTo: acknowledgedTo,
      startsNew: true,
      damage,
    };
  }
  if (repair && last !== undefined) await cutTail(directory, segments, last);
  return {
    ...found,
    nextPosition: end,
    lostTo: undefined,
    startsNew: !progress.hasStart,
    damage: progress.damage,
  };
}

/**
 * Where acknowledged entries are missing at the end, what follows the last whole one is not the
 * trace of a crash.
 */
function lostKind({ kind }: JournalDamage): JournalDamage['kind'] {
  return kind === 'tornTail' ? 'unreadableBytes' : kind;
}

interface SegmentRecovery extends Omit<RecoveryOptions, 'repair'> {
  /** Whether no segment follows. */
  readonly newest: boolean;
}

async function recoverSegment(
  segment: Segment,
  progress: Progress,
  { from, acknowledgedTo, visit, newest }: SegmentRecovery,
): Promise<void> {
  const fileBytes = segment.bytes;
  segment.bytes = 0;
  const start = await readSegmentStart(segment.path);
  progress.hasStart = start !== undefined;
  const { path, firstPosition } = segment;
  noteGap(progress, { path, position: firstPosition, offset: 0, lostTo: start?.lostTo });
  let groupEnd = 0;
  for await (const batch of scanSegment(segment.path, 0, fileBytes)) {
    if (batch.damage !== undefined) {
      const firstPosition = progress.position ?? segment.firstPosition;
      const isTorn =
        newest &&
        firstPosition >= acknowledgedTo &&
        (batch.frames.length === 0 ||
          (await isInLastGroup(segment.path, batch, groupEnd, fileBytes)));
      const bytes = isTorn ? fileBytes - batch.damage.offset : batch.damage.bytes;
      const kind = isTorn ? 'tornTail' : 'unreadableBytes';
      progress.damage.push({
        kind,
        path: segment.path,
        ...batch.damage,
        bytes,
        firstPosition,
        entries: 0,
      });
      if (isTorn) break;
    }
    let { offset } = batch;
    let entries: KeptEntry[] = [];
    for (const frame of batch.frames) {
      groupEnd = groupOf(frame, offset)?.end ?? groupEnd;
      addEntries({ segment, frame, offset, from }, progress, entries);
      offset += frameBytes(frame);
      if (entries.length < visitedMin) continue;
      await visit(entries);
      entries = [];
    }
    if (entries.length > 0) await visit(entries);
    segment.bytes = Math.max(segment.bytes, batch.frames.length === 0 ? 0 : batch.end);
  }
  if (!newest) segment.bytes = fileBytes;
}

interface ScannedFrame {
  readonly segment: Segment;
  readonly frame: Frame;
  readonly offset: number;
  /** See `RecoveryOptions`. */
  readonly from: number;
}

/** Notes a frame, and adds those of its entries that come next and are asked for. */
function addEntries(
  { segment, frame, offset, from }: ScannedFrame,
  progress: Progress,
  entries: KeptEntry[],
): void {
  const { position, storedAt } = frame;
  const count = entryCountOf(frame);
  progress.storedAt = Math.max(progress.storedAt, storedAt);
  if (count > 0) {
    noteGap(progress, { path: segment.path, position, offset });
    const next = progress.position ?? position;
    addMark(segment, { position, storedAt, offset });
    for (const entry of entriesOf(frame)) {
      progress.storedAt = Math.max(progress.storedAt, entry.storedAt);
      if (entry.position >= next && entry.position >= from) entries.push(entry);
    }
    progress.position = Math.max(next, position + count);
  }
  segment.lastStoredAt = progress.storedAt;
}

/**
 * Whether a hole lies in the last group that was written, of which a power cut may leave any part:
 * it was not acknowledged, since the next group begins after the sync of the one before. `groupEnd`
 * is where the last group known before the hole ends.
 */
async function isInLastGroup(
  path: string,
  scanned: ScannedFrames,
  groupEnd: number,
  fileBytes: number,
): Promise<boolean> {
  const hole = scanned.damage?.offset ?? scanned.offset;
  if (hole < groupEnd && fileBytes > groupEnd) return false;
  if (hasGroupBehind(scanned, hole)) return false;
  for await (const batch of scanSegment(path, scanned.end, fileBytes))
    if (hasGroupBehind(batch, hole)) return false;
  return true;
}

/** Whether a group of the frames begins behind the offset. */
function hasGroupBehind({ frames, offset: first }: ScannedFrames, behind: number): boolean {
  let offset = first;
  for (const frame of frames) {
    const group = groupOf(frame, offset);
    if (group !== undefined && group.start > behind) return true;
    offset += frameBytes(frame);
  }
  return false;
}

interface NextEntry {
  /** The path and the offset of the entry. */
  readonly path: string;
  readonly offset: number;
  readonly position: number;
  /** Positions from here on were never used. */
  readonly lostTo?: number | undefined;
}

/** Notes the entries before the next one that were not read as lost. */
function noteGap(
  progress: Progress,
  { path, offset, position, lostTo = position }: NextEntry,
): void {
  if (progress.position !== undefined && position > progress.position) {
    const lost = {
      firstPosition: progress.position,
      entries: Math.max(0, lostTo - progress.position),
    };
    progress.damage.push({ kind: 'missingEntries', path, offset, bytes: 0, ...lost });
  }
  progress.position = Math.max(progress.position ?? position, position);
}

async function cutTail(directory: string, segments: Segment[], last: Segment): Promise<void> {
  const { size } = await stat(last.path);
  if (last.bytes === 0) {
    // The crash came before the segment's first frame was whole.
    if (size <= neverWholeBytesMax) await unlink(last.path);
    else await rename(last.path, `${last.path}.orphan`);
    await syncDirectory(directory);
    segments.pop();
  } else if (size > last.bytes) await truncate(last.path, last.bytes);
}
