// ClickHouse store: samples in ClickHouse, and in memory what the journal has and ClickHouse not yet.
import { join } from 'node:path';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import { problem } from '../../../model/problem.ts';
import { dataBefore, type RemovedRange, type StoredEnd } from '../../../model/sample-changes.ts';
import { createBoundedMap } from '../../../structures/caches.ts';
import { missing } from '../../../structures/missing.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { JournalRelease } from '../../clickhouse/block-shipper.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { int64, listOf, quoted } from '../../clickhouse/statement-values.ts';
import type { LoggedEntry } from '../../log/logged-entry.ts';
import type {
  Elsewhere,
  OpenHere,
  OpenRange,
  OpenSample,
  UsageOfJournal,
} from '../remote-pending-samples.ts';
import { RowRange } from '../row-block.ts';
import { DataSet } from '../../log/data-shape.ts';
import type {
  BucketRequest,
  ComparedSample,
  Comparison,
  CountedTopic,
  DeviceEnds,
  DroppedSamples,
  FoundLatest,
  FoundRuns,
  FoundSamples,
  LatestRequest,
  MeasuredTopic,
  NumberedDevices,
  RetentionTimes,
  SampleRange,
  SampleScan,
  SampleStore,
  ValuesRequest,
  WorkspaceUsage,
} from '../sample-store.ts';
import type { ValueBatch } from '../../../query/summaries/ordered-values.ts';
import type { StoreSurroundings } from '../samples.ts';
import {
  NewShapes,
  removalsOf,
  shardOf,
  Shipper,
  shippingFile,
  StateFile,
  takeJournalNumber,
} from './flusher.ts';
import { orderedValues, queryBuckets } from './bucket-query.ts';
import { Deletion } from './deletion.ts';
import { Hours, OtherHoursReader } from './hours.ts';
import { loadBy } from './kept-reads.ts';
import { type KeptLimits, KeptRows } from './kept-rows.ts';
import { type Block, dataOfRow, type OpenRow, OpenRows } from './open-rows.ts';
import { createSampleReads, SampleCounts } from './sample-reads.ts';
import { sampleTables, shippedTables } from './sample-tables.ts';
import { type ReachShipped, samplesError, type ShippedTo, type StoreParts } from './store-parts.ts';
import { VisibleRows } from './visible-rows.ts';

// Newest times: when the newest row of each device was measured, so that newer samples need no look.

const devicesMax = 1_000_000;
const devicesPerQuery = 500;

/** A time may be later than the newest row that is left. */
class NewestTimes {
  readonly #shards: readonly Shard[];
  readonly #openRows: OpenRows;
  readonly #newest = createBoundedMap<string, EpochMs>(devicesMax);
  /** Newest rows that were written while their device is asked for. */
  readonly #loading = new Map<string, EpochMs>();
  #waiting: { readonly ids: Set<string>; readonly done: Promise<void> } | undefined;

  constructor(shards: readonly Shard[], openRows: OpenRows) {
    this.#shards = shards;
    this.#openRows = openRows;
  }

  /** Undefined when ClickHouse must be asked; -Infinity without rows. */
  known(deviceId: string): EpochMs | undefined {
    return this.#newest.use(deviceId);
  }

