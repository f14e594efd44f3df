// Migrate samples: the command that moves samples and raw uplinks between the data folder and ClickHouse.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rename, rm } from 'node:fs/promises';
import { ClickHouse } from '../../storage/clickhouse/clickhouse.ts';
import { serverAddresses } from '../../storage/clickhouse/replica.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import { DataFolderError } from '../../storage/data-folder/data-folder.ts';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import {
  countUplinks,
  movedUplinks,
  ClickHouseUplinks,
  uplinkTable,
} from '../../storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import {
  storedUplinks,
  EmbeddedUplinks,
} from '../../storage/raw-uplinks/embedded/embedded-uplinks.ts';
import { verifyRawUplinks } from '../../storage/raw-uplinks/embedded/uplink-segment.ts';
import {
  countStored,
  hasRows,
  keptCondition,
  movedSamples,
  partsWithoutHours,
  storedSums,
} from '../../storage/samples/clickhouse/moved-rows.ts';
import { sampleTables } from '../../storage/samples/clickhouse/sample-tables.ts';
import {
  readState,
  shippingFile,
  type ShippingState,
  takeJournalNumber,
  shardOf,
} from '../../storage/samples/clickhouse/flusher.ts';
import { verifyStore } from '../../storage/samples/embedded/store-loader.ts';
import { missing } from '../../structures/missing.ts';
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
  type SamplesMove,
  setAside,
} from '../samples-move.ts';
import { onStoppedFolder } from './stopped-folder.ts';
import type { RawUplink } from '../../model/uplink.ts';
import { ShapeInterner } from '../../storage/log/data-shape.ts';
import type { ReadEntry } from '../../storage/log/logged-entry.ts';
import { UplinkSum, type RawUplinkStore } from '../../storage/raw-uplinks/raw-uplink-store.ts';
import {
  differingParts,
  MovedEntries,
  type MovedSample,
  type PartSums,
  SumsOfSamples,
} from '../../storage/samples/moved-samples.ts';
import { makeFolder, replaceChecked, syncDirectory } from '../../storage/log/durable-file.ts';
import { ClickHouseStore } from '../../storage/samples/clickhouse/clickhouse-store.ts';
import {
  type EmbeddedStore,
  openEmbeddedStore,
} from '../../storage/samples/embedded/embedded-store.ts';
import { openSamples, type OpenSamples } from '../../storage/samples/samples.ts';
import {
  emptyManifest,
  readManifest,
  writeManifest,
} from '../../storage/samples/embedded/segments/segment-set.ts';

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

/**
 * Moves, or continues an interrupted move, and compares both sides. Throws ConfigError,
 * DataFolderError and ClickHouseStartError with what to do; the source then is as it was.
 */
export async function migrateSamples(
  config: Config,
  { to, isDryRun }: SamplesMigration,

  /** What a test may replace. */
  {
    now = Date.now,
    progress,
  }: {
    readonly now?: () => EpochMs;
    readonly progress: (progress: MoveProgress) => void;
  },
): Promise<MigratedSamples> {
  const { dataDirectory, samplesUrl, rawUplinkRetentionMs } = config;
  if (samplesUrl === undefined)
    throw new ConfigError(
      'SAMPLES_URL is not set. Set it to a ClickHouse URL such as http://user:password@host:8123/heliograph.',
    );
  return onStoppedFolder(config, async () => {
    try {
      const shards = serverAddresses(samplesUrl) ?? missing('addresses of samples');
      const clickHouse = await ClickHouse.open(shards);
      const movesUplinks = rawUplinkRetentionMs > 0;
      const parts = { dataDirectory, clickHouse, movesUplinks, now, progress };
      try {
        return await migrateOpened(parts, to, isDryRun);
      } finally {
        await clickHouse.close();
      }
    } catch (error) {
      throw moveError(error);
    }
  });
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
  await parts.clickHouse.prepareTables([...Object.values(sampleTables), uplinkTable]);
  const direction = to === 'clickhouse' ? new ToClickHouse(parts) : new ToFolder(parts);
  const moved = await moveAll(parts, direction);
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
  await clickHouse.prepareTables([...Object.values(sampleTables), uplinkTable]);
  const { own } = await countUplinks(clickHouse, state.journal);
  return { samples: await countStored(clickHouse, keptCondition(state)), uplinks: own };
}

