// Journal recovery: the durable end, the frames to replay, the damage at a start and how far followers have come.
import { rename, stat, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import { readChecked, replaceChecked, syncDirectory } from './durable-file.ts';
import { type Frame, frameBytes, scanFrames, type ScannedFrames, unreadableText } from './frame.ts';
import {
  entriesOf,
  entryCountOf,
  groupOf,
  type KeptEntry,
  listSegments,
  readSegmentStart,
  type Segment,
} from './journal-block.ts';

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
  /** Where the next entry after them is, or will be: positions behind a lost end are left out. */
  readonly nextPosition: number;
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

interface RecoveryOptions {
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
  const { from, acknowledgedTo, repair } = options;
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
    await recoverSegment(segment, progress, options, next === undefined);
  }
  const last = segments.at(-1);
  const end = Math.max(progress.position ?? 0, last?.firstPosition ?? 0);
  const found = { segments, lastStoredAt: progress.storedAt };
  if (end < acknowledgedTo) {
    const nextPosition = acknowledgedTo + positionsLeftOut;
    const lost = { firstPosition: end, entries: acknowledgedTo - end, nextPosition };
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
      nextPosition,
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

async function recoverSegment(
  segment: Segment,
  progress: Progress,
  { from, acknowledgedTo, visit }: RecoveryOptions,
  /** Whether no segment follows. */
  newest: boolean,
): Promise<void> {
  const fileBytes = segment.bytes;
  segment.bytes = 0;
  const start = await readSegmentStart(segment.path);
  progress.hasStart = start !== undefined;
  const { path, firstPosition } = segment;
  noteGap(progress, { path, position: firstPosition, offset: 0, lostTo: start?.lostTo });
  let groupEnd = 0;
  for await (const batch of scanFrames(segment.path, 0, fileBytes)) {
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
        nextPosition: firstPosition,
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

/** Notes a frame, and adds those of its entries that come next and are asked for. */
function addEntries(
  {
    segment,
    frame,
    offset,
    from,
  }: {
    readonly segment: Segment;
    readonly frame: Frame;
    readonly offset: number;
    /** See `RecoveryOptions`. */
    readonly from: number;
  },
  progress: Progress,
  entries: KeptEntry[],
): void {
  const { position, storedAt } = frame;
  const count = entryCountOf(frame);
  progress.storedAt = Math.max(progress.storedAt, storedAt);
  if (count > 0) {
    noteGap(progress, { path: segment.path, position, offset });
    const next = progress.position ?? position;
    segment.addMark({ position, storedAt, offset });
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
  for await (const batch of scanFrames(path, scanned.end, fileBytes))
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

/** Notes the entries before the next one that were not read as lost. */
function noteGap(
  progress: Progress,
  {
    path,
    offset,
    position,
    lostTo = position,
  }: {
    /** The path and the offset of the entry. */
    readonly path: string;
    readonly offset: number;
    readonly position: number;
    /** Positions from here on were never used. */
    readonly lostTo?: number | undefined;
  },
): void {
  if (progress.position !== undefined && position > progress.position) {
    const lost = {
      firstPosition: progress.position,
      entries: Math.max(0, lostTo - progress.position),
      nextPosition: position,
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

// Log damage: what reading the journal and the positions of its followers found, in sentences for an operator.

export interface LogDamage {
  /** `records`: the records know less of the journal than they did. */
  readonly kind: 'journal' | 'records';
  readonly path: string;
  readonly reason: string;
}

/** What is known of the journal outside its own folder. */
export interface JournalEndSeen {
  /** Every entry before this position was acknowledged. */
  readonly acknowledgedTo: number;
  /** Every entry before this one was durable, because raw uplinks made of them are on the disk. */
  readonly uplinksTo?: number;
  /** Where followers go on whose own positions are lost. */
  readonly followFrom: number;
}

/** Every entry before the position was durable, regardless of the journal's files. */
export function durableTo(followers: FollowerPositions, seen: JournalEndSeen | undefined): number {
  return Math.max(followers.newest(), seen?.acknowledgedTo ?? 0, seen?.uplinksTo ?? 0);
}

/** What opening the journal found, but for a torn tail, and what is known of its followers. */
export function logDamage(
  found: readonly JournalDamage[],
  followers: FollowerPositions,
  directory: string,
  seen?: JournalEndSeen,
): LogDamage[] {
  const damage: LogDamage[] = [];
  // The records are on the disk before the journal is told so; the other way round they are an
  // older copy.
  const reached = followers.found === 'sound' ? (followers.get('device-status') ?? 0) : 0;
  if (seen !== undefined && reached > seen.acknowledgedTo)
    damage.push({
      kind: 'records',
      path: join(directory, 'followers.json'),
      reason: `The record database is older than the samples (journal position ${reached}, samples at ${seen.acknowledgedTo}). Records created in between are missing.`,
    });
  for (const { kind, path, offset, bytes, firstPosition, entries } of found) {
    if (kind === 'tornTail') continue;
    const what =
      kind === 'unreadableBytes'
        ? unreadableText({ offset, bytes })
        : `${entries} journal entries are missing from position ${firstPosition}`;
    damage.push({ kind: 'journal', path, reason: what });
  }
  if (followers.found !== 'sound')
    damage.push({
      kind: 'journal',
      path: join(directory, 'followers.json'),
      reason: `The positions of followers are ${followers.found}: outputs and rules that were behind position ${followers.fallback} may not have seen all entries before it`,
    });
  return damage;
}

// How far each follower of the journal has come, kept in a small file that is replaced as a whole.
// Losing the newest positions repeats entries to followers, which they bear; so they are written
// now and then, not at every step.

const saveEveryMs = 1_000;

export class FollowerPositions {
  readonly #path: string;
  readonly #now: () => EpochMs;
  readonly #positions: Map<string, number>;
  #changed = false;
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<unknown> | undefined;
  /**
   * The file was damaged or is missing although there were followers: all positions were discarded,
   * and `fallback` stands for them.
   */
  readonly found: 'sound' | 'damaged' | 'missing';
  readonly fallback: number;

  private constructor(
    path: string,
    now: () => EpochMs,
    saved: Readonly<Record<string, number>>,
    found: FollowerPositions['found'],
    fallback: number,
  ) {
    this.#path = path;
    this.#now = now;
    this.#positions = new Map(Object.entries(saved));
    this.found = found;
    this.fallback = fallback;
  }

  /**
   * Reads the file of the folder. Without one nobody has followed anything yet, unless `fallback` is
   * given: a position above 0 that is known from elsewhere, from which followers go on when the file
   * is missing or damaged.
   */
  static async open(
    directory: string,
    now: () => EpochMs,
    fallback = 0,
  ): Promise<FollowerPositions> {
    const path = join(directory, 'followers.json');
    const read = await readChecked(path);
    if (read === 'damaged') return new FollowerPositions(path, now, {}, 'damaged', fallback);
    const isMissing = read === undefined && fallback > 0;
    const saved = read === undefined ? {} : (JSON.parse(read.text) as Record<string, number>);
    return new FollowerPositions(path, now, saved, isMissing ? 'missing' : 'sound', fallback);
  }

  /** The largest position; 0 without followers. */
  newest(): number {
    return Math.max(...this.#positions.values(), 0);
  }

  get(follower: string): number | undefined {
    const position = this.#positions.get(follower);
    if (position !== undefined || this.found === 'sound' || this.fallback === 0) return position;
    return this.fallback;
  }

  set(follower: string, position: number): void {
    this.#changed ||= this.#positions.get(follower) !== position;
    this.#positions.set(follower, position);
  }

  remove(follower: string): void {
    this.#changed ||= this.#positions.delete(follower);
  }

  /** The position that the slowest follower comes to next; infinite without followers. */
  slowest(): number {
    return Math.min(...this.#positions.values(), Number.POSITIVE_INFINITY);
  }

  /** Writes the file when positions changed, at most once a second unless forced. */
  async save(force = false): Promise<void> {
    // A forced save waits for what others began meanwhile as well.
    while (this.#saving !== undefined) await this.#saving;
    const now = this.#now();
    if (!this.#changed || (!force && isWithin(saveEveryMs, this.#savedAt, now))) return;
    this.#changed = false;
    this.#savedAt = now;
    this.#saving = replaceChecked(this.#path, JSON.stringify(Object.fromEntries(this.#positions)));
    try {
      await this.#saving;
    } catch (error) {
      this.#changed = true;
      throw error;
    } finally {
      this.#saving = undefined;
    }
  }
}
