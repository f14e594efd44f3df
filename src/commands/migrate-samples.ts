// Migrate samples: the command that moves samples and raw uplinks between the data folder and ClickHouse.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openClickHouse } from '../storage/clickhouse/clickhouse.ts';
import { serverAddresses } from '../storage/clickhouse/server-addresses.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import { claimDataFolder, DataFolderError } from '../storage/data-folder/data-folder.ts';
import { createShapeInterner } from '../storage/log/data-shape.ts';
import { replaceChecked } from '../storage/log/durable-file.ts';
import type { ReadEntry } from '../storage/log/logged-entry.ts';
import { dayMs, type EpochMs } from '../model/instant.ts';
import { openClickHouseUplinks } from '../storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { countUplinks, movedUplinks } from '../storage/raw-uplinks/clickhouse/moved-uplinks.ts';
import { uplinkTable } from '../storage/raw-uplinks/clickhouse/uplink-table.ts';
import { storedUplinks } from '../storage/raw-uplinks/embedded/stored-folder.ts';
import { verifyRawUplinks } from '../storage/raw-uplinks/embedded/stored-folder.ts';
import { createUplinkSum } from '../storage/raw-uplinks/raw-uplink-line.ts';
import { openClickHouseStore } from '../storage/samples/clickhouse/clickhouse-store.ts';
import { takeJournalNumber } from '../storage/samples/clickhouse/journal-number.ts';
import {
  countStored,
  hasRows,
  keptCondition,
  partsWithoutHours,
  storedSums,
} from '../storage/samples/clickhouse/moved-rows.ts';
import { sampleTables } from '../storage/samples/clickhouse/sample-tables.ts';
import { shardOf } from '../storage/samples/clickhouse/flusher.ts';
import {
  readState,
  shippingFile,
  type ShippingState,
} from '../storage/samples/clickhouse/shipping-state.ts';
import {
  type EmbeddedStore,
  openEmbeddedStore,
} from '../storage/samples/embedded/embedded-store.ts';
import { verifyStore } from '../storage/samples/embedded/verify-chunks.ts';
import {
  createMovedEntries,
  createSums,
  differingParts,
  type PartSums,
} from '../storage/samples/moved-samples.ts';
import { type OpenSamples, openSamples } from '../storage/samples/samples.ts';
import { missing } from '../structures/missing.ts';
import {
  endMove,
  type MovedCounts,
  type MovedParts,
  moveError,
  type MoveFile,
  moveFolder,
  type MoveProgress,
  openMove,
  readMove,
  type SamplesEngineName,
  setAside,
} from '../app/samples-move.ts';
import { moveToFolder } from './samples-to-folder.ts';
import { refuseUnsupported } from '../app/supported-settings.ts';

export interface SamplesMigration {
  readonly to: SamplesEngineName;
  /** Only reads, and counts. */
  readonly isDryRun: boolean;
}

export interface MigratedSamples extends MovedCounts {
  readonly seconds: number;
  /** Whether the samples were there before the command. */
  readonly isDone: boolean;
}

/** What a test may replace. */
export interface MigrationSurroundings {
  readonly now?: () => EpochMs;
  readonly progress: (progress: MoveProgress) => void;
}

/**
 * Moves, or continues an interrupted move, and compares both sides. Throws ConfigError,
 * DataFolderError and ClickHouseStartError with what to do; the source then is as it was.
 */
export async function migrateSamples(
  config: Config,
  { to, isDryRun }: SamplesMigration,
  { now = Date.now, progress }: MigrationSurroundings,
): Promise<MigratedSamples> {
  const { dataDirectory, samplesUrl, rawUplinkRetentionMs } = config;
  refuseUnsupported(config);
  if (samplesUrl === undefined)
    throw new ConfigError(
      'SAMPLES_URL is not set. Set it to a ClickHouse URL such as http://user:password@host:8123/heliograph.',
    );
  if (!existsSync(dataDirectory))
    throw new DataFolderError(`The data folder ${dataDirectory} does not exist`);
  const startedAt = performance.now();
  const folder = claimDataFolder(dataDirectory);
  try {
    const shards = serverAddresses(samplesUrl) ?? missing('addresses of samples');
    const clickHouse = await openClickHouse({ shards });
    const movesUplinks = rawUplinkRetentionMs > 0;
    const parts = { dataDirectory, clickHouse, movesUplinks, now, progress };
    try {
      const moved = await migrateOpened(parts, to, isDryRun);
      return { ...moved, seconds: (performance.now() - startedAt) / 1_000 };
    } finally {
      await clickHouse.close();
    }
  } catch (error) {
    throw moveError(error);
  } finally {
    folder.release();
  }
}

