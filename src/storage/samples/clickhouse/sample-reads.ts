// Sample reads: rows of ClickHouse below the shipped position, merged with the open rows of the same moment, and their counts.
import type { EpochMs } from '../../../model/instant.ts';
import { isInRange, type RemovedRange } from '../../../model/sample-changes.ts';
import type { Sample } from '../../../model/sample.ts';
import { int64, listOf, quoted } from '../../clickhouse/statement-values.ts';
import { ShapeInterner } from '../../log/data-shape.ts';
import { keysOfShapes } from '../measured-keys.ts';
import { runsOfSamples } from '../value-batches.ts';
import type {
  CountedTopic,
  FoundSamples,
  LatestRequest,
  MeasuredTopic,
  SampleRange,
  SampleScan,
  SampleStore,
  WorkspaceUsage,
} from '../sample-store.ts';
import { shardOf } from './flusher.ts';
import { scanInMemory } from './kept-reads.ts';
import { type Block, type OpenPlace, sampleOfRow } from './open-rows.ts';
import { openPlacesIn, type ReadParts, readPartsOf, type StoreParts } from './store-parts.ts';
import {
  compareRows,
  newestFirst,
  oldestFirst,
  partitionMs,
  type PlacedRow,
  pointsOfShape,
  sampleOfSealed,
  sealedColumns,
  type SealedRow,
} from './sample-tables.ts';
import type { UsageOfJournal } from '../remote-pending-samples.ts';

const topicsStandard = 50;
const exportBatch = 1_000;
const devicesPerQuery = 500;
/** Shapes of a device that are read. */
const shapesMax = 20_000;

type SampleReads = Pick<
  SampleStore,
  'samples' | 'exportSamples' | 'exportColumns' | 'topics' | 'count' | 'latest' | 'measuredKeys'
>;

export function createSampleReads(parts: StoreParts): SampleReads {
  return {
    samples: async (scan) => found(await findSamples(scan, parts)),
    exportSamples: (range) => exportSamples(range, parts),
    async *exportColumns(range) {
      const shapes = new ShapeInterner();
      for await (const { samples, unreadable } of exportSamples(range, parts))
        yield { runs: runsOfSamples(samples, shapes), unreadable };
    },
    topics: (deviceId) => topicsOf(deviceId, parts),
    count: (deviceId, ranges) => countRows(deviceId, ranges, parts),
    latest: async (request) => ({ samples: await findLatest(request, parts), unreadable: [] }),
    measuredKeys: (deviceId, topicsMax) => findKeys(deviceId, topicsMax, parts),
  };
}

function found(samples: readonly Sample[]): FoundSamples {
  return { samples, unreadable: [] };
}

/** Conditions of the range, without those of visibility. */
function rangeCondition({ deviceId, topic, from, to }: SampleRange): string {
  const ofTopic = topic === undefined ? '' : ` and topic = ${quoted(topic)}`;
  const after = from === undefined ? '' : ` and ts >= ${int64(from)}`;
  const before = to === undefined ? '' : ` and ts < ${int64(to)}`;
  return `device = ${quoted(deviceId)}${ofTopic}${after}${before}`;
}

/** The open rows of the range, and what is merged with them. */
async function openIn(
  { deviceId, topic, from, to }: SampleRange,
  store: StoreParts,
): Promise<{ readonly open: OpenPlace[]; readonly parts: ReadParts }> {
  const range = { ...(topic !== undefined && { topics: [topic] }), from, to };
  const parts = await readPartsOf(store, { deviceIds: [deviceId], ...range });
  return { open: openPlacesIn(deviceId, range, parts), parts };
}

/**
 * At most all open rows are newer than what is skipped, so that ClickHouse skips the others. Open
 * rows that are newer than its first row belong to what is skipped. The times are read first, so that
 * the data of older rows is not read.
 */