// Sample mover: the loop of both directions: refuse or resume, rows, raw uplinks, comparison, and the switch.

/** The store that gets the rows. */
interface RowTarget {
  /** Entries before this position were written before an interruption. */
  readonly from: number;
  /** Waits for room. */
  write(entry: ReadEntry): Promise<void>;
  /** Makes everything durable. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

interface UplinkBatch {
  readonly uplinks: readonly RawUplink[];
  /** The position behind everything that was looked at. */
  readonly through: number;
}

/** Where samples go, and where they come from. */
interface MoveDirection {
  readonly to: SamplesEngineName;
  /** Of the first entry that is written. */
  readonly firstPosition: number;
  /**
   * Opens the source. Returns the state of the move, new or resumed. Throws DataFolderError when
   * the folder or the target cannot be used.
   */
  begin(begun: SamplesMove | undefined): Promise<SamplesMove>;
  /** How many samples the source has. */
  total(): Promise<number>;
  /** Samples of one device at a time; the same batches after an interruption. */
  batches(): AsyncIterable<readonly MovedSample[]>;
  openRows(state: MoveFile, shapes: ShapeInterner): Promise<RowTarget>;
  openUplinks(move: SamplesMove): Promise<RawUplinkStore>;
  uplinks(move: SamplesMove): AsyncIterable<UplinkBatch>;
  /** Raw uplinks of the target, read again. */
  storedUplinks(move: SamplesMove): AsyncIterable<readonly RawUplink[]>;
  /** Partitions of devices that are not the same on both sides. */
  differing(): Promise<readonly number[]>;
  /** What the move leaves where it is. */
  left(move: SamplesMove): Promise<readonly string[]>;
  /** From here on, a start uses the target. An interrupted one is repeated. */
  use(move: SamplesMove): Promise<void>;
  /** Closes the source. */
  close(): Promise<void>;
}

const placeNames = { clickhouse: 'ClickHouse', embedded: 'the data folder' } as const;

/**
 * Moves, compares, and lets the folder use the target. Resumes an interrupted move. Throws
 * DataFolderError with what to do.
 */
async function moveAll(parts: MovedParts, direction: MoveDirection): Promise<MovedCounts> {
  const samples = join(parts.dataDirectory, 'samples');
  const begun = await readMove(samples);
  if (begun !== undefined && begun.to !== direction.to)
    throw new DataFolderError(
      `A migration to ${placeNames[begun.to]} is incomplete. Finish it first with --to ${begun.to}.`,
    );
  if (begun?.isCompared === true) {
    await direction.use(begun);
    return { samples: 0, uplinks: 0, differing: [], unreadable: [] };
  }
  try {
    const state = await openMove(samples, await direction.begin(begun));
    const count = await moveRows(parts, direction, state);
    const uplinks = await moveUplinks(parts, direction, state.move);
    const parted = await direction.differing();
    const differing = parted.map((part) => `devices of partition ${part}`);
    if (!uplinks.areSame) differing.push('raw uplinks');
    const unreadable = await direction.left(state.move);
    if (differing.length === 0) {
      await state.update({ isCompared: true });
      await direction.close();
      await direction.use(state.move);
    }
    return { samples: count, uplinks: uplinks.count, differing, unreadable };
  } finally {
    await direction.close();
  }
}

/** Returns how many samples the source has. Entries that an interrupted move wrote are skipped. */
async function moveRows(
  { progress }: MovedParts,
  direction: MoveDirection,
  state: MoveFile,
): Promise<number> {
  const shapes = new ShapeInterner();
  const target = await direction.openRows(state, shapes);
  try {
    const { firstPosition: position } = direction;
    const entries = new MovedEntries({ shapes, position, storedAt: state.move.startedAt });
    const total = await direction.total();
    let samples = 0;
    for await (const batch of direction.batches()) {
      const [first] = batch;
      if (first === undefined) continue;
      const entry = entries.next(first.deviceId, batch);
      samples += batch.length;
      if (entry.position >= target.from) await target.write(entry);
      progress({ samples, total });
    }
    await target.finish();
    return samples;
  } finally {
    await target.close();
  }
}

