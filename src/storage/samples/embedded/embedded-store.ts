// Embedded store: samples as columns, in memory and in the files of one folder of one process.
import type { DataShape } from '../../log/data-shape.ts';
import { isDiskFull } from '../../log/durable-file.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { problem } from '../../../model/problem.ts';
import { isInRange, type RemovedRange } from '../../../model/sample-changes.ts';
import type { Sample } from '../../../model/sample.ts';
import type { MovedBatch, MovedSample } from '../moved-samples.ts';
import type {
  BucketRequest,
  CountedTopic,
  FoundLatest,
  FoundRuns,
  FoundSamples,
  LatestRequest,
  SampleRange,
  SampleRun,
  SampleScan,
  SampleStore,
  UnreadableSamples,
  MeasuredTopic,
  ValuesRequest,
} from '../sample-store.ts';
import type { ValueBatch } from '../../../query/summaries/ordered-values.ts';
import { refuseUnreadable } from '../reported-reads.ts';
import { ChunkSealer } from './chunk-sealer.ts';
import { EntryWriter } from './entry-writer.ts';
import type { DeviceNumbers } from './memtables/device-numbers.ts';
import { TableMerger, TableSealer } from './memtables/table-sealer.ts';
import { endsOf, queryBuckets, type Slices } from './queries/bucket-query.ts';
import {
  keptTopicsMax,
  latestSamples,
  matchingSeries,
  newestFirst,
  type NewestSample,
  NewestSamples,
  orderedValues,
  type RowReader,
  type RowsToWalk,
  RowWalk,
  type SampleWalk,
  walkSamples,
} from './queries/row-scan.ts';
import { Retention } from './retention/retention.ts';
import { RemovalWork } from './retention/removing.ts';
import { guarded, withoutRemoved } from './rows/removals.ts';
import { keysOfTopics, measuredKeys, topicsOf, usage } from './rows/key-statistics.ts';
import { type Origin, placeOf, rowAt, type RowGroup } from './rows/open-rows.ts';
import { type Device, type SeriesRegistry, unreadableSamples } from './rows/series.ts';
import { LostSegments, type ReportedRange } from './segments/segment-set.ts';
import { type EmbeddedStoreOptions, StoreContents } from './store-loader.ts';

export interface EmbeddedStore extends SampleStore {
  /** Seals and commits all rows, as closing does. */
  readonly sealAll: () => Promise<void>;
  /** Resolves when the background work in progress has ended. */
  readonly idle: () => Promise<void>;
  /** Of all devices that have rows, and maybe some others, sorted. */
  readonly deviceIds: () => readonly string[];
  /** All rows of the device with their origin, oldest first, those of one instant as they were stored. */
  readonly exportMoved: (deviceId: string) => AsyncIterable<MovedBatch>;
}

