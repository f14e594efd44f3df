// Samples to the data folder: all rows of ClickHouse become segments, written next to those in use.
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DataFolderError } from '../storage/data-folder/data-folder.ts';
import { createShapeInterner } from '../storage/log/data-shape.ts';
import { makeFolder, syncDirectory } from '../storage/log/durable-file.ts';
import { missing } from '../structures/missing.ts';
import { countUplinks, movedUplinks } from '../storage/raw-uplinks/clickhouse/moved-uplinks.ts';
import { EmbeddedUplinks } from '../storage/raw-uplinks/embedded/embedded-uplinks.ts';
import { storedUplinks } from '../storage/raw-uplinks/embedded/stored-folder.ts';
import { createUplinkSum } from '../storage/raw-uplinks/raw-uplink-line.ts';
import { openClickHouseStore } from '../storage/samples/clickhouse/clickhouse-store.ts';
import {
  countStored,
  keptCondition,
  movedSamples,
  storedSums,
} from '../storage/samples/clickhouse/moved-rows.ts';
import {
  readState,
  shippingFile,
  type ShippingState,
} from '../storage/samples/clickhouse/shipping-state.ts';
import {
  type EmbeddedStore,
  openEmbeddedStore,
} from '../storage/samples/embedded/embedded-store.ts';
import {
  emptyManifest,
  readManifest,
  writeManifest,
} from '../storage/samples/embedded/segments/manifest.ts';
import {
  createMovedEntries,
  createSums,
  differingParts,
  type PartSums,
} from '../storage/samples/moved-samples.ts';
import { openSamples } from '../storage/samples/samples.ts';
import {
  endMove,
  type MovedCounts,
  type MovedParts,
  type MoveFile,
  moveFolder,
  openMove,
  readMove,
  setAside,
} from '../app/samples-move.ts';

/**
 * Entries of the move have positions below those of the journal, so that a start of the platform
 * takes none of the journal for one of them.
 */
const firstPosition = -(2 ** 50);
/** Noted ahead of what is written, so that after a kill it is known what may be there. */
const notedEntries = 2_000;

