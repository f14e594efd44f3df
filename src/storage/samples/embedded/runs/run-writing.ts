// Run writing: what the thread of runs is asked to do, as messages, and a job done where it is called.
import type { DataShape } from '../../../log/data-shape.ts';
import { RunFile, type RunIndex, type RunNote } from './run-file.ts';
import { type MemtableRows, sealMemtable, writeRun as writeRunFile } from './run-writer.ts';
import { grown } from '../../../../structures/bytes.ts';
import { type CursorRows, RunCursor } from './run-cursor.ts';
import { SegmentFile } from '../segments/segment-file.ts';
import { pageRowsMax } from './page-format.ts';
import { writeSlices } from './page-writer.ts';

/** Writes the file of the job without syncing it; undefined when no row was left. */
export function writeRun(job: RunJob, shapeOf: (text: string) => DataShape): RunIndex | undefined {
  if (job.kind === 'merge') return mergeRuns(job, shapeOf);
  return sealMemtable(job, shapeOf(job.shape));
}

// Run jobs: what the thread of runs is asked to do, as messages.

export type RunJob =
  | {
      readonly kind: 'seal';
      readonly path: string;
      readonly shape: string;
      /** Its arrays are shared memory. */
      readonly rows: MemtableRows;
      readonly without: ReadonlySet<number>;
      readonly note: RunNote;
    }
  | ({ readonly kind: 'merge' } & MergeJob);

// Run merging: several runs become one, without rows that no longer count.

interface MergeJob {
  readonly path: string;
  readonly inputs: readonly string[];
  /** Rows of these devices are omitted: they were deleted. */
  readonly without: ReadonlySet<number>;
  /** For each [workspace, data flow] as JSON the time before which rows have expired. */
  readonly keepFrom: ReadonlyMap<string, number>;
  readonly level: number;
}

/** Writes the run without syncing it; undefined when no row is left. Throws DamagedChunk when an input cannot be read; nothing stays on the disk then. */
export function mergeRuns(
  job: MergeJob,
  shapeOf: (text: string) => DataShape,
): RunIndex | undefined {
  const files: SegmentFile[] = [];
  try {
    for (const path of job.inputs) files.push(new SegmentFile(path));
    return mergeInto(
      job,
      files.map((file) => new RunFile(file)),
      shapeOf,
    );
  } finally {
    for (const file of files) file.close();
  }
}

function mergeInto(
  job: MergeJob,
  runs: readonly RunFile[],
  shapeOf: (text: string) => DataShape,
): RunIndex | undefined {
  const { shape: shapeText, topic } = runs[0]!.index.head;
  const shape = shapeOf(shapeText);
  const texts = createNumbering<string>();
  const origins = mergedOrigins(runs);
  const keepFrom = origins.list.map(
    (origin) => job.keepFrom.get(JSON.stringify(origin)) ?? Number.NEGATIVE_INFINITY,
  );
  const inputs = runs.map((input, i): MergeInput => {
    const cursor = new RunCursor(input, shape, texts.idOf);
    return { cursor, columns: columnsOf(cursor.rows), originIds: origins.idsOf[i]! };
  });
  const gathered = createGatheredRows(shape.leaves.length, keepFrom);
  const run = {
    path: job.path,
    shape,
    topic,
    texts: texts.list,
    origins: origins.list,
    keepFrom,
    note: {
      level: job.level,
      sealedTo: Math.max(...runs.map(({ index }) => index.head.sealedTo)),
      coveredTo: Math.max(...runs.map(({ index }) => index.head.coveredTo)),
      devices: Math.max(...runs.map(({ index }) => index.head.devices)),
      replaces: runs.map(({ file }) => file.name),
    },
  };
  return writeRunFile(run, (pages) => {
    let written = 0;
    for (let device = leastDevice(inputs); device !== Infinity; device = leastDevice(inputs)) {
      gathered.clear();
      for (const input of inputs)
        for (const { cursor } = input; cursor.device() === device; cursor.next())
          gathered.add(input, cursor.first(), cursor.end());
      if (gathered.length() === 0 || job.without.has(device)) continue;
      writeSlices(pages, gathered.deviceRows(device));
      written += gathered.length();
    }
    return written;
  });
}

interface MergeInput {
  readonly cursor: RunCursor;
  /** Of its rows; the arrays stay the same. */
  readonly columns: readonly Float64Array[];
  /** Its origins as places in the list of all. */
  readonly originIds: readonly number[];
}

function columnsOf(rows: CursorRows): Float64Array[] {
  return [rows.timestamps, rows.orders, rows.origins, rows.metas, ...rows.columns];
}

