// Entry log: the local journal of everything received, with its followers and cursors.
import { cursorAt, readCursor } from '../../model/cursor.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import { problem } from '../../model/problem.ts';
import type { StoredSample } from '../../model/sample.ts';
import { unreadableText } from './frame.ts';
import type { ShapeInterner } from './data-shape.ts';
import { createEntryDecoder, type EntryDecoder, type EntryKey } from './entry-decoding.ts';
import { type ColumnsToEncode, createEntryEncoder, type EntryToEncode } from './entry-encoding.ts';
import { type FollowerPositions, openFollowerPositions } from './follower-positions.ts';
import type { Appended } from './journal-writer.ts';
import { type Journal, type JournalOptions, openJournal } from './journal.ts';
import { durableTo, type JournalEndSeen, type LogDamage, logDamage } from './journal-recovery.ts';
import type { ReadEntry } from './logged-entry.ts';
import { createRowKinds } from './row-kind.ts';

export interface EntryLog {
  /** The position behind the newest durable entry, which is what the next one gets. */
  readonly position: number;
  /** The position that the next append gets; everything appended before has a smaller one. */
  readonly nextPosition: number;
  /** The oldest position that is kept. */
  readonly firstPosition: number;

  /** The position of the first entry that is kept and was stored at the time or later. */
  positionAt(storedAt: EpochMs): Promise<number>;

  /** The present time. No entry that is appended later is stored at an earlier one. */
  reachTime(): EpochMs;

  /**
   * Many calls in flight share one fsync. Throws, or `durable` rejects, with `storageFull`,
   * `storageStopped` or `stopping`.
   */
  append(entry: EntryToEncode): Appended;

  /** As `append`, for rows in columns. */
  appendColumns(entry: ColumnsToEncode): Appended;

  /**
   * Durable entries from a position on, in batches, up to the newest one. Damage is stepped over.
   */
  entriesFrom(position: number): AsyncIterable<readonly DurableEntry[]>;

  /** The keys of durable entries from a position on, in batches; rows are not read. */
  duplicateKeysFrom(position: number): AsyncIterable<readonly EntryKey[]>;

  /**
   * Whether some of the entries from one position on and before another are known to be lost, so
   * that followers never get them.
   */
  isLost(from: number, to: number): boolean;

  /**
   * Samples of the devices for the store that were stored after the cursor (exclusive) or since a
   * time of storing, in order of storing, batch by batch up to the newest durable one. Throws Problem `cursorTooOld`
   * with the oldest cursor still kept, `invalidRequest` for a text that is not a cursor.
   */
  replay(
    since: ReplayStart,
    deviceIds: ReadonlySet<string>,
  ): AsyncIterable<readonly StoredSample[]>;

  /**
   * The position that the follower set last, also before a restart; undefined when it never did.
   * After a crash it may be some entries old.
   */
  followerPosition(follower: string): number | undefined;

  /** Keeps what the follower has not seen: entries from the position on. Saved within a second. */
  setFollowerPosition(follower: string, position: number): void;

  /**
   * Resolves when all positions are on the disk. Await it before anything is acknowledged: a
   * follower whose first position a crash takes away would start at the end, behind what it has not
   * seen.
   */
  saveFollowerPositions(): Promise<void>;
  /** The position that the slowest follower comes to next; infinite without followers. */
  slowestFollower(): number;

  /** Ends the follower's hold on the log. */
  removeFollower(follower: string): void;

  /**
   * Entries before the position are no longer needed by the store. Drops what no follower needs
   * either and resuming does not keep.
   */
  release(before: number): Promise<void>;

  /** What the journal takes on the disk, and when its oldest entry was stored. */
  journalled(): { readonly bytes: number; readonly oldestStoredAt: EpochMs | undefined };

  /** Bytes that opening cut off the end: the normal trace of a crash, never acknowledged. */
  readonly tornBytes: number;

  /** Makes durable what was appended, saves positions and closes. */
  close(): Promise<void>;
}

export interface EntryLogOptions
  extends Pick<
    JournalOptions,
    | 'continuity'
    | 'directory'
    | 'disk'
    | 'now'
    | 'onWriting'
    | 'resumeBytesMax'
    | 'resumeAgeMsMax'
    | 'segmentBytes'
  > {
  readonly shapes: ShapeInterner;
  /** Entries from this position on are given to `replay` while opening, some at a time. */
  readonly replayFrom: number;
  readonly replay: (entries: readonly ReadEntry[]) => void | Promise<void>;
  /** What others know of the end of the journal. */
  readonly seen?: JournalEndSeen | undefined;
  /** Called for every damaged place that opening or reading finds; at every reading again. */
  readonly damaged: (damage: LogDamage) => void;
  /** Called when positions cannot be saved or the journal cannot be truncated. */
  readonly failed: (error: unknown) => void;
}

/**
 * Opens or creates the log of the folder. Throws OtherFormatError for files of another
 * format.
 */
