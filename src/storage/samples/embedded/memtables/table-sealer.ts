// Table sealer: writes closed memtables as runs, rows of busy devices as chunks, and merges runs.
import { type ChunkSealer, SealingWork } from '../chunk-sealer.ts';
import type { SeriesRegistry } from '../rows/series.ts';
import { RunMakers } from '../runs/run-makers.ts';
import type { Segment, SegmentSet } from '../segments/segment-set.ts';
import type { StoreContents } from '../store-loader.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { Memtable } from './memtable.ts';
import { runsToMerge, type ShapeTable, type TableRun } from './shape-table.ts';
import type { ShapeTables } from './shape-tables.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import type { RunJob } from '../runs/run-writing.ts';
import type { RunReader } from '../runs/run-reader.ts';

// Table merger: joins neighboring runs and removes rows that no longer count, one change at a time.

export interface TableOfRun {
  readonly table: ShapeTable;
  readonly run: TableRun;
}

export class TableMerger {
  readonly makers: RunMakers;
  readonly #contents: StoreContents;
  readonly #chunks: ChunkSealer;
  /** Runs that cannot be read as a whole: they stay as they are, so that nothing more is lost. */
  readonly #unreadable = new WeakSet<RunReader>();
  #queue: Promise<unknown> = Promise.resolve();
  #working: Promise<void> | undefined;
  /** Returns whether there was something to merge. */
  readonly #mergeSome = async (): Promise<boolean> => {
    const found = this.#mergeable();
    if (found !== undefined) await this.rewrite(found.table, found.runs);
    return found !== undefined;
  };

  constructor(contents: StoreContents, chunks: ChunkSealer) {
    this.#contents = contents;
    this.#chunks = chunks;
    this.makers = new RunMakers(contents.interners.shapes.fromText, contents.limits);
  }

  /** Starts merging when there is something to merge. */
  readonly wake = (): void => {
    if (this.#mergeable() === undefined) return;
    this.#working ??= this.#work()
      .catch(this.#contents.failed)
      .finally(() => {
        this.#working = undefined;
      });
  };

  /** Runs one after the other what changes runs; the work may call `rewrite` and `remove`. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Runs of one table become one, without rows that count no more. Only in `exclusive`. */
  async rewrite(table: ShapeTable, runs: readonly TableRun[]): Promise<void> {
    try {
      await this.#rewriteRuns(table, runs);
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      for (const { reader } of runs) this.#unreadable.add(reader);
      const [first] = runs;
      const path = first?.reader.run.file.path;
      if (path !== undefined) this.#contents.damaged({ kind: 'page', path, reason: error.message });
    }
  }

  /** Runs count no more. Only in `exclusive`. */
  async remove(runs: readonly TableOfRun[]): Promise<void> {
    const { tables, segments } = this.#contents;
    const files = runs.map(({ run }) => run);
    await segments.exclusive(() =>
      segments.commit({
        remove: segmentsOf(files, segments),
        replayFrom: () => this.#chunks.replayFrom(),
        counts: () => {
          for (const { table, run } of runs) {
            table.exchange([run]);
            tables.settle(table);
          }
        },
      }),
    );
  }

  /** Resolves when the background work in progress has ended. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  #mergeable(): { table: ShapeTable; runs: readonly TableRun[] } | undefined {
    for (const table of this.#contents.tables.all()) {
      const runs = table.runs.map((run) => ({
        level: run.level,
        bytes: run.bytes,
        damaged: run.damaged || this.#unreadable.has(run.reader),
      }));
      const place = runsToMerge(runs, this.#contents.limits);
      if (place !== undefined) return { table, runs: table.runs.slice(...place) };
    }
    return undefined;
  }

  async #work(): Promise<void> {
    while (await this.exclusive(this.#mergeSome));
  }

  async #rewriteRuns(table: ShapeTable, runs: readonly TableRun[]): Promise<void> {
    const { tables, segments, tableRuns } = this.#contents;
    const { numbers } = tables;
    const retired = [...numbers.retired];
    const job = mergeJob(runs, this.#contents);
    const rows = runs.reduce((sum, { reader }) => sum + reader.run.index.head.rows, 0);
    const index = await this.makers.make(job, rows);
    if (index === undefined) return this.remove(runs.map((run) => ({ table, run })));
    await segments.exclusive(() =>
      segments.commit({
        addRun: { path: job.path, index, retired: retired.length },
        remove: segmentsOf(runs, segments),
        replayFrom: () => this.#chunks.replayFrom(),
        counts: (file) => {
          if (file === undefined) return;
          const since = [...numbers.retired].slice(retired.length);
          table.exchange(runs, tableRuns.open(file, index).without(since));
        },
      }),
    );
  }
}

function segmentsOf(runs: readonly TableRun[], segments: SegmentSet): Segment[] {
  const files = new Set(runs.map(({ reader }) => reader.run.file));
  return segments.segments.filter(({ file }) => files.has(file));
}

function mergeJob(
  runs: readonly TableRun[],
  { tables: { numbers }, registry, segments }: StoreContents,
): RunJob {
  const keepFrom = new Map<string, number>();
  for (const { workspaceId, dataFlowId, keepFrom: from } of registry.origins.all())
    if (from !== Number.NEGATIVE_INFINITY)
      keepFrom.set(JSON.stringify([workspaceId, dataFlowId]), from);
  const level = Math.max(...runs.map((run) => run.level));
  return {
    kind: 'merge',
    path: segments.newPath(),
    inputs: runs.map(({ reader }) => reader.run.file.path),
    without: new Set(numbers.retired),
    keepFrom,
    level: runs.length > 1 ? level + 1 : level,
  };
}

const sliceMs = 4;

export class TableSealer {
  readonly #contents: StoreContents;
  readonly #chunks: ChunkSealer;
  readonly #merger: TableMerger;
  readonly #tables: ShapeTables;
  readonly #registry: SeriesRegistry;
  readonly #limits: StoreLimits;
  #lookedAt = 0;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #sealing: SealingWork;
  /** Seals what is closed now: under load more is closed all the time, and this would never end. */
  readonly #sealEach = async (): Promise<number> => {
    const closed = new Set([...this.#tables.all()].flatMap(({ sealing }) => sealing));
    let expired = 0;
    for (
      let table = waitingTable(this.#tables);
      table !== undefined;
      table = waitingTable(this.#tables)
    ) {
      const [memtable] = table.sealing;
      expired += await this.#sealFirst(table);
      this.#sealing.letWritersOn();
      if (memtable !== undefined) closed.delete(memtable);
      if (closed.size === 0) break;
    }
    return expired;
  };
  readonly #work = async (): Promise<void> => {
    while (this.#tables.hasClosed) {
      await this.sealClosed();
      this.#merger.wake();
    }
  };
  /** Starts background work when there is some. */
  readonly wake = (): void => {
    if (this.#registry.journalledBytes - this.#lookedAt >= this.#limits.lookEveryBytes)
      this.#closeOverdue();
    if (this.#tables.hasClosed) this.#sealing.start();
  };
  /** Undefined when waiting memtables have room, else resolves when they may have. */
  readonly room = (): Promise<void> | undefined => {
    if (this.#tables.closedBytes <= this.#limits.closedMemtableBytesMax) return undefined;
    return this.#sealing.nextRoom();
  };
  /** Seals everything; rejects when the disk refuses. */
  readonly sealAll = async (): Promise<void> => {
    for (const table of this.#tables.all()) this.#tables.close(table);
    await this.sealClosed();
  };
  /** Resolves when the background work in progress has ended. */
  readonly idle = async (): Promise<void> => {
    while (this.#sealing.running() !== undefined) await this.#sealing.running();
  };

  constructor(contents: StoreContents, chunks: ChunkSealer, merger: TableMerger) {
    this.#contents = contents;
    this.#chunks = chunks;
    this.#merger = merger;
    const { tables, registry, limits } = contents;
    this.#tables = tables;
    this.#registry = registry;
    this.#limits = limits;
    this.#sealing = new SealingWork(this.#work, registry, limits, contents.failed);
  }

  /** Closes memtables that hold the journal back too far or take too much memory together. */
  #closeOverdue(): void {
    this.#lookedAt = this.#registry.journalledBytes;
    let bytes = 0;
    let largest: ShapeTable | undefined;
    for (const table of this.#tables.all()) {
      const { active } = table;
      if (active === undefined) continue;
      active.journalledSince ??= this.#lookedAt;
      if (
        active.isFull ||
        this.#lookedAt - active.journalledSince > this.#limits.journalTailBytes
      ) {
        this.#tables.close(table);
        continue;
      }
      bytes += active.bytes;
      if (active.bytes > (largest?.active?.bytes ?? 0)) largest = table;
    }
    if (bytes > this.#limits.memtableBytes && largest !== undefined) this.#tables.close(largest);
  }

  /** Runs the work while no memtable is being sealed. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /**
   * Seals the closed memtables, one sealing after the other; rejects when the disk refuses. Returns
   * how many rows had expired.
   */
  sealClosed(): Promise<number> {
    return this.exclusive(this.#sealEach);
  }

  /** The oldest closed memtable of the table becomes a run; returns how many of its rows had expired. */
  async #sealFirst(table: ShapeTable): Promise<number> {
    const { tables, segments, tableRuns, committed } = this.#contents;
    const chunks = this.#chunks;
    const { numbers } = tables;
    const [memtable] = table.sealing;
    if (memtable === undefined) return 0;
    await this.#moveToChunks(table, memtable);
    // Further devices may come while these are saved: the run must not need their numbers.
    const devices = numbers.count();
    // Before the run counts, because its rows have numbers only.
    await numbers.save();
    const rows = rowsOf(memtable);
    const coveredTo = memtable.lastPosition + 1;
    const sealedTo = Math.min(coveredTo, chunks.oldestUnsealed());
    const retired = [...numbers.retired];
    const note = { level: 0, sealedTo, coveredTo, devices, replaces: [] };
    const job = {
      kind: 'seal' as const,
      path: segments.newPath(),
      shape: table.shape.text,
      rows: memtable.toSeal(devices),
      without: new Set([...retired, ...memtable.forgotten]),
      note,
    };
    const index = rows === 0 ? undefined : await this.#merger.makers.make(job, memtable.length);
    if (index === undefined) {
      tables.sealed(table);
      tables.settle(table);
      return rows;
    }
    await segments.exclusive(() =>
      segments.commit({
        addRun: { path: job.path, index, retired: retired.length },
        remove: [],
        replayFrom: () => Math.min(chunks.oldestUnsealed(), tables.replayFrom(memtable)),
        counts: (file) => {
          if (file === undefined) return;
          const since = [...numbers.retired].slice(retired.length);
          table.addRun(tableRuns.open(file, index).without(since));
          tables.sealed(table);
        },
      }),
    );
    await committed();
    return rows - index.head.rows;
  }

  /** The rows of devices that have many become chunks, which readers find from then on. */
  async #moveToChunks(table: ShapeTable, memtable: Memtable): Promise<void> {
    const { tables, registry, slices, limits } = this.#contents;
    const chunks = this.#chunks;
    const busy: number[] = [];
    memtable.forEachDevice((device, rows) => {
      if (rows >= limits.chunkRowsMin) busy.push(device);
    });
    let sliceEnds = slices.clock() + sliceMs;
    for (const devices of jobsOf(busy, memtable, limits)) {
      const found = devices.flatMap((device) => {
        const deviceId = tables.numbers.idOf(device);
        const sorted = memtable.groupOf(device, -Infinity, Infinity)?.sorted();
        if (deviceId === undefined || sorted === undefined) return [];
        const series = registry.deviceOf(deviceId).seriesOf(table.topic);
        const sealedNewest = series.newestSoFar.at(-1) ?? Number.NEGATIVE_INFINITY;
        return [{ device, series, sorted, sealedNewest }];
      });
      const made = chunks.makers.make(found);
      const ofDevices = made instanceof Promise ? await made : made;
      for (const [i, { device, series }] of found.entries()) {
        // Deleted meanwhile.
        if (!memtable.has(device)) continue;
        for (const chunk of ofDevices[i] ?? []) chunks.adopt(series, chunk, memtable.firstPosition);
        memtable.forget(device);
        series.isBusy = true;
      }
      if (slices.clock() < sliceEnds) continue;
      await slices.pause();
      sliceEnds = slices.clock() + sliceMs;
    }
    if (busy.length > 0) chunks.wake();
  }
}

function waitingTable(tables: ShapeTables): ShapeTable | undefined {
  let oldest: ShapeTable | undefined;
  for (const table of tables.all()) {
    const [first] = table.sealing;
    const before = oldest?.sealing[0]?.firstPosition ?? Number.POSITIVE_INFINITY;
    if (first !== undefined && first.firstPosition < before) oldest = table;
  }
  return oldest;
}

/** The devices in groups of as many rows as one job takes. */
function* jobsOf(
  devices: readonly number[],
  memtable: Memtable,
  { chunkRowsPerJob }: StoreLimits,
): Generator<readonly number[]> {
  let job: number[] = [];
  let rows = 0;
  for (const device of devices) {
    job.push(device);
    rows += memtable.rowCount(device);
    if (rows < chunkRowsPerJob) continue;
    yield job;
    job = [];
    rows = 0;
  }
  if (job.length > 0) yield job;
}

function rowsOf(memtable: Memtable): number {
  return memtable.originRows.reduce((sum, [, rows]) => sum + rows, 0);
}