async function findSamples(scan: SampleScan, store: StoreParts): Promise<Sample[]> {
  const { deviceId, from, limit, skip } = scan;
  const { open: oldestOpen, parts } = await openIn(scan, store);
  const inMemory = scanInMemory(scan, parts);
  if (inMemory !== undefined) return inMemory.map(({ row }) => sampleOfRow(row));
  const open = oldestOpen.reverse();
  const skipped = Math.max(0, skip - open.length);
  const wanted = limit + open.length;
  const where = `${rangeCondition(scan)}${parts.visible.condition([deviceId], from, parts.others.shipped)}`;
  const rows = await shardOf(deviceId, parts.shards).select<SealedRow>(
    `select ${sealedColumns} from samples where ${where} and ts >= (select min(ts) from (select ts from samples where ${where} order by ts desc limit ${skipped + wanted})) order by ${newestFirst} limit ${skipped}, ${wanted}`,
  );
  const [first] = rows;
  // ClickHouse has nothing behind what it skipped, and all open rows are skipped too.
  if (first === undefined && skipped > 0) return [];
  const passed =
    first === undefined || skipped === 0
      ? 0
      : open.filter((place) => compareRows(place, first) > 0).length;
  const merged: (SealedRow | OpenPlace)[] = [...rows, ...open.slice(passed)];
  if (open.length > passed) merged.sort((a, b) => compareRows(b, a));
  const start = skip - skipped - passed;
  return merged
    .slice(start, start + limit)
    .map((place) => ('row' in place ? sampleOfRow(place.row) : sampleOfSealed(place)));
}

/** Partition by partition, so that the server never sorts the whole history of a device. */
async function* exportSamples(range: SampleRange, store: StoreParts): AsyncGenerator<FoundSamples> {
  const { open, parts } = await openIn(range, store);
  const { shipped } = parts.others;
  const visible = parts.visible.condition([range.deviceId], range.from, shipped);
  const where = `${rangeCondition(range)}${visible}`;
  const shard = shardOf(range.deviceId, parts.shards);
  const partitions = await shard.select<{ number: number }>(
    `select intDiv(ts, ${partitionMs}) as number from samples where ${where} group by number order by number`,
  );
  let batch: Sample[] = [];
  let next = 0;
  for (const { number } of partitions) {
    const rows = shard.stream<SealedRow>(
      `select ${sealedColumns} from samples where ${where} and intDiv(ts, ${partitionMs}) = ${number} order by ${oldestFirst}`,
    );
    for await (const some of rows)
      for (const row of some) {
        for (let place = open[next]; place && compareRows(place, row) < 0; place = open[++next])
          batch.push(sampleOfRow(place.row));
        batch.push(sampleOfSealed(row));
        if (batch.length < exportBatch) continue;
        yield found(batch);
        batch = [];
      }
  }
  for (const { row } of open.slice(next)) {
    batch.push(sampleOfRow(row));
    if (batch.length < exportBatch) continue;
    yield found(batch);
    batch = [];
  }
  if (batch.length > 0) yield found(batch);
}

interface TopicTime {
  readonly topic: string;
  readonly newest: EpochMs;
}

async function topicsOf(deviceId: string, store: StoreParts): Promise<readonly TopicTime[]> {
  const { open, parts } = await openIn({ deviceId }, store);
  return topicsAmong(deviceId, open, parts);
}

async function topicsAmong(
  deviceId: string,
  open: readonly OpenPlace[],
  { shards, visible, others }: ReadParts,
): Promise<readonly TopicTime[]> {
  const newest = new Map<string, EpochMs>();
  for (const { row } of open)
    newest.set(row.topic, Math.max(row.timestamp, newest.get(row.topic) ?? -Infinity));
  const condition = visible.condition([deviceId], undefined, others.shipped);
  const stored = await shardOf(deviceId, shards).select<TopicTime>(
    `select topic, max(ts) as newest from samples where device = ${quoted(deviceId)}${condition} group by topic`,
  );
  for (const row of stored)
    newest.set(row.topic, Math.max(row.newest, newest.get(row.topic) ?? -Infinity));
  return [...newest]
    .map(([topic, at]) => ({ topic, newest: at }))
    .sort((a, b) => b.newest - a.newest || (a.topic < b.topic ? -1 : 1));
}