/** Raw uplinks start over after an interruption: there are few days of them. */
async function moveUplinks(
  { movesUplinks }: MovedParts,
  direction: MoveDirection,
  move: SamplesMove,
): Promise<{ readonly count: number; readonly areSame: boolean }> {
  const target = await direction.openUplinks(move);
  const sent = new UplinkSum();
  try {
    if (!movesUplinks) return { count: 0, areSame: true };
    for await (const { uplinks, through } of direction.uplinks(move)) {
      await target.add(uplinks, through);
      for (const uplink of uplinks) sent.add(uplink);
    }
    await target.syncWhenDue();
  } finally {
    await target.close();
  }
  const stored = new UplinkSum();
  for await (const uplinks of direction.storedUplinks(move))
    for (const uplink of uplinks) stored.add(uplink);
  return { count: sent.count(), areSame: sent.text() === stored.text() };
}

// Samples to ClickHouse: all rows of the data folder become rows of a journal with a number for itself.

/** Rows that wait for ClickHouse. */
const openRowsMax = 60_000;
const openBytesMax = 32 * 1024 * 1024;

class ToClickHouse implements MoveDirection {
  readonly to = 'clickhouse';
  readonly firstPosition = 0;
  readonly #parts: MovedParts;
  readonly #samples: string;
  readonly #sums = new SumsOfSamples();
  readonly #unreadable = new Set<string>();
  #source: OpenSamples<EmbeddedStore> | undefined;

  constructor(parts: MovedParts) {
    this.#parts = parts;
    this.#samples = join(parts.dataDirectory, 'samples');
  }

