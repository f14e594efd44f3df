// Table sealer: closed memtables become runs and runs are merged, in the background, each on a thread of its own.
import type { Origin } from '../rows/origin.ts';
import type { RunIndex } from '../runs/run-index.ts';
import type { RunJob } from '../runs/run-jobs.ts';
import { type LevelLimits, runsToMerge } from '../runs/run-levels.ts';
import type { RunThread } from '../runs/run-thread.ts';
import type { DeviceNumbers } from './device-numbers.ts';
import type { Memtable } from './memtable.ts';
import type { ShapeTable, ShapeTables, TableRun } from './shape-tables.ts';

export interface TableSealerLimits extends LevelLimits {
  /** Memory of all memtables; beyond, the largest is sealed. */
  readonly memtableBytes: number;
  /** Memory of memtables that wait to be sealed; beyond, writers wait. */
  readonly waitingBytesMax: number;
  /** Rows that were in the journal for this many of its bytes are sealed, however few they are. */
  readonly journalTailBytes: number;
}

/** A run that was written and has to count. */
export interface NewRun {
  readonly path: string;
  readonly index: RunIndex;
  /** Runs whose rows are in the new one. */
  readonly replaces: readonly TableRun[];
  readonly table: ShapeTable;
  /** Called when the run counts: replaces what readers had before. */
  readonly counts: (run: TableRun) => void;
}

export interface TableSealerParts {
  readonly tables: ShapeTables;
  readonly numbers: DeviceNumbers;
  readonly sealThread: RunThread;
  readonly mergeThread: RunThread;
  readonly limits: TableSealerLimits;
  /** A path for a file under construction that no other file has. */
  readonly newPath: () => string;
  /** Makes the run count. Rejects without effect when the disk refuses. */
  readonly commit: (run: NewRun) => Promise<void>;
  /** Makes runs that lost all rows count no more. */
  readonly remove: (runs: readonly TableRun[], counts: () => void) => Promise<void>;
  readonly origins: () => Iterable<Origin>;
  readonly journalledBytes: () => number;
  /** Background work failed; it is tried again later. */
  readonly failed: (error: unknown) => void;
}

export interface TableSealer {
  /** Starts background work when there is some. */
  readonly wake: () => void;
  /** Seals everything; rejects when the disk refuses. */
  readonly sealAll: () => Promise<void>;
  /** Undefined when waiting memtables have room, else resolves when they may have. */
  readonly room: () => Promise<void> | undefined;
  /** Resolves when the background work in progress has ended. */
  readonly idle: () => Promise<void>;
}

export function createTableSealer(parts: TableSealerParts): TableSealer {
  const { tables, limits } = parts;
  const firstBytes = new WeakMap<Memtable, number>();
  let sealing: Promise<void> | undefined;
  let merging: Promise<void> | undefined;
  let roomed: PromiseWithResolvers<void> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  /** Closes memtables that hold the journal back too far or take too much memory together. */
  function closeOverdue(): void {
    const journalled = parts.journalledBytes();
    let bytes = 0;
    let largest: ShapeTable | undefined;
    for (const table of tables.all()) {
      const { active } = table;
      if (active === undefined) continue;
      const since = firstBytes.get(active) ?? journalled;
      firstBytes.set(active, since);
      if (active.isFull || journalled - since > limits.journalTailBytes) {
        tables.close(table);
        continue;
      }
      bytes += active.bytes;
      if (active.bytes > (largest?.active?.bytes ?? 0)) largest = table;
    }
    if (bytes > limits.memtableBytes && largest !== undefined) tables.close(largest);
  }

  function waitingTable(): ShapeTable | undefined {
    let oldest: ShapeTable | undefined;
    for (const table of tables.all()) {
      const [first] = table.sealing;
      const before = oldest?.sealing[0]?.firstPosition ?? Number.POSITIVE_INFINITY;
      if (first !== undefined && first.firstPosition < before) oldest = table;
    }
    return oldest;
  }

  async function sealWaiting(): Promise<void> {
    for (let table = waitingTable(); table !== undefined; table = waitingTable()) {
      await sealFirst(table, parts);
      roomed?.resolve();
      roomed = undefined;
    }
  }

  function startSealing(): void {
    const isBackingOff = parts.journalledBytes() - failedAt < limits.journalTailBytes / 64;
    if (sealing !== undefined || isBackingOff || waitingTable() === undefined) return;
    sealing = sealWaiting()
      .catch((error: unknown) => {
        failedAt = parts.journalledBytes();
        parts.failed(error);
      })
      .finally(() => {
        sealing = undefined;
        roomed?.resolve();
        roomed = undefined;
        startMerging();
      });
  }

  function startMerging(): void {
    if (merging !== undefined) return;
    const found = mergeable(tables, limits);
    if (found === undefined) return;
    merging = merge(found.table, found.runs, parts)
      .then(
        () => true,
        (error: unknown) => {
          parts.failed(error);
          return false;
        },
      )
      .then((isMerged) => {
        merging = undefined;
        if (isMerged) startMerging();
      });
  }

  return {
    wake: () => {
      closeOverdue();
      startSealing();
    },
    room: () => {
      if (sealing === undefined || waitingBytes(tables) <= limits.waitingBytesMax) return undefined;
      roomed ??= Promise.withResolvers();
      return roomed.promise;
    },
    sealAll: async () => {
      for (const table of tables.all()) tables.close(table);
      await sealing;
      await sealWaiting();
    },
    idle: async () => {
      while (sealing !== undefined || merging !== undefined) await (sealing ?? merging);
    },
  };
}

