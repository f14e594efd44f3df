// The durable append log every entry passes first: append with group commit, read from any position, drop what nobody needs.
import { unlink } from 'node:fs/promises';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import { makeFolder, syncDirectory } from './durable-file.ts';
import { type FrameDamage, frameTypes, scanFrames } from './frame.ts';
import { type EncodedEntry, entriesOf, type KeptEntry } from './journal-block.ts';
import { type JournalDamage, type RecoveredJournal, recoverJournal } from './journal-recovery.ts';
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

export interface JournalOptions extends WriterOptions {
  /** Entries from this position on are given to `visit` while opening, some at a time. */
  readonly visitFrom: number;
  readonly visit: (entries: readonly KeptEntry[]) => void | Promise<void>;
  /**
   * Every entry before this position was acknowledged, as somebody knows who saw it: when the files
   * end before it, that is told as damage.
   */
  readonly acknowledgedTo?: number;
  /** Called when a reader steps over bytes that cannot be read, at every reading. */
  readonly damaged?: (path: string, damage: FrameDamage) => void;
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #segments: Segment[];
  readonly #writer: JournalWriter;
  /** No segment is dropped that one of them has still to come to. */
  readonly #readers = new Set<{ position: number }>();
  /** What opening found. */
  readonly damage: readonly JournalDamage[];

  private constructor(options: JournalOptions, found: RecoveredJournal) {
    this.#options = options;
    this.#segments = found.segments;
    this.#writer = new JournalWriter(options, found);
    this.damage = found.damage;
  }

  /** Opens or creates the journal of the folder; a torn tail is cut, damage before it is reported. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { directory, visitFrom, visit, acknowledgedTo = 0 } = options;
    await makeFolder(directory);
    const found = await recoverJournal(directory, {
      from: visitFrom,
      visit,
      acknowledgedTo: Math.max(acknowledgedTo, visitFrom),
      repair: true,
    });
    const journal = new Journal(options, found);
    await journal.#writer.anchor();
    return journal;
  }

  /** See `JournalWriter.append`. */
  append(entry: EncodedEntry): Appended {
    return this.#writer.append(entry);
  }

  /** Settles as the newest append does. */
  newest(): Promise<void> {
    return this.#writer.newest;
  }

  /** The position behind the newest durable entry. */
  position(): number {
    return this.#writer.durablePosition;
  }

  /**
   * The position that the next append gets; what was appended before and is not lost has smaller
   * ones.
   */
  nextPosition(): number {
    return this.#writer.nextPosition;
  }

  /** The oldest position that is kept. */
  firstPosition(): number {
    return this.#segments[0]?.firstPosition ?? this.#writer.durablePosition;
  }

  /** See the writer. */
  reachTime(): EpochMs {
    return this.#writer.reachTime();
  }

  bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** When the oldest kept entry was stored; undefined without any. */
  oldestStoredAt(): EpochMs | undefined {
    const [oldest] = this.#segments;
    return oldest?.marks[0]?.storedAt ?? oldest?.lastStoredAt;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  /**
   * Entries from the position on to the newest durable one, also those that arrive meanwhile.
   * Damage is stepped over.
   */
  async *read(from: number): AsyncGenerator<readonly KeptEntry[]> {
    const segments = this.#segments;
    const reader = { position: from };
    this.#readers.add(reader);
    try {
      while (reader.position < this.#writer.durablePosition) {
        const segment = segments.findLast((s) => s.firstPosition <= reader.position) ?? segments[0];
        if (segment === undefined) return;
        const { bytes } = segment;
        const offset = offsetBefore(segment, (mark) => mark.position <= reader.position);
        for await (const batch of scanFrames(segment.path, offset, bytes)) {
          if (batch.damage !== undefined) this.#options.damaged?.(segment.path, batch.damage);
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
      this.#readers.delete(reader);
    }
  }

  /**
   * The position of the first kept entry stored at the time or later, and whether older ones at or
   * after it were dropped.
   */
  async positionAt(storedAt: EpochMs): Promise<{ position: number; complete: boolean }> {
    const segments = this.#segments;
    const first = segments[0];
    for (const segment of segments) {
      const next = segments.find((s) => s.firstPosition > segment.firstPosition);
      const { lastStoredAt } = segment;
      if (next !== undefined && lastStoredAt !== undefined && lastStoredAt < storedAt) continue;
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
    return { position: this.#writer.durablePosition, complete: true };
  }

  /**
   * Removes segments that lie wholly before the position and are not kept for resuming. Says how
   * many bytes that gave back.
   */
  async dropBefore(position: number): Promise<number> {
    const { now, disk, directory } = this.#options;
    const {
      resumeBytesMax = journalLimits.resumeBytesMax,
      resumeAgeMsMax = journalLimits.resumeAgeMsMax,
    } = this.#options;
    const needed = Math.min(position, ...[...this.#readers].map((reader) => reader.position));
    const oldest = now() - resumeAgeMsMax;
    let kept = this.bytes();
    let dropped = 0;
    // The newest segment is being written and stays.
    for (;;) {
      const [segment, next] = this.#segments;
      if (segment === undefined || next === undefined || next.firstPosition > needed) break;
      const withinAge = segment.lastStoredAt !== undefined && segment.lastStoredAt >= oldest;
      if (kept <= resumeBytesMax && withinAge) break;
      await unlink(segment.path);
      disk?.removed?.(segment.path);
      this.#segments.shift();
      kept -= segment.bytes;
      dropped += segment.bytes;
    }
    if (dropped > 0) await syncDirectory(directory);
    return dropped;
  }
}