/** Opens or creates the store of the folder: reads what is sealed. The log has the rest. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const contents = await StoreContents.open(options);
  const { limits, registry, tables, segments, readers, failed } = contents;
  // As the start leaves it.
  const { manifest } = segments;
  const state = { closed: false, isRemovalNew: registry.removals.count > 0 };
  const writer = new EntryWriter(
    contents,
    () => {
      sealer.wake();
      tableSealer.wake();
      if (state.isRemovalNew) removing.wake();
      state.isRemovalNew = false;
    },
    (deviceId) => {
      newest.forget(deviceId);
      state.isRemovalNew = true;
    },
    () => sealer.roomForRows() ?? tableSealer.room(),
  );
  const sealer: ChunkSealer = new ChunkSealer(contents, writer.visiblePosition, async () => {
    while (!state.closed && (await segments.exclusive(() => retention.mergeSome())));
  });
  const merger = new TableMerger(contents, sealer);
  const tableSealer = new TableSealer(contents, sealer, merger);
  const retention = new Retention(contents, sealer, tableSealer, merger);
  const removing = new RemovalWork(contents, sealer, tableSealer, merger);

  function deviceOf(id: string): Device | undefined {
    if (state.closed) throw problem('stopping');
    return registry.devices.get(id);
  }

  const newest = new NewestSamples((deviceId) => {
    const number = tables.numbers.numberOf(deviceId);
    const ofTables = number === undefined ? 0 : tables.marks.nextOrder(number);
    return Math.max(ofTables, deviceOf(deviceId)?.nextOrder ?? 0);
  }, limits.newestSampleBytes);
  const reads = new StoreReads(contents, deviceOf, newest, new LostSegments(manifest));

  async function idle(): Promise<void> {
    await removing.idle();
    await tableSealer.idle();
    await merger.idle();
    await sealer.idle();
  }

  async function sealAll(): Promise<void> {
    await tableSealer.sealAll();
    await sealer.sealAll();
  }

  sealer.wake();
  return {
    sealAll,
    idle,
    deviceIds: () => deviceIdsOf(registry, tables.numbers),
    replayFrom: async () => manifest.replayFrom,
    write: writer.write,
    compare: writer.compare,
    numbered: writer.numbered,
    ends: writer.ends,
    samples: (scan) => reads.samples(scan),
    exportSamples: (range) => reads.exportSamples(range),
    exportColumns: (range) => reads.exportColumns(range),
    exportMoved: (deviceId) => reads.exportMoved(deviceId),
    topics: (deviceId) => reads.topics(deviceId),
    count: (deviceId, ranges) => reads.count(deviceId, ranges),
    latest: (request) => reads.latest(request),
    buckets: (request) => reads.buckets(request),
    values: (request) => reads.values(request),
    measuredKeys: (deviceId, topicsMax) => reads.measuredKeys(deviceId, topicsMax),
    mayHold: async (deviceId) =>
      registry.notDropped.has(deviceId) || (await reads.topics(deviceId)).length > 0,
    usage: async () => usage(registry, tables),
    previewExpiry: (workspaceId, rules) => retention.previewExpiry(workspaceId, rules),
    retain: (rules) => {
      removing.wake();
      const dropped = retention.dropExpired(rules);
      // The rules count from now on, and those that keep more than before show rows that were hidden.
      newest.clear();
      return dropped;
    },
    dropDevice: (deviceId, before) => {
      const dropped = retention.dropDevice(deviceId, before);
      // Its rows are gone from memory by now, and maybe not yet from the disk.
      newest.forget(deviceId);
      return dropped;
    },
    endOf: async (deviceId) => {
      const { nextOrders } = await writer.ends([deviceId]);
      return { order: nextOrders[0] ?? 0, position: writer.visiblePosition() };
    },
    takesRanges: (deviceId, count) =>
      (registry.removals.of(deviceId)?.length ?? 0) + count <= limits.removalsPerDevice &&
      registry.removals.count + count <= limits.removalsMax,
    isRemoving: (deviceId) => registry.removals.of(deviceId) !== undefined,
    rewritten: () => {
      removing.wake();
      return removing.idle();
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      await removing.close();
      try {
        await sealAtEnd(sealAll, failed);
        await merger.idle();
      } finally {
        readers.whenUnread(() => segments.close());
        await merger.makers.close();
        await sealer.makers.close();
      }
    },
  };
}

function deviceIdsOf({ devices }: SeriesRegistry, numbers: DeviceNumbers): readonly string[] {
  const ids = new Set(Array.from(devices.values(), ({ id }) => id));
  for (let number = 0; number < numbers.count(); number++) {
    const id = numbers.idOf(number);
    if (id !== undefined) ids.add(id);
  }
  return [...ids].sort();
}

/**
 * What cannot be sealed stays in the log and is written again by the next start; rejects unless the
 * disk is merely full.
 */