function waitingBytes(tables: ShapeTables): number {
  let bytes = 0;
  for (const { sealing } of tables.all()) for (const memtable of sealing) bytes += memtable.bytes;
  return bytes;
}

/** The oldest closed memtable of the table becomes a run. */
async function sealFirst(table: ShapeTable, parts: TableSealerParts): Promise<void> {
  const [memtable] = table.sealing;
  if (memtable === undefined) return;
  const { numbers } = parts;
  // Before the run counts, because its rows have numbers only.
  numbers.save();
  const sealedTo = memtable.lastPosition + 1;
  const path = parts.newPath();
  const index = await parts.sealThread.run({
    kind: 'seal',
    path,
    shape: table.shape.text,
    rows: memtable.toSeal(numbers.count()),
    without: new Set(numbers.retired),
    note: { level: 0, sealedTo, devices: numbers.count(), replaces: [] },
  });
  const counts = (run?: TableRun): void => {
    if (run !== undefined) table.runs.push(run);
    table.sealing.splice(table.sealing.indexOf(memtable), 1);
    table.sealedTo = Math.max(table.sealedTo, sealedTo);
  };
  if (index === undefined) counts();
  else await parts.commit({ path, index, table, replaces: [], counts });
}

function mergeable(
  tables: ShapeTables,
  limits: LevelLimits,
): { readonly table: ShapeTable; readonly runs: readonly TableRun[] } | undefined {
  for (const table of tables.all()) {
    const place = runsToMerge(table.runs, limits);
    if (place !== undefined) return { table, runs: table.runs.slice(...place) };
  }
  return undefined;
}

/** Neighboring runs become one, or none when all their rows are expired or deleted. */
export async function merge(
  table: ShapeTable,
  runs: readonly TableRun[],
  parts: Pick<
    TableSealerParts,
    'numbers' | 'mergeThread' | 'newPath' | 'commit' | 'remove' | 'origins'
  >,
): Promise<void> {
  const path = parts.newPath();
  const index = await parts.mergeThread.run(mergeJob(path, runs, parts));
  const exchange = (merged: readonly TableRun[]): void => {
    const first = table.runs.findIndex((run) => runs.includes(run));
    table.runs = table.runs.filter((run) => !runs.includes(run)).toSpliced(first, 0, ...merged);
  };
  if (index === undefined) await parts.remove(runs, () => exchange([]));
  else await parts.commit({ path, index, table, replaces: runs, counts: (run) => exchange([run]) });
}

function mergeJob(
  path: string,
  runs: readonly TableRun[],
  { numbers, origins }: Pick<TableSealerParts, 'numbers' | 'origins'>,
): RunJob {
  const keepFrom = new Map<string, number>();
  for (const origin of origins())
    if (origin.keepFrom !== Number.NEGATIVE_INFINITY)
      keepFrom.set(JSON.stringify([origin.workspaceId, origin.dataFlowId]), origin.keepFrom);
  const level = Math.max(...runs.map((run) => run.level));
  return {
    kind: 'merge',
    path,
    inputs: runs.map(({ reader }) => reader.run.file.path),
    without: new Set(numbers.retired),
    keepFrom,
    level: runs.length > 1 ? level + 1 : level,
  };
}