function leastDevice(inputs: readonly MergeInput[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { cursor } of inputs) least = Math.min(least, cursor.device());
  return least;
}

/** Numbers for values in the order in which they come. */
function createNumbering<T>() {
  const list: T[] = [];
  const ids = new Map<T, number>();
  return {
    list,
    idOf: (value: T): number => {
      let id = ids.get(value);
      if (id === undefined) {
        id = list.push(value) - 1;
        ids.set(value, id);
      }
      return id;
    },
  };
}

/** The origins of all inputs, each once, and for each input its own places in that list. */
function mergedOrigins(runs: readonly RunFile[]) {
  const known = createNumbering<string>();
  const idsOf = runs.map(({ index }) =>
    index.head.origins.map((origin) => known.idOf(JSON.stringify(origin))),
  );
  const list = known.list.map((text) => JSON.parse(text) as [string, string | null]);
  return { list, idsOf };
}

/** Rows of one device from several runs. `keepFrom` has a time for each origin. */
function createGatheredRows(columnCount: number, keepFrom: readonly number[]) {
  const timestampsAt = 0;
  const ordersAt = 1;
  const originsAt = 2;
  let places = new Uint32Array(1_024);
  const kept = new Uint32Array(pageRowsMax);
  // See `columnsOf`.
  let columns = Array.from({ length: 4 + columnCount }, () => new Float64Array(1_024));
  let length = 0;
  let isSorted = true;

  function makeRoom(rows: number): void {
    let capacity = columns[timestampsAt]!.length;
    while (capacity < rows) capacity *= 2;
    if (capacity > columns[timestampsAt]!.length)
      columns = columns.map((column) => grown(column, capacity));
  }

  /** Lists the rows of a slice that have not expired in `kept`; returns their number. */
  function keepRows(
    sources: readonly Float64Array[],
    originIds: readonly number[],
    first: number,
    end: number,
  ): number {
    const timestamps = sources[timestampsAt]!;
    const origins = sources[originsAt]!;
    let count = 0;
    for (let row = first; row < end; row++)
      if (timestamps[row]! >= keepFrom[originIds[origins[row]!]!]!) kept[count++] = row;
    return count;
  }

  /** Notes whether rows from `from` on are where they belong. */
  function checkOrder(from: number): void {
    const timestamps = columns[timestampsAt]!;
    const orders = columns[ordersAt]!;
    for (let row = Math.max(1, from); row < length && isSorted; row++) {
      const byTime = timestamps[row]! - timestamps[row - 1]!;
      isSorted = byTime > 0 || (byTime === 0 && orders[row]! >= orders[row - 1]!);
    }
  }

  /** By time; rows of one instant in the order of storing. */
  function sortPlaces(): void {
    if (places.length < length) places = new Uint32Array(2 * length);
    for (let i = 0; i < length; i++) places[i] = i;
    if (isSorted) return;
    const timestamps = columns[timestampsAt]!;
    const orders = columns[ordersAt]!;
    places
      .subarray(0, length)
      .sort((a, b) => timestamps[a]! - timestamps[b]! || orders[a]! - orders[b]!);
  }

  function copy(from: number, count: number, page: CursorRows, to: number): void {
    const targets = columnsOf(page);
    for (let column = 0; column < columns.length; column++) {
      const source = columns[column]!;
      const target = targets[column]!;
      if (isSorted) for (let i = 0; i < count; i++) target[to + i] = source[from + i]!;
      else for (let i = 0; i < count; i++) target[to + i] = source[places[from + i]!]!;
    }
  }

  const at = (place: number): number => places[place]!;

  return {
    length: (): number => length,
    clear: (): void => {
      length = 0;
      isSorted = true;
    },
    add: ({ columns: sources, originIds }: MergeInput, first: number, end: number): void => {
      const before = length;
      const count = keepRows(sources, originIds, first, end);
      makeRoom(before + count);
      // Column by column: the arrays of a loop stay the same.
      for (let i = 0; i < sources.length; i++) {
        const source = sources[i]!;
        const target = columns[i]!;
        for (let k = 0; k < count; k++) target[before + k] = source[kept[k]!]!;
      }
      length += count;
      const ids = columns[originsAt]!;
      for (let row = before; row < length; row++) ids[row] = originIds[ids[row]!]!;
      checkOrder(before);
    },
    deviceRows: (device: number) => {
      sortPlaces();
      return { device, length, at, timestamps: columns[timestampsAt]!, copy };
    },
  };
}