async function countRows(
  deviceId: string,
  ranges: readonly RemovedRange[],
  store: StoreParts,
): Promise<readonly CountedTopic[]> {
  const from = Math.min(...ranges.map((range) => range.from));
  const to = Math.max(...ranges.map((range) => range.to));
  const { open, parts } = await openIn({ deviceId, from, to }, store);
  const where = `device = ${quoted(deviceId)}${parts.visible.condition([deviceId], from, parts.others.shipped)}`;
  const isWanted = ranges.map(({ topics, ...times }) => {
    const ofTopics = topics === null ? '' : ` and topic in ${listOf(topics)}`;
    return `(ts >= ${int64(times.from)} and ts < ${int64(times.to)}${ofTopics})`;
  });
  const stored = await shardOf(deviceId, parts.shards).select<CountedTopic>(
    `select topic, count() as samples, min(ts) as oldest, max(ts) as newest from samples where ${where} and (${isWanted.join(' or ')}) group by topic`,
  );
  const counted = new Map(stored.map((row) => [row.topic, row]));
  for (const { row } of open) {
    const { topic, timestamp } = row;
    if (!ranges.some((range) => isInRange(range, topic, timestamp))) continue;
    const { samples, oldest, newest } = counted.get(topic) ?? {
      samples: 0,
      oldest: timestamp,
      newest: timestamp,
    };
    counted.set(topic, {
      topic,
      samples: samples + 1,
      oldest: Math.min(oldest, timestamp),
      newest: Math.max(newest, timestamp),
    });
  }
  return [...counted.values()].sort((a, b) => (a.topic < b.topic ? -1 : 1));
}

interface Candidate extends PlacedRow {
  readonly sample: () => Sample;
}

async function findLatest(
  { deviceIds, topics, until, from }: LatestRequest,
  store: StoreParts,
): Promise<Sample[][]> {
  const newest = new Map<string, Map<string, Candidate>>();
  function offer(deviceId: string, topic: string, candidate: Candidate): void {
    const ofDevice = newest.get(deviceId) ?? new Map<string, Candidate>();
    newest.set(deviceId, ofDevice);
    const known = ofDevice.get(topic);
    if (known === undefined || isNewer(candidate, known)) ofDevice.set(topic, candidate);
  }
  /** What is dated in the future gives way to anything else. */
  function isNewer(one: Candidate, other: Candidate): boolean {
    const [isLate, isOtherLate] = [one.ts > until, other.ts > until];
    return isLate === isOtherLate ? compareRows(one, other) > 0 : isOtherLate;
  }
  const ids = [...new Set(deviceIds)];
  const range = from === undefined ? { topics } : { topics, from, to: until + 1 };
  const parts = await readPartsOf(store, { deviceIds: ids, ...range });
  const sealed = parts.shards.flatMap((shard) => {
    const ofShard = ids.filter((deviceId) => shardOf(deviceId, parts.shards) === shard);
    const groups = Array.from({ length: Math.ceil(ofShard.length / devicesPerQuery) }, (_, i) =>
      ofShard.slice(i * devicesPerQuery, (i + 1) * devicesPerQuery),
    );
    return groups
      .map((group) => latestStatement(group, { topics, until, from }, parts))
      .map((sql) => ({ shard, sql }));
  });
  for (const deviceId of ids)
    for (const place of openPlacesIn(deviceId, range, parts))
      offer(deviceId, place.row.topic, {
        ...place,
        sample: () => sampleOfRow(place.row),
      });
  if (topics?.length !== 0)
    for (const { shard, sql } of sealed)
      for (const row of await shard.select<SealedRow>(sql))
        offer(row.device, row.topic, { ...row, sample: () => sampleOfSealed(row) });
  return deviceIds.map((deviceId) =>
    [...(newest.get(deviceId)?.values() ?? [])]
      .map(({ sample }) => sample())
      .sort((a, b) => b.timestamp - a.timestamp || (a.topic < b.topic ? -1 : 1)),
  );
}

