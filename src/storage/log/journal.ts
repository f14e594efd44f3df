// The durable append log every entry passes first: append with group commit, read from any position, drop what nobody needs.
import { unlink } from 'node:fs/promises';
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import {
  type Disk,
  isDiskFull,
  LeasesLapsed,
  makeFolder,
  NotCopied,
  PassingFailure,
  realDisk,
  syncDirectory,
} from './durable-file.ts';
import { type FrameDamage, frameTypes, scanFrames } from './frame.ts';
import {
  BlockGroup,
  type EncodedEntry,
  entriesOf,
  type KeptEntry,
  Segment,
  segmentStartBytes,
} from './journal-block.ts';
import { type JournalDamage, type RecoveredJournal, recoverJournal } from './journal-recovery.ts';
import { problem } from '../../model/problem.ts';
import { missing } from '../../structures/missing.ts';
import { atTurnEnd } from '../../structures/turns.ts';

// Journal writer: group commit. Entries that arrive during a flush share the next one.

/** One group is at most so long, unless a single entry is longer: what waits for it is bounded. */
const groupBytesMax = 1024 * 1024;
/** Groups whose memory is kept. */
const sparesMax = 2;

/** Entries that one sync makes durable, so all wait for the same promise. */
interface Waiting extends PromiseWithResolvers<void> {
  readonly blocks: BlockGroup;
  readonly firstPosition: number;
  readonly firstStoredAt: EpochMs;
  readonly continuity: number;
  entries: number;
  lastStoredAt: EpochMs;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly fd: number;
}

/** How a journal is written and kept. */
export interface JournalSettings {
  readonly disk?: Disk;
  readonly now: () => EpochMs;
  /**
   * A number that changes when another process may have got the right to write meanwhile, NaN while
   * this one does not have it. What is written across a change is cut off, and its appends reject
   * with `deviceMoved`.
   */
  readonly continuity?: (() => number) | undefined;
  /** Called at each change, and whenever a full disk refuses. */
  readonly onWriting?: ((state: WritingState) => void) | undefined;
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
}

export interface JournalOptions extends JournalSettings {
  readonly directory: string;
  /** A segment is closed when it is longer; the unit in which the journal is dropped. */
  readonly segmentBytes: number;
  /**
   * Called before any waiting append is rejected, whenever appends are lost: nothing behind the
   * durable end exists any more.
   */
  readonly onLost?: (() => void) | undefined;
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
}

/** Whether appends are accepted; `error` is what the operating system answered. */
type WritingState =
  | { readonly kind: 'writing' }
  | { readonly kind: 'full' | 'stopped'; readonly error: unknown };

/** A place given to an entry, not durable before `durable` resolves. */
export interface Appended {
  readonly position: number;
  readonly storedAt: EpochMs;
  /** What the entry takes in the journal, with the definitions that come with it. */
  readonly bytes: number;
  /** The same promise for all entries of a group. */
  readonly durable: Promise<void>;
}

class JournalWriter {
  readonly #options: JournalOptions;
  readonly #disk: Disk;
  readonly #segments: Segment[];
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #fd: number | undefined;
  /** Used again for the next groups: one waits while another is written. */
  readonly #spares: BlockGroup[] = [];
  #nextPosition: number;
  #lastStoredAt: EpochMs;
  #newest: Promise<void> = Promise.resolve();
  #state: WritingState['kind'] = 'writing';
  #closed = false;
  /** Whether the last segment is left as it is. */
  #startsNew: boolean;
  readonly #lostTo: number | undefined;
  /** Every entry before it is durable. */
  durablePosition: number;

  /** The segments found are the shared list; the last one is written on, or a new one begun. */
  constructor(options: JournalOptions, found: RecoveredJournal) {
    this.#options = options;
    this.#disk = options.disk ?? realDisk;
    this.#segments = found.segments;
    this.#nextPosition = found.nextPosition;
    this.#lastStoredAt = found.lastStoredAt;
    this.#startsNew = found.startsNew;
    this.#lostTo = found.lostTo;
    this.durablePosition = found.nextPosition;
  }