async function migrateOpened(
  parts: MovedParts,
  to: SamplesEngineName,
  isDryRun: boolean,
): Promise<Omit<MigratedSamples, 'seconds'>> {
  const samples = join(parts.dataDirectory, 'samples');
  const nothing = { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  if (isAt(samples, to) && (await readMove(samples)) === undefined)
    return { ...nothing, isDone: true };
  if (isDryRun) return { ...nothing, ...(await countsOf(parts, to)), isDone: false };
  await parts.clickHouse.prepareTables([...sampleTables, uplinkTable]);
  const moved = await (to === 'clickhouse' ? moveToClickHouse(parts) : moveToFolder(parts));
  return { ...moved, isDone: false };
}

/** Whether a platform that has run on the folder kept the samples there. */
function isAt(samples: string, engine: SamplesEngineName): boolean {
  const [isShipped, isSealed] = [shippingFile, 'segments'].map((name) =>
    existsSync(join(samples, name)),
  );
  return engine === 'clickhouse'
    ? isShipped === true && !isSealed
    : isSealed === true && !isShipped;
}

async function countsOf(
  { dataDirectory, clickHouse }: MovedParts,
  to: SamplesEngineName,
): Promise<Pick<MovedCounts, 'samples' | 'uplinks'>> {
  const samples = join(dataDirectory, 'samples');
  if (to === 'clickhouse') {
    const { sealedSamples } = await verifyStore(samples);
    const { uplinks } = await verifyRawUplinks(join(dataDirectory, 'uplinks'));
    return { samples: sealedSamples, uplinks };
  }
  const state = await readState(join(samples, shippingFile));
  if (state === undefined || state === 'damaged')
    throw new DataFolderError(`The samples of ${samples} are not in ClickHouse`);
  await clickHouse.prepareTables([...sampleTables, uplinkTable]);
  const { own } = await countUplinks(clickHouse, state.journal);
  return { samples: await countStored(clickHouse, keptCondition(state)), uplinks: own };
}

// Samples to ClickHouse: all rows of the data folder become rows of a journal with a number for itself.

/** Rows that wait for ClickHouse. */
const openRowsMax = 60_000;
const openBytesMax = 32 * 1024 * 1024;

/**
 * Moves, compares, and lets the folder use ClickHouse. Continues an interrupted move. Throws
 * DataFolderError when the tables have other rows.
 */
async function moveToClickHouse(parts: MovedParts): Promise<MovedCounts> {
  const samples = join(parts.dataDirectory, 'samples');
  const begun = await readMove(samples);
  if (begun?.isCompared === true) {
    await useClickHouse(parts, await openMove(samples, begun));
    return { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  }
  const source = await openSamples({
    directory: samples,
    now: parts.now,
    openStore: (surroundings) =>
      openEmbeddedStore({ directory: join(samples, 'segments'), ...surroundings }),
  });
  try {
    const file = await beginMove(parts, source, samples);
    const moved = await moveRows(parts, source, file.move.startedAt);
    const uplinks = await moveUplinks(parts, file);
    const stored = await storedSums(parts.clickHouse, '');
    const withoutHours = await partsWithoutHours(parts.clickHouse);
    const parted = new Set([...differingParts(moved.sums, stored), ...withoutHours]);
    const differing = [...parted].map((part) => `devices of partition ${part}`);
    if (!uplinks.areSame) differing.push('raw uplinks');
    const counts = { samples: moved.samples, uplinks: uplinks.count, differing };
    if (differing.length === 0) {
      await file.update({ isCompared: true });
      await source.close();
      await useClickHouse(parts, file);
    }
    return { ...counts, unreadable: [...moved.unreadable, ...uplinks.unreadable] };
  } finally {
    await source.close();
  }
}

/** The state of the move that was interrupted, or of a new one. */
async function beginMove(
  { clickHouse, now }: MovedParts,
  { log }: OpenSamples<EmbeddedStore>,
  samples: string,
): Promise<MoveFile> {
  const { position } = log;
  const begun = await readMove(samples);
  if (begun !== undefined && (begun.to !== 'clickhouse' || begun.position !== position))
    throw new DataFolderError(
      `The folder has changed since the migration started. Delete ${join(samples, moveFolder)} and the ClickHouse tables, and start over.`,
    );
  if (begun !== undefined) return openMove(samples, begun);
  if (await hasRows(clickHouse))
    throw new DataFolderError(
      'The ClickHouse database already contains samples. Nothing was changed. Set SAMPLES_URL to an empty database.',
    );
  const [first = missing('shard')] = clickHouse.shards;
  const journal = await takeJournalNumber(first, now());
  const state = { position, journal, writtenTo: 0, isCompared: false };
  return openMove(samples, { to: 'clickhouse', startedAt: now(), ...state });
}

interface MovedRows {
  readonly samples: number;
  readonly sums: PartSums;
  readonly unreadable: readonly string[];
}

/** Rows are stored as of the begin of the move: after them comes what is stored later. */
async function moveRows(
  { dataDirectory, clickHouse, progress }: MovedParts,
  { store: source }: OpenSamples<EmbeddedStore>,
  storedAt: number,
): Promise<MovedRows> {
  const shapes = createShapeInterner();
  const store = await openClickHouseStore({
    directory: join(dataDirectory, 'samples', moveFolder),
    clickhouse: clickHouse,
    now: () => storedAt,
    shapes,
    logStart: undefined,
    damaged: () => undefined,
    // `flush` rejects with it.
    failed: () => undefined,
    committed: async () => undefined,
  });
  try {
    const from = await store.replayFrom();
    const entries = createMovedEntries({ shapes, position: 0, storedAt });
    const sums = createSums();
    const unreadable = new Set<string>();
    const total = [...(await source.usage()).values()].reduce(
      (sum, { samples }) => sum + samples,
      0,
    );
    let samples = 0;
    let openBytes = 0;
    const write = async (entry: ReadEntry): Promise<void> => {
      if (entry.position < from) return;
      await store.write([entry], 'new');
      openBytes += entry.bytes;
      if (store.figures().openRows < openRowsMax && openBytes < openBytesMax) return;
      await store.flush();
      openBytes = 0;
    };
    for (const deviceId of source.deviceIds())
      for await (const batch of source.exportMoved(deviceId)) {
        for (const { place } of batch.unreadable) unreadable.add(place);
        if (batch.samples.length === 0) continue;
        sums.add(batch.samples);
        samples += batch.samples.length;
        await write(entries.next(deviceId, batch.samples));
        progress({ samples, total });
      }
    await store.flushHours();
    return { samples, sums: sums.sums(), unreadable: [...unreadable] };
  } finally {
    await store.close();
  }
}

interface ComparedUplinks {
  readonly count: number;
  readonly areSame: boolean;
  readonly unreadable: readonly string[];
}

async function moveUplinks(
  { dataDirectory, clickHouse, movesUplinks }: MovedParts,
  { move }: MoveFile,
): Promise<ComparedUplinks> {
  const directory = join(dataDirectory, 'uplinks');
  const target = await openClickHouseUplinks({
    clickHouse,
    shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
    journal: move.journal,
    position: move.position,
    // No uplink of any time comes later.
    now: () => Number.POSITIVE_INFINITY,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
    failed: () => undefined,
    // Old uplinks in slots of seconds would be very many blocks.
    limits: { slotMs: dayMs },
  });
  try {
    if (!movesUplinks || !existsSync(directory)) return { count: 0, areSame: true, unreadable: [] };
    const unreadable = new Set<string>();
    const damaged = ({ path }: { readonly path: string }) => void unreadable.add(path);
    const sent = createUplinkSum();
    for await (const uplinks of storedUplinks(directory, damaged)) {
      const through = (uplinks.at(-1)?.position ?? 0) + 1;
      await target.add(uplinks, through);
      for (const uplink of uplinks) sent.add(uplink);
    }
    await target.syncWhenDue();
    const stored = createUplinkSum();
    for await (const uplinks of movedUplinks(clickHouse, move.journal))
      for (const uplink of uplinks) stored.add(uplink);
    const areSame = sent.text() === stored.text();
    return { count: sent.count(), areSame, unreadable: [...unreadable] };
  } finally {
    await target.close();
  }
}

/** From here on the folder names ClickHouse as the place of its samples. */
async function useClickHouse({ dataDirectory }: MovedParts, { move }: MoveFile): Promise<void> {
  const samples = join(dataDirectory, 'samples');
  const { position, journal, startedAt } = move;
  const state: ShippingState = {
    journal,
    shipped: position,
    nextOrder: 0,
    blockTo: null,
    dropped: [],
    hours: { to: position, storedFrom: startedAt, blockTo: null },
  };
  await replaceChecked(join(samples, shippingFile), JSON.stringify(state));
  await setAside(samples, 'segments', `segments-until-${startedAt}`);
  await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
  await endMove(samples);
}