/** Only the rows of the newest instants are read with their data. */
function latestStatement(
  deviceIds: readonly string[],
  {
    topics,
    until,
    from,
  }: {
    readonly topics: LatestRequest['topics'] | undefined;
    readonly until: EpochMs;
    readonly from: EpochMs | undefined;
  },
  { visible, others }: ReadParts,
): string {
  const ofTopics = topics === undefined ? '' : ` and topic in ${listOf(topics)}`;
  const within = from === undefined ? '' : ` and ts >= ${int64(from)} and ts <= ${int64(until)}`;
  const where = `device in ${listOf(deviceIds)}${ofTopics}${within}${visible.condition(deviceIds, from, others.shipped)}`;
  return `select ${sealedColumns} from samples where ${where} and (device, topic, ts) in (select device, topic, if(min(ts) <= ${int64(until)}, maxIf(ts, ts <= ${int64(until)}), max(ts)) from samples where ${where} group by device, topic)`;
}

/** Says of a shape whether every key of it is in some visible point of the topic. */
export async function shapesLeft(
  deviceId: string,
  { shards, visible, shapes }: StoreParts,
): Promise<(topic: string, shape: string) => boolean> {
  const condition = visible.condition([deviceId]);
  const rows = await shardOf(deviceId, shards).select<{ topic: string; key: string }>(
    `select distinct topic, key from points where device = ${quoted(deviceId)}${condition}`,
  );
  const left = new Set(rows.map(({ topic, key }) => `${key} ${topic}`));
  return (topic, shape) =>
    pointsOfShape(shapes.fromText(shape)).every(({ key }) => left.has(`${key} ${topic}`));
}

async function findKeys(
  deviceId: string,
  topicsMax = topicsStandard,
  store: StoreParts,
): Promise<readonly MeasuredTopic[]> {
  const shapes = new Map<string, Set<string>>();
  const note = (topic: string, shape: string): void => {
    const known = shapes.get(topic) ?? new Set();
    shapes.set(topic, known.add(shape));
  };
  const { open, parts } = await openIn({ deviceId }, store);
  for (const { row } of open) note(row.topic, row.shape.text);
  const condition = parts.visible.deviceCondition([deviceId], parts.others.shipped);
  const topics = (await topicsAmong(deviceId, open, parts)).slice(0, topicsMax);
  if (topics.length === 0) return [];
  const stored = await shardOf(deviceId, parts.shards).select<{ topic: string; shape: string }>(
    `select distinct topic, shape from shapes where device = ${quoted(deviceId)} and topic in ${listOf(topics.map(({ topic }) => topic))}${condition} limit ${shapesMax}`,
  );
  const isLeft = parts.visible.removed.has(deviceId)
    ? await shapesLeft(deviceId, parts)
    : () => true;
  for (const { topic, shape } of stored) if (isLeft(topic, shape)) note(topic, shape);
  return topics.map(({ topic }) => ({
    topic,
    keys: keysOfShapes([...(shapes.get(topic) ?? [])].map(parts.shapes.fromText)),
  }));
}

// Sample counts: how many samples and bytes each workspace has, counted once and then kept up to date.

/** What an open row is counted as. */
const openRowBytes = 48;

/** With other nodes, rows are counted again after this time: they delete some, and move in shipping. */
const countEveryMs = 60_000;

/** Rows by workspace, of each journal. */
type SealedCounts = Map<number, Map<string, number>>;