  /** Asks for those that are not known. */
  load(deviceIds: readonly string[]): Promise<void> {
    // Those of one turn share their queries.
    if (this.#waiting === undefined) {
      const ids = new Set<string>();
      const done = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        this.#waiting = undefined;
        return this.#loadAll([...ids]);
      });
      this.#waiting = { ids, done };
    }
    for (const deviceId of deviceIds)
      if (this.#newest.get(deviceId) === undefined) this.#waiting.ids.add(deviceId);
    return this.#waiting.done;
  }

  /** Asks again for these. */
  forget(isForgotten: (deviceId: string) => boolean): void {
    for (const [deviceId] of this.#newest) if (isForgotten(deviceId)) this.#newest.delete(deviceId);
  }

  /** To be called for each row. */
  note(deviceId: string, timestamp: EpochMs): void {
    const known = this.#newest.get(deviceId);
    if (known !== undefined && timestamp > known) this.#newest.set(deviceId, timestamp);
    const asked = this.#loading.get(deviceId);
    if (asked !== undefined && timestamp > asked) this.#loading.set(deviceId, timestamp);
  }

  async #loadAll(deviceIds: readonly string[]): Promise<void> {
    for (const deviceId of deviceIds)
      if (!this.#loading.has(deviceId))
        this.#loading.set(deviceId, openNewest(deviceId, this.#openRows));
    try {
      for (const shard of this.#shards) {
        const ofShard = deviceIds.filter((deviceId) => shardOf(deviceId, this.#shards) === shard);
        for (let at = 0; at < ofShard.length; at += devicesPerQuery)
          await this.#loadSome(shard, ofShard.slice(at, at + devicesPerQuery));
      }
    } finally {
      for (const deviceId of deviceIds) this.#loading.delete(deviceId);
    }
  }

  async #loadSome(shard: Shard, deviceIds: readonly string[]): Promise<void> {
    const stored = await storedNewest(shard, deviceIds);
    for (const deviceId of deviceIds) {
      const found = stored.get(deviceId) ?? Number.NEGATIVE_INFINITY;
      this.#newest.set(deviceId, Math.max(found, this.#loading.get(deviceId) ?? found));
    }
  }
}

async function storedNewest(
  shard: Shard,
  deviceIds: readonly string[],
): Promise<ReadonlyMap<string, EpochMs>> {
  const rows = await shard.select<{ device: string; newest: number }>(
    `select device, max(ts) as newest from samples where device in ${listOf(deviceIds)} group by device`,
  );
  return new Map(rows.map(({ device, newest }) => [device, newest]));
}

function openNewest(deviceId: string, openRows: OpenRows): EpochMs {
  let at = Number.NEGATIVE_INFINITY;
  for (const { timestamp } of openRows.rowsOf(deviceId)) at = Math.max(at, timestamp);
  return at;
}

// Stored samples: which samples of a device are stored already, among open rows and in ClickHouse.

/** Instants in one select. */
const instantsPerQuery = 2_000;

/**
 * Indexes of those of the samples that are stored; samples after `newest` are not looked for. Rows
 * that rules hide count, unless they were deleted.
 */
async function identicalSamples(
  deviceId: string,
  samples: readonly ComparedSample[],
  newest: EpochMs,
  { shards, openRows, visible }: StoreParts,
): Promise<ReadonlySet<number>> {
  const wanted = samples.filter(({ timestamp }) => timestamp <= newest);
  const known = new Map<string, DataSet>();
  const note = (topic: string, at: EpochMs, data: () => JsonObject, meta?: JsonObject): void => {
    const set = known.get(nameOf(topic, at));
    set?.add(data());
    for (const before of dataBefore(meta, topic, at)) set?.add(before);
  };
  for (const { topic, timestamp } of wanted) {
    const name = nameOf(topic, timestamp);
    if (!known.has(name)) known.set(name, new DataSet());
  }
  for (const row of openRows.rowsOf(deviceId))
    if (!visible.isRemoved(row)) note(row.topic, row.timestamp, () => dataOfRow(row), row.meta);
  const condition = visible.storedCondition([deviceId]);
  const topics = [...new Set(wanted.map(({ topic }) => topic))];
  const instants = [...new Set(wanted.map(({ timestamp }) => timestamp))];
  const shard = shardOf(deviceId, shards);
  for (let at = 0; at < instants.length; at += instantsPerQuery) {
    const some = instants.slice(at, at + instantsPerQuery).map(int64);
    const rows = await shard.select<{ topic: string; ts: number; data: string; meta: string }>(
      `select topic, ts, data, meta from samples where device = ${quoted(deviceId)} and topic in (${topics.map(quoted).join(',')}) and ts in (${some.join(',')})${condition}`,
    );
    for (const { topic, ts, data, meta } of rows)
      note(
        topic,
        ts,
        () => JSON.parse(data) as JsonObject,
        meta.includes('svcCorrection') ? (JSON.parse(meta) as JsonObject) : undefined,
      );
  }
  const identical = new Set<number>();
  for (const [i, { topic, timestamp, data }] of samples.entries())
    if (known.get(nameOf(topic, timestamp))?.has(data) === true) identical.add(i);
  return identical;
}

function nameOf(topic: string, at: EpochMs): string {
  return `${at} ${topic}`;
}

const storeLimits = {
  /** Open rows in memory; beyond, writers wait, and are refused while ClickHouse is away. */
  openRowsMax: 1_000_000,
  openBytesMax: 256 * 1024 * 1024,
  /** How long closing ships what is open. */
  closeMsMax: 5_000,
} as const;

export type ClickHouseStoreLimits = { readonly [K in keyof typeof storeLimits]: number };

interface ClickHouseStoreOptions extends StoreSurroundings {
  /** With several nodes on the tables: the others. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Where the shipping state is kept; exists. */
  readonly directory: string;
  readonly clickhouse: ClickHouse;
  readonly now: () => EpochMs;
  /** See `StateFile.open`. */
  readonly stateReplaced?: ((contents: string) => Promise<void>) | undefined;
  readonly limits?: Partial<ClickHouseStoreLimits>;
  readonly keptLimits?: Partial<KeptLimits> | undefined;
}

const none: ReadonlySet<number> = new Set();

/** Rows of this store have no numbers of devices, so they come as entries. */
const unnumbered: NumberedDevices = {
  numberOf: () => undefined,
  takesRows: () => false,
  idOf: () => missing('id of a device'),
  newestOf: () => Number.NEGATIVE_INFINITY,
  nextOrderOf: () => 0,
};

/** The cursor is exclusive. */
interface OpenHereRequest {
  readonly ranges: readonly OpenRange[];
  /** The place of the last sample that is known already. */
  readonly after?: { readonly position: number; readonly index: number } | undefined;
}

/** Samples in ClickHouse. */
export class ClickHouseStore implements SampleStore {
  /** The number of the folder's journal. */
  readonly journal: number;
  readonly numbered: NumberedDevices = unnumbered;
  readonly kept: KeptRows;
  readonly #limits: ClickHouseStoreLimits;
  readonly #failed: (error: unknown) => void;
  readonly #parts: StoreParts;
  readonly #counts: SampleCounts;
  readonly #newest: NewestTimes;
  readonly #release: JournalRelease;
  readonly #shipper: Shipper;
  readonly #reads: ReturnType<typeof createSampleReads>;
  readonly #deletion: Deletion;
  /** Where the journal of this run begins. */
  readonly #replayFrom: number;
  readonly #goneBefore: ReadonlyMap<string, number>;
  readonly #comparisons = new TurnsByDevice();
  #isClosed = false;
  #movedAt = Number.POSITIVE_INFINITY;

  private constructor(options: ClickHouseStoreOptions, file: StateFile) {
    const { clickhouse, failed, now, shapes, elsewhere } = options;
    const { shards, isReplicated } = clickhouse;
    const { journal, shipped, released = shipped, blockTo, nextOrder } = file.state;
    const openRows = new OpenRows(released, shipped, blockTo, nextOrder);
    const visible = new VisibleRows(file, openRows);
    const hours = new Hours(shards, file, openRows, visible, failed, now);
    const otherHours = new OtherHoursReader(shards, journal, now);
    const kept = new KeptRows(
      loadBy(shards, visible, shapes),
      journal,
      () => performance.now(),
      () => elsewhere?.changes() ?? 0,
      options.keptLimits,
    );
    const reachShipped = createReplicaReach(shards);
    const parts: StoreParts = {
      shards,
      openRows,
      visible,
      file,
      hours,
      otherHours,
      kept,
      shapes,
      elsewhere,
      reachShipped,
    };
    const counts = new SampleCounts(parts);
    const newShapes = new NewShapes();
    const release = new JournalRelease(
      clickhouse,
      shippedTables,
      released,
      async (before) => {
        if (isReplicated) {
          const gone = (file.state.gone ?? []).filter(([, position]) => position > before);
          await file.update({ released: before, gone });
        }
        await options.committed(before);
      },
      failed,
    );
    const noteShipped = (block: Block): void => {
      kept.shipped({ rows: block.rows.filter((row) => !visible.isRemoved(row)) });
      counts.shipped(block);
      hours.shipped(block);
      release.shipped(block.to);
    };
    this.#shipper = new Shipper(shards, openRows, file, newShapes, noteShipped, failed);
    this.#deletion = new Deletion(parts, this.#shipper, counts, newShapes, isReplicated);
    this.#reads = createSampleReads(parts);
    this.#newest = new NewestTimes(shards, openRows);
    this.#limits = { ...storeLimits, ...options.limits };
    this.#failed = failed;
    this.#parts = parts;
    this.#counts = counts;
    this.#release = release;
    this.#replayFrom = released;
    this.#goneBefore = new Map(file.state.gone);
    this.journal = journal;
    this.kept = kept;
  }

  /** The ClickHouse stays open when the store is closed. */
  static async open(options: ClickHouseStoreOptions): Promise<ClickHouseStore> {
    const { clickhouse, directory } = options;
    await clickhouse.prepareTables(Object.values(sampleTables));
    const file = await StateFile.open(
      join(directory, shippingFile),
      () => takeJournalNumber(clickhouse.shards[0] ?? missing('shard'), options.now()),
      options.stateReplaced,
    );
    return new ClickHouseStore(options, file);
  }

  async replayFrom(): Promise<number> {
    return this.#replayFrom;
  }

  async write(
    entries: readonly (LoggedEntry | RowRange)[],
    origin: 'new' | 'replayed',
  ): Promise<void> {
    for (const entry of entries) this.#add(entry);
    this.#shipper.wake();
    // A start ships while it reads the journal.
    if (origin === 'replayed') while (!this.#hasRoom()) await this.#shipper.attempted();
  }

  compare(deviceId: string, samples: readonly ComparedSample[]): Comparison | Promise<Comparison> {
    if (this.#isClosed) throw problem('stopping');
    const known = this.#newest.known(deviceId);
    const isNewer = known !== undefined && samples.every(({ timestamp }) => timestamp > known);
    if (isNewer && this.#hasRoom() && !this.#comparisons.isBusy(deviceId))
      return { identical: none, nextOrder: this.#parts.openRows.nextOrder() };
    return this.#comparisons.run(deviceId, () =>
      this.#answered(() => this.#look(deviceId, samples)),
    );
  }

  ends(deviceIds: readonly string[]): Promise<DeviceEnds> {
    return this.#answered(async () => {
      await this.#whenRoom();
      const newest = this.#newest;
      const unknown = deviceIds.filter((deviceId) => newest.known(deviceId) === undefined);
      if (unknown.length > 0) await newest.load(unknown);
      return {
        newest: Float64Array.from(deviceIds, (id) => newest.known(id) ?? Infinity),
        nextOrders: new Float64Array(deviceIds.length).fill(this.#parts.openRows.nextOrder()),
      };
    });
  }

  samples(scan: SampleScan): Promise<FoundSamples> {
    return this.#answered(() => this.#reads.samples(scan));
  }

  exportSamples(range: SampleRange): AsyncIterable<FoundSamples> {
    return this.#answeredBatches(this.#reads.exportSamples(range));
  }

  exportColumns(range: SampleRange): AsyncIterable<FoundRuns> {
    return this.#answeredBatches(this.#reads.exportColumns(range));
  }

  topics(deviceId: string): ReturnType<SampleStore['topics']> {
    return this.#answered(() => this.#reads.topics(deviceId));
  }

  count(deviceId: string, ranges: readonly RemovedRange[]): Promise<readonly CountedTopic[]> {
    return this.#answered(() => this.#reads.count(deviceId, ranges));
  }

  async endOf(): Promise<StoredEnd> {
    const { openRows } = this.#parts;
    return { order: openRows.nextOrder(), position: openRows.position() };
  }

  takesRanges(deviceId: string, count: number): boolean {
    return this.#deletion.takesRanges(deviceId, count);
  }

  isRemoving(deviceId: string): boolean {
    return this.#parts.visible.removed.has(deviceId);
  }

  rewritten(): Promise<void> {
    return this.#answered(() => this.#deletion.rewritten());
  }

  latest(request: LatestRequest): Promise<FoundLatest> {
    return this.#answered(() => this.#reads.latest(request));
  }

  measuredKeys(deviceId: string, topicsMax?: number): Promise<readonly MeasuredTopic[]> {
    return this.#answered(() => this.#reads.measuredKeys(deviceId, topicsMax));
  }

  buckets(request: BucketRequest): ReturnType<SampleStore['buckets']> {
    return this.#answered(() => queryBuckets(request, this.#parts));
  }

  values(request: ValuesRequest): AsyncIterable<ValueBatch> {
    return this.#answeredBatches(orderedValues(request, this.#parts));
  }

  mayHold(deviceId: string): Promise<boolean> {
    return this.#answered(async () => {
      const { openRows, visible, shards } = this.#parts;
      if (openRows.rowsOf(deviceId).length > 0) return true;
      const condition = visible.storedCondition([deviceId]);
      const rows = await shardOf(deviceId, shards).select(
        `select 1 from samples where device = ${quoted(deviceId)}${condition} limit 1`,
      );
      return rows.length > 0;
    });
  }

  usage(): ReturnType<SampleStore['usage']> {
    return this.#answered(() => this.#counts.usage());
  }

  /** Samples of this journal, for the usage that other nodes report. */
  usageHere(): Promise<UsageOfJournal> {
    return this.#answered(() => this.#counts.here());
  }

  previewExpiry(workspaceId: string, rules: RetentionTimes): Promise<WorkspaceUsage> {
    return this.#answered(() => this.#deletion.previewExpiry(workspaceId, rules));
  }

  // The rules hold before the first turn ends.
  retain(rules: RetentionTimes): Promise<DroppedSamples> {
    return this.#answered(() => this.#deletion.retain(rules));
  }

  dropDevice(deviceId: string, before: number): Promise<DroppedSamples> {
    return this.#answered(() => this.#deletion.dropDevice(deviceId, before));
  }

  /** Ships everything that was written before the call. */
  flush(): Promise<void> {
    return this.#shipper.flush();
  }

  /** The same, and inserts all hours of it. */
  async flushHours(): Promise<void> {
    await this.#shipper.flush();
    await this.#parts.hours.flush();
  }

  /**
   * Visible samples of one moment that are not shipped, in the order of the journal, for the reads
   * of other nodes. `after` is the place of the last sample that is known already.
   */
  openHere({ ranges, after }: OpenHereRequest): OpenHere {
    const { openRows, visible, file } = this.#parts;
    const rows = new Set<OpenRow>();
    for (const { deviceIds, topics, from = -Infinity, to = Infinity } of ranges)
      for (const deviceId of deviceIds)
        for (const row of openRows.rowsOf(deviceId)) {
          const { topic, timestamp } = row;
          const isWanted = topics?.includes(topic) !== false && timestamp >= from && timestamp < to;
          if (isWanted && isAfter(row, after) && visible.isVisible(row)) rows.add(row);
        }
    const sorted = [...rows].sort((a, b) => a.position - b.position || a.index - b.index);
    return {
      journal: file.state.journal,
      shipped: openRows.from(),
      isClean: openRows.from() >= this.#movedAt && visible.removed.size === 0,
      removed: [...new Set(ranges.flatMap(({ deviceIds }) => deviceIds))].flatMap((deviceId) => {
        const removals = visible.removed.get(deviceId);
        return removals === undefined ? [] : [[deviceId, removals] as const];
      }),
      samples: () => samplesOf(sorted),
    };
  }

  /**
   * To be called when devices moved. Of those that this node gained, if there are any, another one may
   * have written newer samples.
   */
  devicesMoved(isGained?: (deviceId: string) => boolean): void {
    // Passes all devices, so not without need.
    if (isGained !== undefined) this.#newest.forget(isGained);
    this.kept.clear();
    this.#movedAt = this.#parts.openRows.position();
  }

  figures() {
    const { openRows, hours } = this.#parts;
    return {
      /** Everything before this position is in ClickHouse. */
      shippedTo: openRows.from(),
      openRows: openRows.rows(),
      oldestOpenAt: openRows.oldestStoredAt(),
      /** Why nothing is shipped now. */
      failure: this.#shipper.failure(),
      /** How long the journal has kept shipped samples for replicas that may lack them. */
      waitingForReplicasMs: this.#release.waitingMs(),
      /** Since when hours lack what was stored. */
      oldestInNoHourAt: hours.storedFrom(),
    };
  }

  /** See `JournalRelease.ask`. */
  askReplicas(): Promise<void> {
    return this.#release.ask();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#release.close();
    await this.#shipper.close(this.#limits.closeMsMax);
    await this.#parts.hours.close();
    await this.kept.settled();
  }

  #hasRoom(): boolean {
    const { openRows } = this.#parts;
    return (
      openRows.rows() < this.#limits.openRowsMax && openRows.bytes() < this.#limits.openBytesMax
    );
  }

  /** Throws `samplesUnreachable` when ClickHouse does not take what is open. */
  async #whenRoom(): Promise<void> {
    while (!this.#hasRoom()) {
      this.#shipper.wake();
      await this.#shipper.attempted();
      if (this.#shipper.failure() !== undefined && !this.#hasRoom())
        throw problem('samplesUnreachable');
    }
  }

  async #answered<T>(read: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw problem('stopping');
    try {
      return await read();
    } catch (error) {
      throw samplesError(error);
    }
  }

  async *#answeredBatches<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
    if (this.#isClosed) throw problem('stopping');
    try {
      yield* batches;
    } catch (error) {
      throw samplesError(error);
    }
  }

  async #look(deviceId: string, samples: readonly ComparedSample[]): Promise<Comparison> {
    await this.#whenRoom();
    const newest = this.#newest;
    if (newest.known(deviceId) === undefined) await newest.load([deviceId]);
    const to = newest.known(deviceId) ?? Number.POSITIVE_INFINITY;
    const isAnyKnown = samples.some(({ timestamp }) => timestamp <= to);
    const identical = isAnyKnown
      ? await identicalSamples(deviceId, samples, to, this.#parts)
      : none;
    return { identical, nextOrder: this.#parts.openRows.nextOrder() };
  }

  #droppedBefore(deviceId: string): number {
    return this.#parts.visible.dropped.get(deviceId) ?? this.#goneBefore.get(deviceId) ?? 0;
  }

  #remove(entry: LoggedEntry): void {
    const { deviceId, position } = entry;
    if (position < this.#droppedBefore(deviceId)) return;
    const { file, visible } = this.#parts;
    const added = removalsOf(entry, file.state.journal);
    const known = visible.removed.get(deviceId) ?? [];
    visible.removed.set(deviceId, [...known, ...added]);
    this.kept.drop(deviceId);
    // Every later state of the file says so too, and a crash before repeats the entry.
    void file.update({ removed: [...visible.removed] }).catch(this.#failed);
    this.#counts.recount();
  }

  #add(entry: LoggedEntry | RowRange): void {
    // No device has a number.
    if (entry instanceof RowRange) throw new Error('The store takes no rows in ranges');
    if (entry.replaces !== undefined) this.#remove(entry);
    const isDropped = entry.position < this.#droppedBefore(entry.deviceId);
    for (const { deviceId, timestamp } of this.#parts.openRows.add(entry, isDropped))
      this.#newest.note(deviceId, timestamp);
  }
}

