// Table merger: joins neighboring runs and removes rows that no longer count, one change at a time.
import { DamagedChunk } from '../chunks/chunk.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { SeriesRegistry } from '../rows/series-registry.ts';
import type { RunJob } from '../runs/run-writing.ts';
import { runsToMerge, type TableRun } from './table-run.ts';
import type { RunMakers } from '../runs/run-makers.ts';
import type { RunReader } from '../runs/run-reader.ts';
import type { Segment, SegmentSet } from '../segments/segment-set.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { ShapeTable } from './shape-table.ts';
import type { ShapeTables } from './shape-tables.ts';
import type { TableRuns } from './table-runs.ts';

interface TableMergerParts {
  readonly tables: ShapeTables;
  readonly tableRuns: TableRuns;
  readonly segments: SegmentSet;
  readonly chunks: ChunkSealer;
  readonly makers: RunMakers;
  readonly registry: SeriesRegistry;
  readonly limits: StoreLimits;
  /** Called with the path of a file that turned out damaged. */
  readonly damaged: (path: string, reason: string) => void;
  /** Background work failed; it is tried again later. */
  readonly failed: (error: unknown) => void;
}

export interface TableOfRun {
  readonly table: ShapeTable;
  readonly run: TableRun;
}

export class TableMerger {
  readonly #parts: TableMergerParts;
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

  constructor(parts: TableMergerParts) {
    this.#parts = parts;
  }

  /** Starts merging when there is something to merge. */
  readonly wake = (): void => {
    if (this.#mergeable() === undefined) return;
    this.#working ??= this.#work()
      .catch(this.#parts.failed)
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
      await rewriteRuns(table, runs, this.#parts);
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      for (const { reader } of runs) this.#unreadable.add(reader);
      const [first] = runs;
      if (first !== undefined) this.#parts.damaged(first.reader.run.file.path, error.message);
    }
  }

  /** Runs count no more. Only in `exclusive`. */
  remove(runs: readonly TableOfRun[]): Promise<void> {
    return removeRuns(runs, this.#parts);
  }

  /** Resolves when the background work in progress has ended. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  #mergeable(): { table: ShapeTable; runs: readonly TableRun[] } | undefined {
    for (const table of this.#parts.tables.all()) {
      const runs = table.runs.map((run) => ({
        level: run.level,
        bytes: run.bytes,
        damaged: run.damaged || this.#unreadable.has(run.reader),
      }));
      const place = runsToMerge(runs, this.#parts.limits);
      if (place !== undefined) return { table, runs: table.runs.slice(...place) };
    }
    return undefined;
  }

  async #work(): Promise<void> {
    while (await this.exclusive(this.#mergeSome));
  }
}

async function rewriteRuns(
  table: ShapeTable,
  runs: readonly TableRun[],
  parts: TableMergerParts,
): Promise<void> {
  const { tables, segments, tableRuns } = parts;
  const { numbers } = tables;
  const retired = [...numbers.retired];
  const job = mergeJob(runs, parts);
  const rows = runs.reduce((sum, { reader }) => sum + reader.run.index.head.rows, 0);
  const index = await parts.makers.make(job, rows);
  if (index === undefined) {
    await removeRuns(
      runs.map((run) => ({ table, run })),
      parts,
    );
    return;
  }
  await segments.exclusive(() =>
    segments.commit({
      addRun: { path: job.path, index, retired: retired.length },
      remove: segmentsOf(runs, segments),
      replayFrom: () => replayFrom(parts),
      counts: (file) => {
        if (file === undefined) return;
        const since = [...numbers.retired].slice(retired.length);
        table.exchange(runs, tableRuns.open(file, index).without(since));
      },
    }),
  );
}

async function removeRuns(runs: readonly TableOfRun[], parts: TableMergerParts): Promise<void> {
  const { tables, segments } = parts;
  const files = runs.map(({ run }) => run);
  await segments.exclusive(() =>
    segments.commit({
      remove: segmentsOf(files, segments),
      replayFrom: () => replayFrom(parts),
      counts: () => {
        for (const { table, run } of runs) {
          table.exchange([run]);
          tables.settle(table);
        }
      },
    }),
  );
}

function replayFrom({ chunks, tables }: TableMergerParts): number {
  return Math.min(chunks.oldestUnsealed(), tables.replayFrom());
}

function segmentsOf(runs: readonly TableRun[], segments: SegmentSet): Segment[] {
  const files = new Set(runs.map(({ reader }) => reader.run.file));
  return segments.segments.filter(({ file }) => files.has(file));
}

function mergeJob(
  runs: readonly TableRun[],
  { tables: { numbers }, registry, segments }: TableMergerParts,
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
