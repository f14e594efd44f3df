// The durable append log every entry passes first: append with group commit, read from any position, drop what nobody needs.
import { unlink } from 'node:fs/promises';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import { type Disk, realDisk } from './disk.ts';
import { makeFolder, syncDirectory } from './durable-file.ts';
import { type FrameDamage, frameTypes, scanFrames } from './frame.ts';
import { type EncodedEntry, entriesOf, type KeptEntry } from './journal-block.ts';
import { type JournalDamage, recoverJournal } from './journal-recovery.ts';
import { type Appended, JournalWriter, type WriterOptions } from './journal-writer.ts';
import { offsetBefore, type Segment } from './journal-segments.ts';

const journalLimits = {
  /**
   * What live streams may resume from, beyond what followers and the store still need: at most so
   * much and so old.
   */
  resumeBytesMax: 64 * 1024 * 1024,
  resumeAgeMsMax: dayMs,
} as const;

export interface JournalOptions {
  readonly directory: string;
  readonly now: () => EpochMs;
  /** Entries from this position on are given to `visit` while opening, some at a time. */
  readonly visitFrom: number;
  readonly visit: (entries: readonly KeptEntry[]) => void | Promise<void>;
  /**
   * Every entry before this position was acknowledged, as somebody knows who saw it: when the files
   * end before it, that is told as damage.
   */
  readonly acknowledgedTo?: number;
  /** See the writer: appends behind the durable end were lost. */
  readonly onLost?: (() => void) | undefined;
  /**
   * A number that changes when another process may have got the right to write meanwhile, NaN while
   * this one does not have it. What is written across a change is cut off, and its appends reject
   * with `deviceMoved`.
   */
  readonly continuity?: (() => number) | undefined;
  /** See the writer. */
  readonly onWriting?: WriterOptions['onWriting'];
  /** A segment is closed when it is longer; the unit in which the journal is dropped. */
  readonly segmentBytes: number;
  /** Called when a reader steps over bytes that cannot be read, at every reading. */
  readonly damaged?: (path: string, damage: FrameDamage) => void;
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
  readonly disk?: Disk;
}

export interface Journal {
  readonly append: (entry: EncodedEntry) => Appended;
  /** Settles as the newest append does. */
  readonly newest: () => Promise<void>;
  /** The position behind the newest durable entry. */
  readonly position: () => number;
  /**
   * The position that the next append gets; what was appended before and is not lost has smaller
   * ones.
   */
  readonly nextPosition: () => number;
  /** The oldest position that is kept. */
  readonly firstPosition: () => number;
  /** See the writer. */
  readonly reachTime: () => EpochMs;
  /**
   * Entries from the position on to the newest durable one, also those that arrive meanwhile.
   * Damage is stepped over.
   */
  readonly read: (position: number) => AsyncGenerator<readonly KeptEntry[]>;
  /**
   * The position of the first kept entry stored at the time or later, and whether older ones at or
   * after it were dropped.
   */
  readonly positionAt: (storedAt: EpochMs) => Promise<{ position: number; complete: boolean }>;
  /**
   * Removes segments that lie wholly before the position and are not kept for resuming. Says how
   * many bytes that gave back.
   */
  readonly dropBefore: (position: number) => Promise<number>;
  readonly bytes: () => number;
  /** When the oldest kept entry was stored; undefined without any. */
  readonly oldestStoredAt: () => EpochMs | undefined;
  /** What opening found. */
  readonly damage: readonly JournalDamage[];
  readonly close: () => Promise<void>;
}

