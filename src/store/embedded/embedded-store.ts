// The embedded sample store: one process, one folder, journal first, columns in memory and on disk.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openFollowerPositions } from '../../journal/follower-positions.ts';
import { type Journal, openJournal } from '../../journal/journal.ts';
import type { EpochMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { Sample } from '../../model/sample.ts';
import type { SampleRange, SampleStore } from '../sample-store.ts';
import { appending } from './appending.ts';
import { queryBuckets, type Slices } from './bucket-query.ts';
import { catalogue as newCatalogue } from './catalogue.ts';
import { decodedChunks } from './decoded-chunks.ts';
import { mergeSome } from './compaction.ts';
import { measuredKeys, usage } from './measured.ts';
import { dropDevice, dropExpired, type RetentionParts } from './retention.ts';
import { type StoreLimits, storeLimits } from './limits.ts';
import { internersOf, journalDamage, openSegments, replayFrame, type StoreDamage } from './opening.ts';
import { readers } from './readers.ts';
import { readEntries, replaySamples } from './replay.ts';
import { matchingSeries, type RowReader, walkSamples } from './row-scan.ts';
import { sealing } from './sealing.ts';
import { segmentSet } from './segment-set.ts';
import { type Device, groupsBetween } from './series.ts';

/** Samples in one batch of an export. */
const exportBatchMax = 1_000;

export interface EmbeddedStoreOptions {
  /** The store's own folder; made when it does not exist. One process at a time, which the caller sees to. */
  readonly directory: string;
  readonly now: () => EpochMs;
  /** See `journalLimits`. */
  readonly resumeBytesMax?: number;
  readonly resumeAgeMsMax?: number;
  readonly limits?: Partial<StoreLimits>;
}

export interface EmbeddedStore extends SampleStore {
  /** What opening and reading found damaged so far. */
  readonly damage: readonly StoreDamage[];
  /** Bytes that opening cut off the end of the journal: the normal trace of a crash, never acknowledged. */
  readonly tornBytes: number;
  /** Seals and commits all rows, as closing does. */
  readonly sealAll: () => Promise<void>;
  /** Resolves when the background work under way has ended. */
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
  for (const folder of [journalDirectory, segmentDirectory]) await mkdir(folder, { recursive: true });
  const limits = { ...storeLimits, ...options.limits };
  const catalogue = newCatalogue(limits);
  const interners = internersOf(catalogue);
  const opened = await openSegments(segmentDirectory, catalogue, interners, true);
  const damage: StoreDamage[] = [...opened.damage];
  const followers = await openFollowerPositions(journalDirectory, now);
  const reads = readers();
  const decoded = decodedChunks((chunk, reason) => damage.push({ kind: 'chunk', path: chunk.file.name, reason }));
  const segments = segmentSet({ directory: segmentDirectory, ...opened, whenUnread: reads.whenUnread });
  let journal: Journal | undefined;
  let closed = false;
  function noteFailure(error: unknown): void {
    damage.push({ kind: 'segment', path: segmentDirectory, reason: `Not written: ${error}` });
  }
  const background = sealing({
    catalogue,
    schemas: interners.schemas,
    segments,
    slices,
    limits,
    durablePosition: () => journal!.position(),
    committed: async (replayFrom) => {
      await journal!.dropBefore(Math.min(replayFrom, followers.slowest()));
    },
    failed: noteFailure,
    merge: async () => {
      while (!closed && (await segments.exclusive(() => mergeSome(changing))));
    },
  });
  const changing: RetentionParts = {
    segments,
    catalogue,
    decoded,
    slices,
    limits,
    schemas: interners.schemas,
    sealing: background,
    replayFrom: background.replayFrom,
  };
  const intake = appending({
    journal: () => journal!,
    shapes: interners.shapes,
    catalogue,
    decoded,
    afterEntry: background.wake,
  });
  journal = await openJournal({
    directory: journalDirectory,
    now,
    visitFrom: opened.manifest.replayFrom,
    visit: (frame) => replayFrame(frame, opened.manifest, catalogue, interners.shapes),
    onLost: intake.forgetPending,
    ...(options.resumeBytesMax === undefined ? {} : { resumeBytesMax: options.resumeBytesMax }),
    ...(options.resumeAgeMsMax === undefined ? {} : { resumeAgeMsMax: options.resumeAgeMsMax }),
  });
  const openedJournal = journal;
  damage.push(...journalDamage(journal, followers, journalDirectory));
  background.wake();

  const reader: RowReader = {
    groupsBetween: (series, from, to) => groupsBetween(series, from, to, decoded),
    guarded: ({ chunk }, read) => (chunk === undefined ? read() : decoded.guarded(chunk, read)),
  };

  function deviceOf(id: string): Device | undefined {
    if (closed) throw problem('stopping');
    return catalogue.devices.get(id);
  }

  return {
    damage,
    tornBytes: journal.damage.reduce((sum, { kind, bytes }) => sum + (kind === 'tornTail' ? bytes : 0), 0),
    sealAll: background.sealAll,
    idle: background.idle,
    append: async (entry) => {
      if (closed) throw problem('stopping');
      return intake.append(entry);
    },
    samples: async (scan) => {
      const device = deviceOf(scan.deviceId);
      if (device === undefined) return [];
      const walk = walkSamples(device, scan, 'newest', reader);
      walk.skip(scan.skip);
      return takeSamples(walk.next, scan.limit);
    },
    exportSamples: async function* (range: SampleRange) {
      const device = deviceOf(range.deviceId);
      if (device === undefined) return;
      const end = reads.begin();
      try {
        const walk = walkSamples(device, range, 'oldest', reader);
        for (;;) {
          const batch = takeSamples(walk.next, exportBatchMax);
          if (batch.length === 0) return;
          yield batch;
          await slices.pause();
        }
      } finally {
        end();
      }
    },
    latestSample: async (deviceId, topic) => {
      const device = deviceOf(deviceId);
      if (device === undefined) return undefined;
      const newest = Math.max(...matchingSeries(device, topic).map(({ series }) => series.newest));
      const range = { deviceId, from: newest, ...(topic === undefined ? {} : { topic }) };
      return walkSamples(device, range, 'newest', reader).next();
    },
    topics: async (deviceId) => {
      const all = matchingSeries(deviceOf(deviceId) ?? noDevice, undefined);
      const found = all.map(({ topic, series }) => ({ topic, newest: series.newest }));
      return found.filter(({ newest }) => Number.isFinite(newest)).sort((a, b) => b.newest - a.newest);
    },
    buckets: async (request) => {
      const end = reads.begin();
      try {
        return await queryBuckets(request, deviceOf, decoded, slices);
      } finally {
        end();
      }
    },
    replay: (since, wanted) => replaySamples(openedJournal, interners.shapes, since, wanted),
    entriesFrom: (position) => readEntries(openedJournal, interners.shapes, position),
    setFollowerPosition: followers.set,
    followerPosition: followers.get,
    removeFollower: followers.remove,
    get position() {
      return openedJournal.position();
    },
    measuredKeys: async (deviceId) => {
      const device = deviceOf(deviceId);
      return device === undefined ? [] : measuredKeys(device);
    },
    usage: async () => usage(catalogue),
    dropExpired: (keepFrom) => dropExpired(changing, keepFrom),
    dropDevice: (deviceId) => dropDevice(changing, deviceId, openedJournal.nextPosition()),
    close: async () => {
      if (closed) return;
      closed = true;
      await openedJournal.close();
      await followers.save(true);
      // What cannot be sealed now stays in the journal and is replayed by the next start.
      await background.sealAll().catch(noteFailure);
      segments.close();
    },
  };
}

const noDevice: Device = { id: '', topics: new Map(), nextOrder: 0, dropped: false };

function takeSamples(next: () => Sample | undefined, limit: number): Sample[] {
  const samples: Sample[] = [];
  while (samples.length < limit) {
    const sample = next();
    if (sample === undefined) break;
    samples.push(sample);
  }
  return samples;
}