  /**
   * Begins the segment behind a lost end at once, so that the next start knows where entries go on.
   * A full disk leaves it to the first append.
   */
  async anchor(): Promise<void> {
    if (this.#lostTo === undefined) return;
    try {
      await this.#openSegment(this.#nextPosition, this.#lastStoredAt);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  /**
   * Copies the entry into the next group. Throws, or `durable` rejects, with `storageFull`,
   * `storageStopped` or `stopping`.
   */
  append(entry: EncodedEntry): Appended {
    this.#refuseWhenStopped();
    const storedAt = Math.max(Math.floor(this.#options.now()), this.#lastStoredAt);
    const group = this.#groupFor(entry.payloadBytes ?? entry.payload.length, storedAt);
    const position = this.#nextPosition++;
    const bytes = group.blocks.add(position, storedAt, entry);
    group.entries += 1;
    group.lastStoredAt = storedAt;
    this.#lastStoredAt = storedAt;
    this.#newest = group.promise;
    this.#flushing ??= this.#flush();
    return { position, storedAt, bytes, durable: group.promise };
  }

  /** The present time. No entry that is appended later gets an earlier one. */
  reachTime(): EpochMs {
    this.#lastStoredAt = Math.max(Math.floor(this.#options.now()), this.#lastStoredAt);
    return this.#lastStoredAt;
  }

  /** The last waiting group with room, or a new one. */
  #groupFor(payloadBytes: number, storedAt: EpochMs): Waiting {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.blocks.bytes + payloadBytes <= groupBytesMax) return last;
    const blocks = this.#spares.pop() ?? new BlockGroup();
    const place = { firstPosition: this.#nextPosition, firstStoredAt: storedAt };
    const begun = { ...place, continuity: this.#options.continuity?.() ?? 0 };
    const settled = Promise.withResolvers<void>();
    const group = { ...settled, ...begun, blocks, entries: 0, lastStoredAt: storedAt };
    this.#waiting.push(group);
    return group;
  }

  /** Settles as the newest append does: with it everything before is durable, or lost. */
  get newest(): Promise<void> {
    return this.#newest;
  }

  get nextPosition(): number {
    return this.#nextPosition;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #refuseWhenStopped(): void {
    if (this.#closed) throw problem('stopping');
    if (this.#state === 'stopped') throw problem('storageStopped');
  }

  async #flush(): Promise<void> {
    // One turn of the event loop, so that all callers of this turn share the first group.
    await new Promise<void>(atTurnEnd);
    for (;;) {
      const group = this.#waiting.shift();
      if (group === undefined) break;
      try {
        await this.#writeGroup(group);
      } catch (error) {
        await this.#loseAll(group, error);
        continue;
      }
      group.resolve();
    }
    this.#flushing = undefined;
  }

  async #writeGroup(group: Waiting): Promise<void> {
    const { blocks, firstPosition, firstStoredAt } = group;
    const { segment, fd } = await this.#segmentToWrite(firstPosition, firstStoredAt);
    const bytes = blocks.seal();
    await this.#disk.write(fd, bytes, segment.bytes);
    await this.#disk.sync(fd);
    if ((this.#options.continuity?.() ?? 0) !== group.continuity) throw new LeasesLapsed();
    const mark = { position: firstPosition, storedAt: firstStoredAt, offset: segment.bytes };
    segment.addMark(mark);
    segment.bytes += bytes.length;
    segment.lastStoredAt = group.lastStoredAt;
    this.durablePosition = firstPosition + group.entries;
    blocks.clear();
    if (this.#spares.length < sparesMax) this.#spares.push(blocks);
    this.#become({ kind: 'writing' });
  }

  /** The open segment with room for a group that begins with the position. */
  async #segmentToWrite(position: number, storedAt: EpochMs): Promise<OpenSegment> {
    const open = this.#openEnd();
    if (open !== undefined && open.segment.bytes < this.#options.segmentBytes) return open;
    await this.#openSegment(position, storedAt);
    return this.#openEnd() ?? missing('open segment');
  }

  /** The last segment with its file; undefined when the file is not open for writing. */
  #openEnd(): OpenSegment | undefined {
    const segment = this.#segments.at(-1);
    if (segment === undefined || this.#fd === undefined) return undefined;
    return { segment, fd: this.#fd };
  }

  #become(state: WritingState): void {
    if (this.#state === state.kind && state.kind !== 'full') return;
    this.#state = state.kind;
    this.#options.onWriting?.(state);
  }

  /**
   * Writes on at the end of the last segment, or begins a new one when that is full or there is
   * none.
   */
  async #openSegment(position: number, storedAt: EpochMs): Promise<void> {
    const last = this.#segments.at(-1);
    const mayGoOn = this.#fd === undefined && !this.#startsNew;
    if (
      mayGoOn &&
      last !== undefined &&
      last.bytes > 0 &&
      last.bytes < this.#options.segmentBytes
    ) {
      this.#fd = openSync(last.path, 'r+');
      this.#disk.opened?.(this.#fd, last.path);
      return;
    }
    const segment = new Segment(this.#options.directory, position);
    const fd = openSync(segment.path, 'w');
    this.#disk.opened?.(fd, segment.path);
    try {
      const lostTo = this.#startsNew ? this.#lostTo : undefined;
      const header = segmentStartBytes(position, { storedAt: last?.lastStoredAt ?? 0, lostTo });
      segment.bytes = header.length;
      await this.#disk.write(fd, header, 0);
      await this.#disk.sync(fd);
      await syncDirectory(dirname(segment.path));
    } catch (error) {
      closeSync(fd);
      await unlink(segment.path).catch(() => undefined);
      this.#disk.removed?.(segment.path);
      throw error;
    }
    segment.lastStoredAt = storedAt;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = fd;
    this.#startsNew = false;
    this.#segments.push(segment);
  }

  /**
   * A full disk and passing failures lose what waits, and writing resumes; any other failure stops it
   * for good: it is never tried again.
   */
  async #loseAll(group: Waiting, error: unknown): Promise<void> {
    const passing = error instanceof PassingFailure ? error.problem : undefined;
    const mayGoOn = (passing !== undefined || isDiskFull(error)) && (await this.#cutBack());
    if (passing === undefined || !mayGoOn)
      this.#become({ kind: mayGoOn ? 'full' : 'stopped', error });
    const lost = [group, ...this.#waiting.splice(0)];
    this.#nextPosition = this.durablePosition;
    this.#options.onLost?.();
    const why = mayGoOn ? (passing ?? 'storageFull') : 'storageStopped';
    for (const { reject } of lost) reject(problem(why));
  }

  /**
   * Removes what a failed write left behind the last good frame; false when the disk refuses even
   * that.
   */
  async #cutBack(): Promise<boolean> {
    const open = this.#openEnd();
    if (open === undefined) return true;
    try {
      await this.#disk.truncate(open.fd, open.segment.bytes);
      await this.#disk.sync(open.fd);
      return true;
    } catch (error) {
      // The next copy begins with what this disk has then.
      return error instanceof NotCopied;
    }
  }
}

const journalLimits = {
  /**
   * What live streams may resume from, beyond what followers and the store still need: at most so
   * much and so old.
   */
  resumeBytesMax: 64 * 1024 * 1024,
  resumeAgeMsMax: dayMs,
} as const;

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
        const offset = segment.offsetBefore((mark) => mark.position <= reader.position);
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
      const offset = segment.offsetBefore((mark) => mark.storedAt < storedAt);
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