async function sealAtEnd(
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

// Store reads: each sees the rows of its beginning, and long ones pause for other work.

/** Samples built, cells and runs of samples in columns, and samples skipped, between two pauses. */
const samplesPerSlice = 1_000;
const cellsPerSlice = 65_536;
const runsPerSlice = 1_000;
const skippedPerSlice = 50_000;
const groupsPerSlice = 64;

const movedSample = (sample: Sample, { workspaceId, dataFlowId }: Origin): MovedSample => ({
  ...sample,
  workspaceId,
  dataFlowId,
});

const asItIs = (sample: Sample): Sample => sample;

interface FoundRows<Built> extends Pick<FoundSamples, 'unreadable'> {
  readonly rows: readonly Built[];
}

type RowsToExport<Built> = SampleRange & Pick<RowsToWalk<Built>, 'build'>;

interface TopicLeft {
  readonly topic: string;
  newest: EpochMs;
  readonly shapes: Set<DataShape>;
}

class StoreReads {
  readonly #contents: StoreContents;
  readonly #deviceOf: (id: string) => Device | undefined;
  readonly #newest: NewestSamples;
  readonly #lost: LostSegments;

  constructor(
    contents: StoreContents,
    /** Throws when the store is closed. */
    deviceOf: (id: string) => Device | undefined,
    newest: NewestSamples,
    lost: LostSegments,
  ) {
    this.#contents = contents;
    this.#deviceOf = deviceOf;
    this.#newest = newest;
    this.#lost = lost;
  }

  async samples(scan: SampleScan): Promise<FoundSamples> {
    const unreadable: UnreadableSamples[] = [];
    const report = (samples: UnreadableSamples) => void unreadable.push(samples);
    return { samples: await this.#findSamples({ ...scan, unreadable: report }), unreadable };
  }

  async topics(deviceId: string): ReturnType<SampleStore['topics']> {
    const topics = this.#topicsLeft(deviceId) ?? this.#topicsOf(deviceId);
    return topics.map(({ topic, newest }) => ({ topic, newest }));
  }

  async measuredKeys(deviceId: string, topicsMax?: number): Promise<readonly MeasuredTopic[]> {
    const left = this.#topicsLeft(deviceId);
    if (left !== undefined) return keysOfTopics(left, topicsMax);
    return measuredKeys(this.#topicsOf(deviceId), topicsMax);
  }

  async latest(request: LatestRequest): Promise<FoundLatest> {
    const { readers, slices } = this.#contents;
    const unreadable: UnreadableSamples[] = [];
    const report = (samples: UnreadableSamples) => void unreadable.push(samples);
    const end = readers.begin();
    try {
      const samples = await latestSamples(request, {
        topicsOf: (deviceId) => this.#topicsOf(deviceId),
        newestOf: (deviceId) => this.#newestOf(deviceId),
        slices,
        readerOf: (deviceId) => this.#readerOf({ deviceId, unreadable: report }),
      });
      // What was lost may have been newer than what was found.
      for (const [i, deviceId] of request.deviceIds.entries()) {
        const oldest = samples[i]?.at(-1)?.timestamp ?? request.from;
        this.#lost.report({
          deviceId,
          ...(oldest !== undefined && { from: oldest }),
          unreadable: report,
        });
      }
      return { samples, unreadable };
    } finally {
      end();
    }
  }

  async buckets(request: BucketRequest): ReturnType<SampleStore['buckets']> {
    const { readers, tables, decoded, registry, slices } = this.#contents;
    const { deviceIds, topic, edges } = request;
    const [deviceId] = deviceIds;
    // Any of the devices may have had samples there, and a number without them would be wrong.
    if (deviceId !== undefined)
      this.#lost.report({
        deviceId,
        topic,
        ...endsOf(edges),
        unreadable: refuseUnreadable,
      });
    const end = readers.begin();
    try {
      return await queryBuckets(request, {
        deviceOf: this.#deviceOf,
        tables,
        decoded,
        removals: registry.removals,
        slices,
      });
    } finally {
      end();
    }
  }

  async *values(request: ValuesRequest): AsyncGenerator<ValueBatch> {
    const { readers, slices } = this.#contents;
    const { deviceId } = request;
    const end = readers.begin();
    try {
      const reader = this.#readerOf({ deviceId, unreadable: refuseUnreadable });
      yield* orderedValues(request, { slices, reader, lost: this.#lost });
    } finally {
      end();
    }
  }

  async count(deviceId: string, ranges: readonly RemovedRange[]): Promise<readonly CountedTopic[]> {
    const { readers, slices } = this.#contents;
    const found = new Map<string, CountedTopic>();
    const reader = this.#readerOf({ deviceId, unreadable: () => undefined });
    const from = Math.min(...ranges.map((range) => range.from));
    const to = Math.max(...ranges.map((range) => range.to));
    const end = readers.begin();
    try {
      let looked = 0;
      for (const { topic, group } of reader.groupsBetween(undefined, from, to)) {
        if (++looked % groupsPerSlice === 0) await slices.pause();
        const wanted = ranges.filter(({ topics }) => topics?.includes(topic) !== false);
        const counted = wanted.length === 0 ? undefined : countedIn(group, topic, wanted);
        if (counted === undefined || counted.samples === 0) continue;
        const known = found.get(topic) ?? counted;
        found.set(topic, {
          topic,
          samples: known === counted ? counted.samples : known.samples + counted.samples,
          oldest: Math.min(known.oldest, counted.oldest),
          newest: Math.max(known.newest, counted.newest),
        });
      }
    } finally {
      end();
    }
    return [...found.values()].sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  async *exportSamples(range: SampleRange): AsyncGenerator<FoundSamples> {
    for await (const { rows, unreadable } of this.#exportRows({ ...range, build: asItIs }))
      yield { samples: rows, unreadable };
  }

  async *exportColumns(range: SampleRange): AsyncGenerator<FoundRuns> {
    const batches = this.#exportBatches(range, (reader) => {
      const walk = walkSamples(range, 'oldest', reader);
      return () => takeRuns(walk);
    });
    for await (const { rows, unreadable } of batches) yield { runs: rows, unreadable };
  }

  /** All rows of the device with their origin, oldest first, those of one instant as they were stored. */
  async *exportMoved(deviceId: string): AsyncGenerator<MovedBatch> {
    for await (const { rows, unreadable } of this.#exportRows({ deviceId, build: movedSample }))
      yield { samples: rows, unreadable };
  }

  /** Oldest first, in batches. */
  #exportRows<Built>(range: RowsToExport<Built>): AsyncGenerator<FoundRows<Built>> {
    return this.#exportBatches(range, (reader) => {
      const walk = new RowWalk({ ...range, direction: 'oldest', reader });
      return () => takeRows(walk, samplesPerSlice);
    });
  }

  async *#exportBatches<Built>(
    range: SampleRange,
    begin: (reader: RowReader) => () => readonly Built[],
  ): AsyncGenerator<FoundRows<Built>> {
    const { readers, slices } = this.#contents;
    let unreadable: UnreadableSamples[] = [];
    const reported = {
      ...range,
      unreadable: (samples: UnreadableSamples) => void unreadable.push(samples),
    };
    const end = readers.begin();
    try {
      this.#lost.report(reported);
      const reader = this.#readerOf(reported);
      reportDamaged(reported, reader);
      const next = begin(reader);
      for (;;) {
        const rows = next();
        if (rows.length > 0 || unreadable.length > 0) yield { rows, unreadable };
        if (rows.length === 0) return;
        unreadable = [];
        await slices.pause();
      }
    } finally {
      end();
    }
  }

  async #findSamples(scan: SampleScan & ReportedRange): Promise<Sample[]> {
    const { readers, slices } = this.#contents;
    const newest = scan.limit === 1 && scan.skip === 0 ? this.#newestInRange(scan) : undefined;
    if (newest !== undefined) {
      this.#lost.report({ ...scan, from: newest.timestamp });
      return [newest];
    }
    const samples: Sample[] = [];
    const end = readers.begin();
    try {
      const rowsMax = scan.skip + scan.limit;
      const walk = walkSamples(scan, 'newest', this.#readerOf(scan), rowsMax);
      await skip(walk, scan.skip, slices);
      for (;;) {
        const wanted = Math.min(samplesPerSlice, scan.limit - samples.length);
        const taken = takeRows(walk, wanted);
        samples.push(...taken);
        if (taken.length < wanted || samples.length === scan.limit) break;
        await slices.pause();
      }
    } finally {
      end();
    }
    // A full answer asks for nothing before its last sample.
    const last = samples.length === scan.limit ? samples.at(-1) : undefined;
    this.#lost.report(last === undefined ? scan : { ...scan, from: last.timestamp });
    return samples;
  }

  /** The newest sample of the range when it is one that is kept; else it must be looked for. */
  #newestInRange({
    deviceId,
    topic,
    from = Number.NEGATIVE_INFINITY,
    to,
  }: SampleRange): Sample | undefined {
    if (to !== undefined) return undefined;
    const all = this.#newestOf(deviceId);
    const [first, second] =
      topic === undefined
        ? (all ?? [])
        : (all ?? []).filter(({ sample }) => sample.topic === topic);
    // Of samples of one instant, the one that was stored last counts.
    if (first === undefined || first.sample.timestamp === second?.sample.timestamp)
      return undefined;
    return first.sample.timestamp >= from ? first.sample : undefined;
  }

  /** The newest sample of each topic, newest first; undefined when not all of them are known or readable. */
  #newestOf(deviceId: string): readonly NewestSample[] | undefined {
    const kept = this.#newest.of(deviceId);
    if (kept !== undefined) return kept;
    const topics = this.#topicsOf(deviceId);
    if (topics.length > keptTopicsMax) return undefined;
    let isComplete = true;
    const reader = this.#readerOf({ deviceId, unreadable: () => void (isComplete = false) });
    const build = (sample: Sample, origin: Origin): NewestSample => ({ sample, origin });
    const found = topics.flatMap(({ topic, newest: from }) => {
      const range = { deviceId, topic, from };
      return new RowWalk({ ...range, direction: 'newest', reader, build, rowsMax: 1 }).next() ?? [];
    });
    if (!isComplete || found.length < topics.length) return undefined;
    found.sort((a, b) => newestFirst(a.sample, b.sample));
    this.#newest.keep(deviceId, found);
    return found;
  }

  /** A reader that reports what it leaves out, once each. */
  #readerOf({ deviceId, unreadable }: ReportedRange): RowReader {
    const { tables, decoded, registry } = this.#contents;
    const reported = new Set<string>();
    const device = this.#deviceOf(deviceId);
    return {
      groupsBetween: (wanted, from, to) => {
        const found = tables.groupsOf(deviceId, wanted, [from, to]);
        for (const { topic, series } of matchingSeries(device, wanted))
          for (const group of series.groupsBetween(from, to, decoded)) found.push({ topic, group });
        const removals = registry.removals.of(deviceId);
        if (removals === undefined) return found;
        return found.flatMap(({ topic, group }) => {
          const left = withoutRemoved(group, topic, removals);
          return left === undefined ? [] : [{ topic, group: left }];
        });
      },
      left: (topic, group) => {
        const place = `${topic} ${group.sealed?.place} ${group.oldest}`;
        if (reported.has(place)) return;
        reported.add(place);
        unreadable(unreadableSamples(deviceId, topic, group));
      },
    };
  }

  /**
   * The topics of a device with removals, newest first: what is known of chunks and runs counts removed rows, so
   * that rows are read. Undefined for a device without removals.
   */
  #topicsLeft(deviceId: string): readonly TopicLeft[] | undefined {
    if (this.#contents.registry.removals.of(deviceId) === undefined) return undefined;
    const found = new Map<string, TopicLeft>();
    const reader = this.#readerOf({ deviceId, unreadable: () => undefined });
    for (const { topic, group } of reader.groupsBetween(undefined, -Infinity, Infinity)) {
      const known = found.get(topic) ?? { topic, newest: group.newest, shapes: new Set() };
      found.set(topic, known);
      known.newest = Math.max(known.newest, group.newest);
      guarded(group, () => {
        const sorted = group.sorted();
        if (sorted === undefined) return;
        const { shapes, shapeIds } = sorted.rows;
        for (let place = 0; place < sorted.length; place++) {
          const shape = shapes[shapeIds?.[rowAt(sorted, place)] ?? 0];
          if (shape !== undefined) known.shapes.add(shape);
          if (shapeIds === undefined) break;
        }
      });
    }
    return [...found.values()].sort((a, b) => b.newest - a.newest);
  }

  #topicsOf(deviceId: string): ReturnType<typeof topicsOf> {
    return topicsOf(this.#deviceOf(deviceId), this.#contents.tables.tablesOf(deviceId));
  }
}