// Device turns: tasks of one device run one after the other.

/** Entries of a device that arrive together are stored in the order of their arrival. */
class TurnsByDevice {
  readonly #last = new Map<string, Promise<unknown>>();

  isBusy(deviceId: string): boolean {
    return this.#last.has(deviceId);
  }

  /** Runs the task after those of the device that were given before. Settles as the task does. */
  run<T>(deviceId: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(deviceId);
    const result = before === undefined ? task() : before.then(task, task);
    this.#last.set(deviceId, result);
    const ended = (): void => {
      if (this.#last.get(deviceId) === result) this.#last.delete(deviceId);
    };
    result.then(ended, ended);
    return result;
  }
}

// Replica reach: the replicas that are read have what other nodes shipped, to whichever replica.

/**
 * Nodes may use different replicas of a shard, after one was away from some of them. A replica is
 * waited for once for all reads that need the same positions, and never where it is the only one.
 */
function createReplicaReach(shards: readonly Shard[]): ReachShipped {
  const replicated = shards.filter(({ replicas }) => replicas.length > 1);
  const reached = new Map<number, number>();
  const wanted = new Map<number, number>();
  let reaching: Promise<void> | undefined;

  async function reach(): Promise<void> {
    const goal = [...wanted];
    await Promise.all(replicated.map((shard) => shard.caughtUp()));
    for (const [journal, position] of goal) reached.set(journal, position);
  }

  return async (others) => {
    if (replicated.length === 0) return;
    const isBehind = ({ journal, shipped }: ShippedTo) => shipped > (reached.get(journal) ?? -1);
    for (const { journal, shipped } of others)
      wanted.set(journal, Math.max(shipped, wanted.get(journal) ?? 0));
    try {
      while (others.some(isBehind)) {
        reaching ??= reach().finally(() => {
          reaching = undefined;
        });
        await reaching;
      }
    } catch (error) {
      throw samplesError(error);
    }
  };
}

function isAfter(row: OpenRow, after: OpenHereRequest['after']): boolean {
  if (after === undefined || row.position > after.position) return true;
  return row.position === after.position && row.index > after.index;
}

function* samplesOf(rows: readonly OpenRow[]): Generator<OpenSample> {
  for (const row of rows) {
    const { deviceId, topic, timestamp, storedAt, position, index, workspaceId, dataFlowId } = row;
    const place = { storedAt, position, index, workspaceId, dataFlowId };
    const sample = { deviceId, topic, timestamp, data: dataOfRow(row), ...place };
    yield row.meta === undefined ? sample : { ...sample, meta: row.meta };
  }
}
