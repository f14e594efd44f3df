// Entry log: the local journal of everything received, with its followers and cursors.
import { cursorAt, type DurableEntry, readCursor } from '../../model/journal-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import { isInRange } from '../../model/sample-changes.ts';
import type { StoredSample } from '../../model/sample.ts';
import { unreadableText } from './frame.ts';
import type { ShapeInterner } from './data-shape.ts';
import {
  type ColumnsToEncode,
  type DeviceReplacement,
  EntryDecoder,
  EntryEncoder,
  type EntryKey,
  type EntryToEncode,
} from './entry-codec.ts';
import {
  durableTo,
  FollowerPositions,
  type JournalEndSeen,
  logDamage,
  type LogDamage,
} from './journal-recovery.ts';
import { type Appended, Journal, type JournalSettings } from './journal.ts';
import { createRowKinds, type ReadEntry } from './logged-entry.ts';

export interface EntryLogOptions extends JournalSettings {
  readonly directory: string;
  /** See `JournalOptions`. */
  readonly segmentBytes: number;
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

type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

/** Samples of one batch of a replay. */
const batchMax = 1_000;

/** By device. */
type RemovedByDevice = ReadonlyMap<string, readonly DeviceReplacement[]>;

function removalsOf(
  replacements: readonly DeviceReplacement[],
  deviceIds: ReadonlySet<string>,
): RemovedByDevice {
  return Map.groupBy(
    replacements.filter(({ deviceId }) => deviceIds.has(deviceId)),
    ({ deviceId }) => deviceId,
  );
}

function isRemoved(
  { deviceId, topic, timestamp }: StoredSample,
  position: number,
  removed: RemovedByDevice,
): boolean {
  const ofDevice = removed.size === 0 ? undefined : removed.get(deviceId);
  return (
    ofDevice?.some(
      ({ position: own, before, ranges }) =>
        position < (before?.position ?? own) &&
        ranges.some((range) => isInRange(range, topic, timestamp)),
    ) === true
  );
}

export class EntryLog {
  readonly #journal: Journal;
  readonly #followers: FollowerPositions;
  readonly #encoder = new EntryEncoder(createRowKinds());
  readonly #decoder: EntryDecoder;
  readonly #failed: (error: unknown) => void;
  #releasedTo: number;
  #reading: Promise<readonly DeviceReplacement[]> | undefined;
  #noted: DeviceReplacement[] = [];
  #dropping: Promise<unknown> = Promise.resolve();

  private constructor(
    journal: Journal,
    followers: FollowerPositions,
    decoder: EntryDecoder,
    { replayFrom, failed }: EntryLogOptions,
  ) {
    this.#journal = journal;
    this.#followers = followers;
    this.#decoder = decoder;
    this.#failed = failed;
    this.#releasedTo = replayFrom;
  }

  /**
   * Opens or creates the log of the folder. Throws OtherFormatError for files of another
   * format.
   */
  static async open(options: EntryLogOptions): Promise<EntryLog> {
    const { directory, now, shapes, seen, damaged } = options;
    const followers = await FollowerPositions.open(directory, now, seen?.followFrom);
    const decoder = new EntryDecoder(shapes);
    const journal = await Journal.open({
      ...options,
      visitFrom: options.replayFrom,
      visit: (entries) => options.replay(entries.map(decoder.logged)),
      acknowledgedTo: durableTo(followers, seen),
      damaged: (path, damage) => damaged({ kind: 'journal', path, reason: unreadableText(damage) }),
    });
    for (const place of logDamage(journal.damage, followers, directory, seen)) damaged(place);
    return new EntryLog(journal, followers, decoder, options);
  }

  /** The position behind the newest durable entry, which is what the next one gets. */
  get position(): number {
    return this.#journal.position();
  }

  /** The position that the next append gets; everything appended before has a smaller one. */
  get nextPosition(): number {
    return this.#journal.nextPosition();
  }

  /** The oldest position that is kept. */
  get firstPosition(): number {
    return this.#journal.firstPosition();
  }