export async function openEntryLog(options: EntryLogOptions): Promise<EntryLog> {
  const { directory, now, shapes, seen, damaged, failed } = options;
  const followers = await openFollowerPositions(directory, now, seen?.followFrom);
  const encoder = createEntryEncoder(createRowKinds());
  const decoder = createEntryDecoder(shapes);
  const journal = await openJournal({
    ...options,
    visitFrom: options.replayFrom,
    visit: (entries) => options.replay(entries.map(decoder.logged)),
    acknowledgedTo: durableTo(followers, seen),
    damaged: (path, damage) => damaged({ kind: 'journal', path, reason: unreadableText(damage) }),
  });
  for (const place of logDamage(journal.damage, followers, directory, seen)) damaged(place);
  const release = createRelease(journal, followers, options);
  return {
    get position() {
      return journal.position();
    },
    get nextPosition() {
      return journal.nextPosition();
    },
    get firstPosition() {
      return journal.firstPosition();
    },
    tornBytes: journal.damage.reduce(
      (sum, { kind, bytes }) => sum + (kind === 'tornTail' ? bytes : 0),
      0,
    ),
    positionAt: async (storedAt) => (await journal.positionAt(storedAt)).position,
    reachTime: () => journal.reachTime(),
    append: (entry) => journal.append(encoder.encode(entry)),
    appendColumns: (entry) => journal.append(encoder.encodeColumns(entry)),
    entriesFrom: (position) => readEntries(journal, decoder, position),
    async *duplicateKeysFrom(position) {
      for await (const entries of journal.read(position))
        yield entries.map(decoder.duplicateKey).filter((key) => key !== undefined);
    },
    isLost: (from, to) =>
      journal.damage.some(
        ({ firstPosition, entries }) => firstPosition < to && firstPosition + entries > from,
      ),
    replay: (since, deviceIds) => replaySamples(journal, decoder, since, deviceIds),
    followerPosition: followers.get,
    setFollowerPosition(follower, position) {
      followers.set(follower, position);
      // Now and then; what a crash loses is given again to followers, which must bear repetition.
      void followers.save().catch(failed);
      void release();
    },
    slowestFollower: followers.slowest,
    saveFollowerPositions: () => followers.save(true),
    removeFollower: followers.remove,
    release,
    journalled: () => ({ bytes: journal.bytes(), oldestStoredAt: journal.oldestStoredAt() }),
    async close() {
      await journal.close();
      // Older positions repeat entries to followers, which bear it.
      await followers.save(true).catch(failed);
    },
  };
}

/** One truncation after the other; without a position the last one holds. */
function createRelease(
  journal: Journal,
  followers: FollowerPositions,
  { replayFrom, failed }: EntryLogOptions,
): (before?: number) => Promise<void> {
  let releasedTo = replayFrom;
  let dropping: Promise<unknown> = Promise.resolve();
  return async (before = releasedTo) => {
    releasedTo = before;
    dropping = dropping
      .then(() => journal.dropBefore(Math.min(releasedTo, followers.slowest())))
      .catch(failed);
    await dropping;
  };
}

// Replay: what was stored since a cursor or a time, in the order of the journal.

type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

const batchMax = 1_000;

/** See `EntryLog.replay`. */
async function* replaySamples(
  journal: Journal,
  decoder: EntryDecoder,
  since: ReplayStart,
  deviceIds: ReadonlySet<string>,
): AsyncGenerator<readonly StoredSample[]> {
  const start = await startOf(journal, since);
  let batch: StoredSample[] = [];
  for await (const entries of readEntries(journal, decoder, start.position)) {
    for (const entry of entries) {
      // The samples of an entry in columns are of one device, and are not read for another.
      if (entry.summary !== undefined && !deviceIds.has(entry.deviceId)) continue;
      for (const sample of entry.samples)
        if (sample.stored && sample.cursor > start.after && deviceIds.has(sample.deviceId))
          batch.push(sample);
    }
    if (batch.length < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Durable entries from the position on. */
async function* readEntries(
  journal: Journal,
  decoder: EntryDecoder,
  position: number,
): AsyncGenerator<readonly DurableEntry[]> {
  for await (const entries of journal.read(position)) {
    // A batch of entries is as long as the window they are read through, some thousand samples,
    // unless one entry is larger.
    yield entries.map(decoder.durable);
  }
}

async function startOf(
  journal: Journal,
  since: ReplayStart,
): Promise<{ position: number; after: string }> {
  const oldest = journal.firstPosition();
  if ('cursor' in since) {
    const place = readCursor(since.cursor);
    // One beyond the end is of another data folder; following it would be silence until the journal
    // grows that far.
    if (place === undefined || place.position > journal.nextPosition()) {
      throw problem('invalidRequest', { reason: `${since.cursor} is not a valid cursor` });
    }
    if (place.position < oldest) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
    return { position: place.position, after: since.cursor };
  }
  const { position, complete } = await journal.positionAt(since.storedSince);
  if (!complete) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
  return { position, after: '' };
}
