// The embedded sample store: one process, one folder, journal first, columns in memory and on disk.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openFollowerPositions } from '../../journal/follower-positions.ts';
import { type JournalOptions, openJournal } from '../../journal/journal.ts';
import { journalStart } from '../../journal/segment-list.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { SampleStore } from '../sample-store.ts';
import { appending } from './appending.ts';
import type { Slices } from './bucket-query.ts';
import { catalogue as newCatalogue } from './catalogue.ts';
import { decodedChunks } from './decoded-chunks.ts';
import { mergeSome } from './compaction.ts';
import { usage } from './measured.ts';
import { dropDevice, dropExpired } from './retention.ts';
import { type StoreLimits, storeLimits } from './limits.ts';
import { internersOf, journalDamage, openSegments, replayFrame } from './opening.ts';
import { readers } from './readers.ts';
import { reading } from './reading.ts';
import { readEntries, replaySamples } from './replay.ts';
import { sealing } from './sealing.ts';
import type { StoreDamage } from './segment-files.ts';
import { segmentSet } from './segment-set.ts';
import type { Device } from './series.ts';

export interface EmbeddedStoreOptions {
  /** The store's own folder; made when it does not exist. One process at a time, which the caller sees to. */
  readonly directory: string;
  readonly now: () => EpochMs;
  /** See `journalLimits`. */
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
  /** What others know of the journal's end. */
  readonly seen?: JournalEndSeen;
  readonly limits?: Partial<StoreLimits>;
  /** Asked before each append; a disk without room refuses it with `storageFull`. */
  readonly hasRoom?: () => boolean;
  /** Called at each change of writing, and whenever a full disk refuses. */
  readonly onWriting?: JournalOptions['onWriting'];
}

export interface EmbeddedStore extends SampleStore {
  /** What opening and reading found damaged so far. */
  readonly damage: readonly StoreDamage[];
  /** Bytes that opening cut off the end of the journal: the normal trace of a crash, never acknowledged. */
  readonly tornBytes: number;
  /** Seals and commits all rows, as closing does. */
  readonly sealAll: () => Promise<void>;
  /** Resolves when the background work under way has ended and the positions of followers are saved. */
  readonly idle: () => Promise<void>;
}

/** What is known of the journal outside its own folder. */
export interface JournalEndSeen {
  /** Every entry before this position was acknowledged. */
  readonly acknowledgedTo: number;
  /** Where followers go on whose own positions are lost. */
  readonly followFrom: number;
}

const slices: Slices = {
  clock: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Opens or creates the store of the folder: reads what is sealed, replays what is journalled. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { directory, now } = options;
  const journalDirectory = join(directory, 'journal');
  const segmentDirectory = join(directory, 'segments');
  for (const folder of [journalDirectory, segmentDirectory]) await mkdir(folder, { recursive: true });
  const limits = { ...storeLimits, ...options.limits };
  const catalogue = newCatalogue(limits);
  const interners = internersOf(catalogue);
  const opened = await openSegments(segmentDirectory, catalogue, interners, await journalStart(journalDirectory), true);
  const damage: StoreDamage[] = [...opened.damage];
  const followers = await openFollowerPositions(journalDirectory, now, options.seen?.followFrom);
  const reads = readers();
  const decoded = decodedChunks((chunk, reason) => damage.push({ kind: 'chunk', path: chunk.file.name, reason }));
  const segments = segmentSet({ directory: segmentDirectory, ...opened, whenUnread: reads.whenUnread });
  const journal = await openJournal({
    directory: journalDirectory,
    now,
    visitFrom: opened.manifest.replayFrom,
    acknowledgedTo: Math.max(followers.newest(), options.seen?.acknowledgedTo ?? 0),
    visit: (frame) => replayFrame(frame, opened.manifest, catalogue, interners.shapes),
    onLost: () => intake.forgetPending(),
    onWriting: options.onWriting,
    segmentBytes: limits.journalSegmentBytes,
    ...resumeLimits(options),
  });
  damage.push(...journalDamage(journal.damage, followers, journalDirectory));
  let closed = false;
  let dropping: Promise<unknown> = Promise.resolve();
  function noteFailure(error: unknown): void {
    const reason = `Not written: ${String(error)}`;
    // A failure that repeats is told once.
    if (damage.at(-1)?.reason !== reason) damage.push({ kind: 'segment', path: directory, reason });
  }
  const background = sealing({
    catalogue,
    schemas: interners.schemas,
    segments,
    slices,
    limits,
    visiblePosition: () => intake.visiblePosition(),
    committed: letJournalGo,
    failed: noteFailure,
    merge: async () => {
      while (!closed && (await segments.exclusive(() => mergeSome(changing))));
    },
  });
  const { schemas } = interners;
  const { replayFrom } = background;
  const changing = { segments, catalogue, decoded, slices, limits, schemas, sealing: background, replayFrom };
  const intake = appending({
    journal,
    shapes: interners.shapes,
    catalogue,
    decoded,
    afterEntry: background.wake,
  });
  background.wake();

  /** Drops of the journal what is committed, seen by every follower and not kept for resuming; one drop after the other. */
  function letJournalGo(): Promise<unknown> {
    dropping = dropping
      .then(() => journal.dropBefore(Math.min(segments.manifest().replayFrom, followers.slowest())))
      .catch(noteFailure);
    return dropping;
  }

  function deviceOf(id: string): Device | undefined {
    if (closed) throw problem('stopping');
    return catalogue.devices.get(id);
  }

  return {
    damage,
    tornBytes: journal.damage.reduce((sum, { kind, bytes }) => sum + (kind === 'tornTail' ? bytes : 0), 0),
    sealAll: background.sealAll,
    idle: async () => {
      await background.idle();
      await followers.save(true);
    },
    append: async (entry) => {
      if (closed) throw problem('stopping');
      if (options.hasRoom?.() === false) throw problem('storageFull');
      for (let room = background.roomForRows(); room !== undefined; room = background.roomForRows()) await room;
      if (closed) throw problem('stopping');
      return intake.append(entry);
    },
    ...reading({ deviceOf, decoded, readers: reads, slices }),
    replay: (since, wanted) => replaySamples(journal, interners.shapes, since, wanted),
    entriesFrom: (position) => readEntries(journal, interners.shapes, position),
    setFollowerPosition: (follower, position) => {
      followers.set(follower, position);
      // Now and then; what a crash loses is told again to followers that bear it.
      void followers.save().catch(noteFailure);
      void letJournalGo();
    },
    saveFollowerPositions: () => followers.save(true),
    followerPosition: followers.get,
    removeFollower: followers.remove,
    get position() {
      return journal.position();
    },
    usage: async () => usage(catalogue),
    dropExpired: (keepFrom) => dropExpired(changing, keepFrom),
    dropDevice: (deviceId) => dropDevice(changing, deviceId, journal.nextPosition()),
    close: async () => {
      if (closed) return;
      closed = true;
      await journal.close();
      // Older positions repeat entries to followers, which they bear.
      await followers.save(true).catch(noteFailure);
      // What cannot be sealed now stays in the journal and is replayed by the next start.
      await background.sealAll().catch(noteFailure);
      reads.whenUnread(segments.close);
    },
  };
}

function resumeLimits(options: EmbeddedStoreOptions): Pick<JournalOptions, 'resumeBytesMax' | 'resumeAgeMsMax'> {
  const { resumeBytesMax, resumeAgeMsMax } = options;
  return {
    ...(resumeBytesMax === undefined ? {} : { resumeBytesMax }),
    ...(resumeAgeMsMax === undefined ? {} : { resumeAgeMsMax }),
  };
}