/** As `moveToClickHouse`, in the other direction. */
export async function moveToFolder(parts: MovedParts): Promise<MovedCounts> {
  const samples = join(parts.dataDirectory, 'samples');
  const begun = await readMove(samples);
  if (begun !== undefined && begun.to !== 'embedded')
    throw new DataFolderError(
      'A migration to ClickHouse is incomplete. Finish it first with --to clickhouse.',
    );
  if (begun?.isCompared === true) {
    await useFolder(parts, await openMove(samples, begun));
    return { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  }
  const state = await shipAll(parts, samples);
  const { shipped: position, journal } = state;
  const startedAt = begun?.startedAt ?? parts.now();
  const file = await openMove(samples, {
    to: 'embedded',
    startedAt,
    position,
    journal,
    isCompared: false,
    writtenTo: begun?.writtenTo ?? firstPosition,
  });
  const kept = keptCondition(state);
  const count = await writeSegments(parts, file, kept);
  const uplinks = await writeUplinks(parts, file);
  const parted = differingParts(
    await segmentSums(file, samples),
    await storedSums(parts.clickHouse, kept),
  );
  const differing = parted.map((part) => `devices of partition ${part}`);
  if (!uplinks.areSame) differing.push('raw uplinks');
  if (differing.length === 0) {
    await file.update({ isCompared: true });
    await useFolder(parts, file);
  }
  const { others } = await countUplinks(parts.clickHouse, journal);
  const unreadable =
    others === 0 ? [] : [`${others} raw uplinks of other data folders, which stay in ClickHouse`];
  return { samples: count, uplinks: uplinks.count, differing, unreadable };
}

/** Afterwards the journal has nothing that ClickHouse has not. */
async function shipAll({ clickHouse, now }: MovedParts, samples: string): Promise<ShippingState> {
  const before = await readState(join(samples, shippingFile));
  if (before === undefined || existsSync(join(samples, 'segments')))
    throw new DataFolderError(
      `The samples of ${samples} are not in ClickHouse; there is nothing to move`,
    );
  const opened = await openSamples({
    directory: samples,
    now,
    openStore: (surroundings) =>
      openClickHouseStore({ directory: samples, clickhouse: clickHouse, now, ...surroundings }),
  });
  try {
    await opened.store.flush();
  } finally {
    await opened.close();
  }
  const state = await readState(join(samples, shippingFile));
  return state === undefined || state === 'damaged' ? missing('shipping state') : state;
}

interface OpenedSegments {
  readonly store: EmbeddedStore;
  /** Throws what background work has failed with. */
  readonly check: () => void;
}

async function openSegments(samples: string): Promise<OpenedSegments> {
  const directory = join(samples, moveFolder, 'segments');
  await makeFolder(directory);
  if ((await readManifest(directory)) === 'missing')
    await writeManifest(directory, { ...emptyManifest, replayFrom: firstPosition });
  let failure: Error | undefined;
  const failed = (error: unknown): void => {
    failure = error instanceof Error ? error : new Error(String(error));
  };
  const store = await openEmbeddedStore({
    directory,
    shapes: createShapeInterner(),
    logStart: undefined,
    failed,
    damaged: ({ path, reason }) => failed(new DataFolderError(`${path} is corrupted: ${reason}`)),
    committed: async () => undefined,
  });
  return {
    store,
    check() {
      if (failure !== undefined) throw failure;
    },
  };
}

/** Returns how many samples the tables have. Entries that an interrupted move wrote are skipped. */
async function writeSegments(
  { dataDirectory, clickHouse, progress }: MovedParts,
  file: MoveFile,
  kept: string,
): Promise<number> {
  const { store, check } = await openSegments(join(dataDirectory, 'samples'));
  try {
    const from = await store.replayFrom();
    const { writtenTo: doubtfulTo, startedAt: storedAt } = file.move;
    const shapes = createShapeInterner();
    const entries = createMovedEntries({ shapes, position: firstPosition, storedAt });
    const total = await countStored(clickHouse, kept);
    let samples = 0;
    for await (const batch of movedSamples(clickHouse, kept)) {
      const [first = missing('sample')] = batch;
      const entry = entries.next(first.deviceId, batch);
      samples += batch.length;
      if (entry.position < from) continue;
      if (entry.position >= file.move.writtenTo)
        await file.update({ writtenTo: entry.position + notedEntries });
      await store.write([entry], entry.position < doubtfulTo ? 'replayed' : 'new');
      // Waits for room.
      await store.ends([]);
      check();
      progress({ samples, total });
    }
    await store.sealAll();
    check();
    return samples;
  } finally {
    await store.close();
  }
}

/** Reads the segments again, as they are on the disk. */
async function segmentSums(_file: MoveFile, samples: string): Promise<PartSums> {
  const { store, check } = await openSegments(samples);
  try {
    const sums = createSums();
    for (const deviceId of store.deviceIds())
      for await (const batch of store.exportMoved(deviceId)) sums.add(batch.samples);
    check();
    return sums.sums();
  } finally {
    await store.close();
  }
}

async function writeUplinks(
  { dataDirectory, clickHouse, movesUplinks, now }: MovedParts,
  { move }: MoveFile,
): Promise<{ readonly count: number; readonly areSame: boolean }> {
  const directory = join(dataDirectory, 'samples', moveFolder, 'uplinks');
  // Begun again as a whole: there are few days of them.
  await rm(directory, { recursive: true, force: true });
  if (!movesUplinks) return { count: 0, areSame: true };
  const damaged = ({ path }: { readonly path: string }): void => {
    throw new DataFolderError(`${path} is damaged`);
  };
  const target = await EmbeddedUplinks.open({
    directory,
    damaged,
    followedFrom: undefined,
    now,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
  });
  const sent = createUplinkSum();
  try {
    for await (const uplinks of movedUplinks(clickHouse, move.journal)) {
      const before = uplinks.filter(({ position }) => position < move.position);
      await target.add(before, move.position);
      for (const uplink of before) sent.add(uplink);
    }
  } finally {
    await target.close();
  }
  const stored = createUplinkSum();
  for await (const uplinks of storedUplinks(directory, damaged))
    for (const uplink of uplinks) stored.add(uplink);
  return { count: sent.count(), areSame: sent.text() === stored.text() };
}

/** From here on the samples of the folder are in its segments, and its journal continues from there. */
async function useFolder({ dataDirectory }: MovedParts, { move }: MoveFile): Promise<void> {
  const samples = join(dataDirectory, 'samples');
  const { position, startedAt } = move;
  const written = join(samples, moveFolder, 'segments');
  if (existsSync(written)) {
    const manifest = await readManifest(written);
    if (typeof manifest === 'string')
      throw new DataFolderError(`The manifest of ${written} is ${manifest}`);
    await writeManifest(written, { ...manifest, replayFrom: position });
    await rename(written, join(samples, 'segments'));
  }
  const uplinks = join(samples, moveFolder, 'uplinks');
  if (existsSync(uplinks)) {
    await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
    await rename(uplinks, join(dataDirectory, 'uplinks'));
    await syncDirectory(dataDirectory);
  }
  await setAside(samples, shippingFile, `shipping-until-${startedAt}.json`);
  await endMove(samples);
}