/** Opens or creates the journal of the folder; a torn tail is cut, damage before it is reported. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { directory } = options;
  await makeFolder(directory);
  const { visitFrom, visit, acknowledgedTo = 0 } = options;
  const recovery = {
    from: visitFrom,
    visit,
    acknowledgedTo: Math.max(acknowledgedTo, visitFrom),
    repair: true,
  };
  const found = await recoverJournal(directory, recovery);
  const { segments } = found;
  const { segmentBytes } = options;
  const disk = options.disk ?? realDisk;
  const writer = new JournalWriter(
    {
      directory,
      segmentBytes,
      disk,
      now: options.now,
      onLost: options.onLost,
      continuity: options.continuity,
      onWriting: options.onWriting,
    },
    found,
  );
  await writer.anchor();
  const readers = new Set<{ position: number }>();
  return {
    append: (entry) => writer.append(entry),
    newest: () => writer.newest,
    position: () => writer.durablePosition,
    nextPosition: () => writer.nextPosition,
    reachTime: () => writer.reachTime(),
    firstPosition: () => segments[0]?.firstPosition ?? writer.durablePosition,
    read: (position) => readKept({ segments, writer, readers, damaged: options.damaged }, position),
    positionAt: (storedAt) => positionAt(segments, () => writer.durablePosition, storedAt),
    dropBefore: (position) =>
      dropBefore(options, segments, Math.min(position, ...[...readers].map((r) => r.position))),
    bytes: () => segments.reduce((sum, segment) => sum + segment.bytes, 0),
    oldestStoredAt: () => segments[0]?.marks[0]?.storedAt ?? segments[0]?.lastStoredAt,
    damage: found.damage,
    close: () => writer.close(),
  };
}

interface EntrySource {
  readonly damaged: JournalOptions['damaged'];
  readonly segments: readonly Segment[];
  readonly writer: JournalWriter;
  readonly readers: Set<{ position: number }>;
}

async function* readKept(
  { segments, writer, readers, damaged }: EntrySource,
  from: number,
): AsyncGenerator<readonly KeptEntry[]> {
  // Registered, so that no segment is dropped that this reader has still to come to.
  const reader = { position: from };
  readers.add(reader);
  try {
    while (reader.position < writer.durablePosition) {
      const segment = segments.findLast((s) => s.firstPosition <= reader.position) ?? segments[0];
      if (segment === undefined) return;
      const { bytes } = segment;
      const offset = offsetBefore(segment, (mark) => mark.position <= reader.position);
      for await (const batch of scanFrames(segment.path, offset, bytes)) {
        if (batch.damage !== undefined) damaged?.(segment.path, batch.damage);
        const entries = batch.frames
          .flatMap(entriesOf)
          .filter(({ position }) => position >= reader.position);
        const last = entries.at(-1);
        if (last === undefined) continue;
        yield entries;
        reader.position = last.position + 1;
      }
      // It was written on meanwhile, and maybe followed by another: what came is read before that
      // one.
      if (segment.bytes !== bytes) continue;
      // What the segment's end does not hold is damage; the next segment says where to go on.
      const next = segments.find((s) => s.firstPosition > segment.firstPosition);
      if (next === undefined) return;
      reader.position = Math.max(reader.position, next.firstPosition);
    }
  } finally {
    readers.delete(reader);
  }
}

async function positionAt(
  segments: readonly Segment[],
  durablePosition: () => number,
  storedAt: EpochMs,
): Promise<{ position: number; complete: boolean }> {
  const first = segments[0];
  if (first === undefined) return { position: durablePosition(), complete: true };
  for (const segment of segments) {
    const next = segments.find((s) => s.firstPosition > segment.firstPosition);
    if (next !== undefined && segment.lastStoredAt !== undefined && segment.lastStoredAt < storedAt)
      continue;
    const offset = offsetBefore(segment, (mark) => mark.storedAt < storedAt);
    for await (const { frames } of scanFrames(segment.path, offset, segment.bytes))
      for (const frame of frames) {
        // The header of a segment carries the time of the newest entry before it.
        if (
          frame.type === frameTypes.segmentStart &&
          segment === first &&
          frame.storedAt >= storedAt
        )
          return { position: frame.position, complete: frame.position === 0 };
        const entry = entriesOf(frame).find((kept) => kept.storedAt >= storedAt);
        if (entry !== undefined) return { position: entry.position, complete: true };
      }
  }
  return { position: durablePosition(), complete: true };
}

async function dropBefore(
  options: JournalOptions,
  segments: Segment[],
  position: number,
): Promise<number> {
  const bytesMax = options.resumeBytesMax ?? journalLimits.resumeBytesMax;
  const oldest = options.now() - (options.resumeAgeMsMax ?? journalLimits.resumeAgeMsMax);
  let kept = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  let dropped = 0;
  // The newest segment is being written and stays.
  for (;;) {
    const [segment, next] = segments;
    if (segment === undefined || next === undefined || next.firstPosition > position) break;
    const withinAge = segment.lastStoredAt !== undefined && segment.lastStoredAt >= oldest;
    if (kept <= bytesMax && withinAge) break;
    await unlink(segment.path);
    options.disk?.removed?.(segment.path);
    segments.shift();
    kept -= segment.bytes;
    dropped += segment.bytes;
  }
  if (dropped > 0) await syncDirectory(options.directory);
  return dropped;
}