export class SampleCounts {
  readonly #parts: StoreParts;
  readonly #journal: number;
  #sealed: SealedCounts | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Rows that were shipped while ClickHouse counts. */
  #meanwhile: SealedCounts | undefined;
  #counting: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { file } = parts;
    const { journal } = file.state;
    this.#journal = journal;
  }

  /** Bytes of a sample in ClickHouse, on average. */
  rowBytes(): Promise<number> {
    return averageBytes(this.#parts.shards);
  }

  /** Those of this journal. */
  async here(): Promise<UsageOfJournal> {
    const counts = new Map(countsOf(await this.#counted(true), this.#journal));
    for (const [workspaceId, samples] of openCounts(this.#parts.openRows))
      add(counts, workspaceId, samples);
    return { journal: this.#journal, samples: [...counts] };
  }

  /** With those of other nodes, whose deletions are counted a minute later at most. */
  async usage(): Promise<ReadonlyMap<string, WorkspaceUsage>> {
    const others = (await this.#parts.elsewhere?.usage()) ?? [];
    const stored = await this.#counted(others.length > 0);
    const perRow = await averageBytes(this.#parts.shards);
    const found: Usage = new Map();
    const answered = new Set(others.map((other) => other.journal));
    for (const [of, counts] of stored) if (!answered.has(of)) addUsage(found, counts, perRow);
    for (const { samples } of others) addUsage(found, samples, perRow);
    addUsage(found, openCounts(this.#parts.openRows), openRowBytes);
    return found;
  }

  /** To be called in the turn in which the block is open no more. */
  shipped({ rows }: Block): void {
    for (const counts of new Set([this.#sealed, this.#meanwhile]))
      if (counts !== undefined)
        for (const { workspaceId } of rows) add(countsOf(counts, this.#journal), workspaceId, 1);
  }

  /** To be called when rows were deleted: they are counted again. */
  recount(): void {
    this.#sealed = undefined;
    this.#meanwhile = undefined;
  }

  async #count(): Promise<void> {
    const shippedNow: SealedCounts = new Map();
    this.#meanwhile = shippedNow;
    const startedAt = performance.now();
    await addStored(shippedNow, this.#parts);
    // A deletion meanwhile makes the next call count again.
    if (this.#meanwhile !== shippedNow) return;
    this.#sealed = shippedNow;
    this.#countedAt = startedAt;
  }

  async #counted(isShared: boolean): Promise<SealedCounts> {
    const isOld = isShared && performance.now() - this.#countedAt > countEveryMs;
    if (this.#sealed === undefined || isOld) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined;
      });
      await this.#counting;
    }
    return this.#sealed ?? new Map();
  }
}

/** Counts what ClickHouse has of each journal. */
async function addStored(counts: SealedCounts, { shards, visible }: StoreParts): Promise<void> {
  const condition = visible.storedCondition([...visible.dropped.keys(), ...visible.removed.keys()]);
  for (const shard of shards) {
    const rows = await shard.select<{ journal: number; workspace: string; n: number }>(
      `select journal, workspace, count() as n from samples where 1${condition} group by journal, workspace`,
    );
    for (const { journal, workspace, n } of rows) add(countsOf(counts, journal), workspace, n);
  }
}

/** Open rows of this node by workspace. */
function openCounts(openRows: StoreParts['openRows']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const deviceId of openRows.deviceIds())
    for (const { workspaceId } of openRows.rowsOf(deviceId)) add(counts, workspaceId, 1);
  return counts;
}

type Usage = Map<string, { samples: number; bytes: number }>;

function addUsage(
  usage: Usage,
  counts: Iterable<readonly [string, number]>,
  rowBytes: number,
): void {
  for (const [workspaceId, samples] of counts) {
    if (samples <= 0) continue;
    const sum = usage.get(workspaceId) ?? { samples: 0, bytes: 0 };
    usage.set(workspaceId, sum);
    sum.samples += samples;
    sum.bytes += Math.round(samples * rowBytes);
  }
}

function countsOf(counts: SealedCounts, journal: number): Map<string, number> {
  const known = counts.get(journal) ?? new Map<string, number>();
  counts.set(journal, known);
  return known;
}

function add(counts: Map<string, number>, workspaceId: string, samples: number): void {
  counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + samples);
}

/** Bytes of a sample in the files of ClickHouse, with everything that belongs to it. */
async function averageBytes(shards: StoreParts['shards']): Promise<number> {
  let [bytes, rows] = [0, 0];
  for (const shard of shards) {
    const [sums] = await shard.select<{ b: number; r: number }>(
      "select sum(bytes_on_disk) as b, sumIf(rows, table = 'samples') as r from system.parts where active and database = currentDatabase() and table in ('samples', 'points', 'hours', 'shapes')",
    );
    bytes += sums?.b ?? 0;
    rows += sums?.r ?? 0;
  }
  return rows === 0 ? openRowBytes : bytes / rows;
}