  async begin(begun: SamplesMove | undefined): Promise<SamplesMove> {
    const { clickHouse, now } = this.#parts;
    this.#source = await openSamples({
      directory: this.#samples,
      now,
      openStore: (surroundings) =>
        openEmbeddedStore({ directory: join(this.#samples, 'segments'), ...surroundings }),
    });
    const { position } = this.#source.log;
    if (begun !== undefined && begun.position !== position)
      throw new DataFolderError(
        `The folder has changed since the migration started. Delete ${join(this.#samples, moveFolder)} and the ClickHouse tables, and start over.`,
      );
    if (begun !== undefined) return begun;
    if (await hasRows(clickHouse))
      throw new DataFolderError(
        'The ClickHouse database already contains samples. Nothing was changed. Set SAMPLES_URL to an empty database.',
      );
    const [first = missing('shard')] = clickHouse.shards;
    const journal = await takeJournalNumber(first, now());
    const state = { position, journal, writtenTo: 0, isCompared: false };
    return { to: this.to, startedAt: now(), ...state };
  }

  get #store(): EmbeddedStore {
    return (this.#source ?? missing('opened samples')).store;
  }

  async total(): Promise<number> {
    const usage = [...(await this.#store.usage()).values()];
    return usage.reduce((sum, { samples }) => sum + samples, 0);
  }

  async *batches(): AsyncGenerator<readonly MovedSample[]> {
    for (const deviceId of this.#store.deviceIds())
      for await (const { samples, unreadable } of this.#store.exportMoved(deviceId)) {
        for (const { place } of unreadable) this.#unreadable.add(place);
        this.#sums.add(samples);
        yield samples;
      }
  }

  /** Rows are stored as of the begin of the move: after them comes what is stored later. */
  async openRows({ move }: MoveFile, shapes: ShapeInterner): Promise<RowTarget> {
    const store = await ClickHouseStore.open({
      directory: join(this.#samples, moveFolder),
      clickhouse: this.#parts.clickHouse,
      now: () => move.startedAt,
      shapes,
      logStart: undefined,
      damaged: () => undefined,
      // `flush` rejects with it.
      failed: () => undefined,
      committed: async () => undefined,
    });
    let openBytes = 0;
    return {
      from: await store.replayFrom(),
      async write(entry) {
        await store.write([entry], 'new');
        openBytes += entry.bytes;
        if (store.figures().openRows < openRowsMax && openBytes < openBytesMax) return;
        await store.flush();
        openBytes = 0;
      },
      finish: () => store.flushHours(),
      close: () => store.close(),
    };
  }

  openUplinks({ journal, position }: SamplesMove): Promise<RawUplinkStore> {
    const { clickHouse } = this.#parts;
    return ClickHouseUplinks.open({
      clickHouse,
      shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
      journal,
      position,
      // No uplink of any time comes later.
      now: () => Number.POSITIVE_INFINITY,
      retentionMs: Number.POSITIVE_INFINITY,
      bytesMax: Number.POSITIVE_INFINITY,
      failed: () => undefined,
      // Old uplinks in slots of seconds would be very many blocks.
      limits: { slotMs: dayMs },
    });
  }

  async *uplinks(): AsyncGenerator<UplinkBatch> {
    const directory = join(this.#parts.dataDirectory, 'uplinks');
    if (!existsSync(directory)) return;
    const damaged = ({ path }: { readonly path: string }) => void this.#unreadable.add(path);
    for await (const uplinks of storedUplinks(directory, damaged))
      yield { uplinks, through: (uplinks.at(-1)?.position ?? 0) + 1 };
  }

  storedUplinks({ journal }: SamplesMove) {
    return movedUplinks(this.#parts.clickHouse, journal);
  }

  async differing(): Promise<readonly number[]> {
    const { clickHouse } = this.#parts;
    const stored = await storedSums(clickHouse, '');
    const withoutHours = await partsWithoutHours(clickHouse);
    return [...new Set([...differingParts(this.#sums.sums(), stored), ...withoutHours])];
  }

  async left(): Promise<readonly string[]> {
    return [...this.#unreadable];
  }

  /** The folder then names ClickHouse as the place of its samples. */
  async use({ position, journal, startedAt }: SamplesMove): Promise<void> {
    const { dataDirectory } = this.#parts;
    const state: ShippingState = {
      journal,
      shipped: position,
      nextOrder: 0,
      blockTo: null,
      dropped: [],
      hours: { to: position, storedFrom: startedAt, blockTo: null },
    };
    await replaceChecked(join(this.#samples, shippingFile), JSON.stringify(state));
    await setAside(this.#samples, 'segments', `segments-until-${startedAt}`);
    await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
    await endMove(this.#samples);
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }
}

// Samples to the data folder: all rows of ClickHouse become segments, written next to those in use.

/** Noted ahead of what is written, so that after a kill it is known what may be there. */
const notedEntries = 2_000;

class ToFolder implements MoveDirection {
  readonly to = 'embedded';
  /**
   * Entries of the move have positions below those of the journal, so that a start of the platform
   * takes none of the journal for one of them.
   */
  readonly firstPosition = -(2 ** 50);
  readonly #parts: MovedParts;
  readonly #samples: string;
  /** Condition of the rows that are moved. */
  #kept = '';

  constructor(parts: MovedParts) {
    this.#parts = parts;
    this.#samples = join(parts.dataDirectory, 'samples');
  }

  async begin(begun: SamplesMove | undefined): Promise<SamplesMove> {
    const state = await this.#flushedState();
    this.#kept = keptCondition(state);
    return {
      to: this.to,
      startedAt: begun?.startedAt ?? this.#parts.now(),
      position: state.shipped,
      journal: state.journal,
      isCompared: false,
      writtenTo: begun?.writtenTo ?? this.firstPosition,
    };
  }

  /** Afterwards the journal has nothing that ClickHouse has not. */
  async #flushedState(): Promise<ShippingState> {
    const { clickHouse, now } = this.#parts;
    const directory = this.#samples;
    const before = await readState(join(directory, shippingFile));
    if (before === undefined || existsSync(join(directory, 'segments')))
      throw new DataFolderError(
        `The samples of ${directory} are not in ClickHouse; there is nothing to move`,
      );
    const opened = await openSamples({
      directory,
      now,
      openStore: (surroundings) =>
        ClickHouseStore.open({ directory, clickhouse: clickHouse, now, ...surroundings }),
    });
    try {
      await opened.store.flush();
    } finally {
      await opened.close();
    }
    const state = await readState(join(directory, shippingFile));
    return state === undefined || state === 'damaged' ? missing('shipping state') : state;
  }

  total(): Promise<number> {
    return countStored(this.#parts.clickHouse, this.#kept);
  }

  batches(): AsyncIterable<readonly MovedSample[]> {
    return movedSamples(this.#parts.clickHouse, this.#kept);
  }

  async openRows(file: MoveFile, shapes: ShapeInterner): Promise<RowTarget> {
    const { store, check } = await openSegments(this.#samples, this.firstPosition, shapes);
    const { writtenTo: doubtfulTo } = file.move;
    return {
      from: await store.replayFrom(),
      async write(entry) {
        if (entry.position >= file.move.writtenTo)
          await file.update({ writtenTo: entry.position + notedEntries });
        await store.write([entry], entry.position < doubtfulTo ? 'replayed' : 'new');
        await store.ends([]);
        check();
      },
      async finish() {
        await store.sealAll();
        check();
      },
      close: () => store.close(),
    };
  }

  get #uplinkFolder(): string {
    return join(this.#samples, moveFolder, 'uplinks');
  }

  async openUplinks(): Promise<RawUplinkStore> {
    const directory = this.#uplinkFolder;
    await rm(directory, { recursive: true, force: true });
    return EmbeddedUplinks.open({
      directory,
      damaged: refuseDamaged,
      followedFrom: undefined,
      now: this.#parts.now,
      retentionMs: Number.POSITIVE_INFINITY,
      bytesMax: Number.POSITIVE_INFINITY,
    });
  }

  async *uplinks({ journal, position }: SamplesMove): AsyncGenerator<UplinkBatch> {
    for await (const uplinks of movedUplinks(this.#parts.clickHouse, journal))
      yield {
        uplinks: uplinks.filter((uplink) => uplink.position < position),
        through: position,
      };
  }

  storedUplinks() {
    return storedUplinks(this.#uplinkFolder, refuseDamaged);
  }

  async differing(): Promise<readonly number[]> {
    const stored = await storedSums(this.#parts.clickHouse, this.#kept);
    return differingParts(await this.#writtenSums(), stored);
  }

  /** Reads the segments again, as they are on the disk. */
  async #writtenSums(): Promise<PartSums> {
    const shapes = new ShapeInterner();
    const { store, check } = await openSegments(this.#samples, this.firstPosition, shapes);
    try {
      const sums = new SumsOfSamples();
      for (const deviceId of store.deviceIds())
        for await (const batch of store.exportMoved(deviceId)) sums.add(batch.samples);
      check();
      return sums.sums();
    } finally {
      await store.close();
    }
  }

  async left({ journal }: SamplesMove): Promise<readonly string[]> {
    const { others } = await countUplinks(this.#parts.clickHouse, journal);
    return others === 0
      ? []
      : [`${others} raw uplinks of other data folders, which stay in ClickHouse`];
  }

  /** The journal of the folder then continues behind its segments. */
  async use({ position, startedAt }: SamplesMove): Promise<void> {
    const { dataDirectory } = this.#parts;
    const written = join(this.#samples, moveFolder, 'segments');
    if (existsSync(written)) {
      const manifest = await readManifest(written);
      if (typeof manifest === 'string')
        throw new DataFolderError(`The manifest of ${written} is ${manifest}`);
      await writeManifest(written, { ...manifest, replayFrom: position });
      await rename(written, join(this.#samples, 'segments'));
    }
    if (existsSync(this.#uplinkFolder)) {
      await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
      await rename(this.#uplinkFolder, join(dataDirectory, 'uplinks'));
      await syncDirectory(dataDirectory);
    }
    await setAside(this.#samples, shippingFile, `shipping-until-${startedAt}.json`);
    await endMove(this.#samples);
  }

  async close(): Promise<void> {
    // ClickHouse is of the command.
  }
}

async function openSegments(
  samples: string,
  firstPosition: number,
  shapes: ShapeInterner,
): Promise<{
  readonly store: EmbeddedStore;
  /** Throws what background work has failed with. */
  readonly check: () => void;
}> {
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
    shapes,
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

function refuseDamaged({ path }: { readonly path: string }): void {
  throw new DataFolderError(`${path} is damaged`);
}
