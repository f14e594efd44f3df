// The embedded sample store: one process, one folder, journal first, columns in memory and on disk.
import { join } from 'node:path';
import { isDiskFull } from '../../log/disk.ts';
import { openFollowerPositions } from '../../log/follower-positions.ts';
import { makeFolder } from '../../log/durable-file.ts';
import { type JournalOptions, openJournal } from '../../log/journal.ts';
import { journalStart } from '../../log/segment-list.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { SampleStore } from '../sample-store.ts';
import { appending } from './entry-appender.ts';
import type { Slices } from './queries/bucket-query.ts';
import { catalogue as newCatalogue } from './rows/series-registry.ts';
import { decodedChunks } from './chunks/decoded-chunks.ts';
import { mergeSome } from './retention/compaction.ts';
import { usage } from './rows/key-statistics.ts';
import { dropDevice, dropExpired } from './retention/retention.ts';
import { type StoreLimits, storeLimits } from './store-limits.ts';
import { lostSegments } from './segments/lost-segments.ts';
import {
  durableTo,
  internersOf,
  type JournalEndSeen,
  journalDamage,
  openSegments,
  replayFrame,
  unreadableText,
} from './store-loader.ts';
import { readers } from './queries/active-reads.ts';
import { reading } from './store-reads.ts';
import { readEntries, replaySamples } from './queries/replay.ts';
import { sealing } from './chunk-sealer.ts';
import type { StoreDamage } from './segments/segment-files.ts';
import { segmentSet } from './segments/segment-set.ts';
import type { Device } from './rows/series.ts';

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
  /** Called for every damaged place, also those that are met later; once each. */
  readonly damaged?: ((damage: StoreDamage) => void) | undefined;
  /** Called when sealed samples, segments or the positions of followers cannot be written; the journal has what they hold. */
  readonly failed?: ((error: unknown) => void) | undefined;
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
  /** What the journal takes on the disk, and when its oldest entry was stored. */
  readonly journalled: () => {
    readonly bytes: number;
    readonly oldestStoredAt: EpochMs | undefined;
  };
  /** Seals and commits all rows, as closing does. */
  readonly sealAll: () => Promise<void>;
  /** Resolves when the background work under way has ended and the positions of followers are saved. */
  readonly idle: () => Promise<void>;
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
  for (const folder of [directory, journalDirectory, segmentDirectory]) await makeFolder(folder);
  const limits = { ...storeLimits, ...options.limits };
  const catalogue = newCatalogue(limits);
  const interners = internersOf(catalogue);
  const opened = await openSegments(
    segmentDirectory,
    catalogue,
    interners,
    await journalStart(journalDirectory),
    true,
  );
  const { damage, note } = damageList(options.damaged);
  note(...opened.damage);
  const followers = await openFollowerPositions(journalDirectory, now, options.seen?.followFrom);
  const reads = readers();
  const decoded = decodedChunks((chunk, reason) => {
    note({ kind: 'chunk', path: join(segmentDirectory, chunk.file.name), reason });
  });
  const segments = segmentSet({
    directory: segmentDirectory,
    ...opened,
    whenUnread: reads.whenUnread,
  });
  const journal = await openJournal({
    ...journalOptions(options, journalDirectory, note),
    visitFrom: opened.manifest.replayFrom,
    acknowledgedTo: durableTo(followers, options.seen),
    visit: (frame) => replayFrame(frame, opened.manifest, catalogue, interners.shapes),
    onLost: () => intake.forgetPending(),
    segmentBytes: limits.journalSegmentBytes,
  });
  note(...journalDamage(journal.damage, followers, journalDirectory, options.seen));
  let closed = false;
  let dropping: Promise<unknown> = Promise.resolve();
  const noteFailure = toldOnce(options.failed);
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
  const changing = {
    segments,
    catalogue,
    decoded,
    slices,
    limits,
    schemas,
    sealing: background,
    replayFrom,
  };
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
    tornBytes: journal.damage.reduce(
      (sum, { kind, bytes }) => sum + (kind === 'tornTail' ? bytes : 0),
      0,
    ),
    journalled: () => ({ bytes: journal.bytes(), oldestStoredAt: journal.oldestStoredAt() }),
    sealAll: background.sealAll,
    idle: async () => {
      await background.idle();
      await followers.save(true);
    },
    append: async (entry) => {
      if (closed) throw problem('stopping');
      if (options.hasRoom?.() === false) throw problem('storageFull');
      for (let room = background.roomForRows(); room !== undefined; room = background.roomForRows())
        await room;
      if (closed) throw problem('stopping');
      return intake.append(entry);
    },
    ...reading({ deviceOf, decoded, lost: lostSegments(opened.manifest), readers: reads, slices }),
    replay: (since, wanted) => replaySamples(journal, interners.shapes, since, wanted),
    entriesFrom: (position) => readEntries(journal, interners.shapes, position),
    isLost: (from, to) =>
      journal.damage.some(
        ({ firstPosition, entries }) => firstPosition < to && firstPosition + entries > from,
      ),
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
      await sealedAtEnd(background.sealAll, noteFailure).finally(() =>
        reads.whenUnread(segments.close),
      );
    },
  };
}

/** What cannot be sealed stays in the journal and is replayed by the next start; rejects unless the disk is merely full. */
async function sealedAtEnd(
  sealAll: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<void> {
  try {
    await sealAll();
  } catch (error) {
    failed(error);
    if (!isDiskFull(error)) throw error;
  }
}

/** A failure that repeats is told once. */
function toldOnce(failed: EmbeddedStoreOptions['failed']): (error: unknown) => void {
  let last: string | undefined;
  return (error) => {
    if (String(error) !== last) failed?.(error);
    last = String(error);
  };
}

/** What was found damaged, each place once. */
function damageList(damaged: EmbeddedStoreOptions['damaged']): {
  readonly damage: readonly StoreDamage[];
  readonly note: (...places: readonly StoreDamage[]) => void;
} {
  const damage: StoreDamage[] = [];
  const known = new Set<string>();
  return {
    damage,
    note: (...places) => {
      for (const place of places) {
        const key = JSON.stringify(place);
        if (known.has(key)) continue;
        known.add(key);
        damage.push(place);
        damaged?.(place);
      }
    },
  };
}

/** What the journal takes over from the store's own options. */
function journalOptions(
  { now, onWriting, resumeBytesMax, resumeAgeMsMax }: EmbeddedStoreOptions,
  directory: string,
  note: (place: StoreDamage) => void,
): Pick<
  JournalOptions,
  'directory' | 'now' | 'onWriting' | 'damaged' | 'resumeBytesMax' | 'resumeAgeMsMax'
> {
  return {
    directory,
    now,
    onWriting,
    damaged: (path, { offset, bytes }) =>
      note({ kind: 'journal', path, reason: unreadableText(bytes, offset) }),
    ...(resumeBytesMax === undefined ? {} : { resumeBytesMax }),
    ...(resumeAgeMsMax === undefined ? {} : { resumeAgeMsMax }),
  };
}