  /** Bytes that opening cut off the end: the normal trace of a crash, never acknowledged. */
  get tornBytes(): number {
    const torn = this.#journal.damage.filter(({ kind }) => kind === 'tornTail');
    return torn.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The position of the first entry that is kept and was stored at the time or later. */
  async positionAt(storedAt: EpochMs): Promise<number> {
    return (await this.#journal.positionAt(storedAt)).position;
  }

  /** The present time. No entry that is appended later is stored at an earlier one. */
  reachTime(): EpochMs {
    return this.#journal.reachTime();
  }

  /**
   * Many calls in flight share one fsync. Throws, or `durable` rejects, with `storageFull`,
   * `storageStopped` or `stopping`.
   */
  append(entry: EntryToEncode): Appended {
    const appended = this.#journal.append(this.#encoder.encode(entry));
    const { deviceId, replaces } = entry.entry;
    if (replaces !== undefined) {
      const { position } = appended;
      this.#noteReplacement({ ...replaces, deviceId, position }, appended.durable);
    }
    return appended;
  }

  /** As `append`, for rows in columns. */
  appendColumns(entry: ColumnsToEncode): Appended {
    return this.#journal.append(this.#encoder.encodeColumns(entry));
  }

  /**
   * Durable entries from a position on, in batches, up to the newest one. Damage is stepped over.
   */
  async *entriesFrom(position: number): AsyncGenerator<readonly DurableEntry[]> {
    for await (const entries of this.#journal.read(position)) {
      // A batch of entries is as long as the window they are read through, some thousand samples,
      // unless one entry is larger.
      yield entries.map(this.#decoder.durable);
    }
  }

  /** The keys of durable entries from a position on, in batches; rows are not read. */
  async *duplicateKeysFrom(position: number): AsyncGenerator<readonly EntryKey[]> {
    for await (const entries of this.#journal.read(position))
      yield entries.map(this.#decoder.duplicateKey).filter((key) => key !== undefined);
  }

  /**
   * Whether some of the entries from one position on and before another are known to be lost, so
   * that followers never get them.
   */
  isLost(from: number, to: number): boolean {
    return this.#journal.damage.some(
      ({ firstPosition, entries }) => firstPosition < to && firstPosition + entries > from,
    );
  }

  /**
   * The position itself, or behind it the first one that is not known to be lost: opening reported
   * what is.
   */
  behindLost(position: number): number {
    const hole = this.#journal.damage.find(
      ({ firstPosition, nextPosition }) => firstPosition <= position && position < nextPosition,
    );
    return hole?.nextPosition ?? position;
  }

  /**
   * Samples of the devices for the store that were stored after the cursor (exclusive) or since a
   * time of storing, without those that later entries removed, in order of storing, batch by batch up to the newest durable one. Throws Problem `cursorTooOld`
   * with the oldest cursor still kept, `invalidRequest` for a text that is not a cursor.
   */
  async *replay(
    since: ReplayStart,
    deviceIds: ReadonlySet<string>,
  ): AsyncGenerator<readonly StoredSample[]> {
    const start = await this.#startOf(since);
    const removed = removalsOf(await this.#replacements(), deviceIds);
    let batch: StoredSample[] = [];
    for await (const entries of this.entriesFrom(start.position)) {
      for (const entry of entries) {
        // The samples of an entry in columns are of one device, and are not read for another.
        if (entry.summary !== undefined && !deviceIds.has(entry.deviceId)) continue;
        for (const sample of entry.samples)
          if (
            sample.stored &&
            sample.cursor > start.after &&
            deviceIds.has(sample.deviceId) &&
            !isRemoved(sample, entry.position, removed)
          )
            batch.push(sample);
      }
      if (batch.length < batchMax) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** What kept entries remove: those that the journal had at the first replay, and those since. */
  async #replacements(): Promise<readonly DeviceReplacement[]> {
    this.#reading ??= this.#readReplacements();
    const first = this.firstPosition;
    const isKept = ({ position }: DeviceReplacement) => position >= first;
    this.#noted = this.#noted.filter(isKept);
    return [...(await this.#reading).filter(isKept), ...this.#noted];
  }

  async #readReplacements(): Promise<readonly DeviceReplacement[]> {
    const found: DeviceReplacement[] = [];
    for await (const entries of this.#journal.read(this.firstPosition))
      found.push(...entries.flatMap((kept) => this.#decoder.replacement(kept) ?? []));
    return found;
  }

  #noteReplacement(replacement: DeviceReplacement, durable: Promise<void>): void {
    // One that the disk refuses removes nothing; its caller is told.
    durable.then(
      () => {
        if (this.#reading !== undefined) this.#noted.push(replacement);
      },
      () => undefined,
    );
  }

  async #startOf(since: ReplayStart): Promise<{ position: number; after: string }> {
    const oldest = this.firstPosition;
    if ('cursor' in since) {
      const place = readCursor(since.cursor);
      // One beyond the end is of another data folder; following it would be silence until the journal
      // grows that far.
      if (place === undefined || place.position > this.nextPosition) {
        throw problem('invalidRequest', { reason: `${since.cursor} is not a valid cursor` });
      }
      if (place.position < oldest) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
      return { position: place.position, after: since.cursor };
    }
    const { position, complete } = await this.#journal.positionAt(since.storedSince);
    if (!complete) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
    return { position, after: '' };
  }

  /**
   * The position that the follower set last, also before a restart; undefined when it never did.
   * After a crash it may be some entries old.
   */
  followerPosition(follower: string): number | undefined {
    return this.#followers.get(follower);
  }

  /** Keeps what the follower has not seen: entries from the position on. Saved within a second. */
  setFollowerPosition(follower: string, position: number): void {
    this.#followers.set(follower, position);
    // Now and then; what a crash loses is given again to followers, which must bear repetition.
    void this.#followers.save().catch(this.#failed);
    void this.release(this.#releasedTo);
  }

  /**
   * Resolves when all positions are on the disk. Await it before anything is acknowledged: a
   * follower whose first position a crash takes away would start at the end, behind what it has not
   * seen.
   */
  saveFollowerPositions(): Promise<void> {
    return this.#followers.save(true);
  }

  /** The position that the slowest follower comes to next; infinite without followers. */
  slowestFollower(): number {
    return this.#followers.slowest();
  }

  /** Ends the follower's hold on the log. */
  removeFollower(follower: string): void {
    this.#followers.remove(follower);
  }

  /**
   * Entries before the position are no longer needed by the store. Drops what no follower needs
   * either and resuming does not keep, one call after the other.
   */
  async release(before: number): Promise<void> {
    this.#releasedTo = before;
    this.#dropping = this.#dropping
      .then(() => this.#journal.dropBefore(Math.min(this.#releasedTo, this.#followers.slowest())))
      .catch(this.#failed);
    await this.#dropping;
  }

  /** What the journal takes on the disk, and when its oldest entry was stored. */
  journalled(): { readonly bytes: number; readonly oldestStoredAt: EpochMs | undefined } {
    return { bytes: this.#journal.bytes(), oldestStoredAt: this.#journal.oldestStoredAt() };
  }

  /** Makes durable what was appended, saves positions and closes. */
  async close(): Promise<void> {
    await this.#journal.close();
    // Older positions repeat entries to followers, which bear it.
    await this.#followers.save(true).catch(this.#failed);
  }
}