/** Undefined when the group cannot be read. */
function countedIn(
  group: RowGroup,
  topic: string,
  ranges: readonly RemovedRange[],
): CountedTopic | undefined {
  const { oldest, newest, length: samples } = group;
  const isWhole =
    ranges.some(({ from, to }) => from <= oldest && newest < to) &&
    guarded(group, () => group.visibleFrom <= oldest) === true;
  if (isWhole) return { topic, samples, oldest, newest };
  const sorted = group.sorted();
  return (
    sorted &&
    guarded(group, () => {
      const counted = { topic, samples: 0, oldest: Infinity, newest: -Infinity };
      for (let place = placeOf(sorted, group.visibleFrom); place < sorted.length; place++) {
        const timestamp = sorted.timestamps[place]!;
        if (!ranges.some((range) => isInRange(range, topic, timestamp))) continue;
        counted.samples++;
        counted.oldest = Math.min(counted.oldest, timestamp);
        counted.newest = Math.max(counted.newest, timestamp);
      }
      return counted;
    })
  );
}

/** Reports what is known to be damaged in the range. */
function reportDamaged(
  { topic: wanted, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: ReportedRange,
  reader: RowReader,
): void {
  for (const { topic, group } of reader.groupsBetween(wanted, from, to))
    if (group.sealed?.damaged === true) reader.left(topic, group);
}

async function skip(walk: SampleWalk, count: number, slices: Slices): Promise<void> {
  for (let left = count; left > 0; left -= skippedPerSlice) {
    walk.skip(Math.min(left, skippedPerSlice));
    if (left > skippedPerSlice) await slices.pause();
  }
}

function takeRows<Built>(walk: RowWalk<Built>, limit: number): Built[] {
  const rows: Built[] = [];
  while (rows.length < limit) {
    const row = walk.next();
    if (row === undefined) break;
    rows.push(row);
  }
  return rows;
}

function takeRuns(walk: SampleWalk): SampleRun[] {
  const runs: SampleRun[] = [];
  for (let cells = cellsPerSlice; cells > 0 && runs.length < runsPerSlice; ) {
    const run = walk.nextRun(cells);
    if (run === undefined) break;
    runs.push(run);
    cells -= (run.to - run.from) * (run.sorted.rows.columns.length + 1);
  }
  return runs;
}
