// Run writing: what the thread of runs is asked to do, as messages, and a job done where it is called.
import type { DataShape } from '../../../log/data-shape.ts';
import { pageBytes, RunFile, type RunIndex, type RunNote, type RunPage } from './run-file.ts';
import { type MemtableRows, sealMemtable, writeRun as writeRunFile } from './run-writer.ts';
import { grown } from '../../../../structures/bytes.ts';
import { SegmentFile } from '../segments/segment-file.ts';
import {
  type ColumnKind,
  columnKindOf,
  fixedPageSections,
  PackedBlock,
  pageRowsMax,
  pageSections,
  IntColumn,
  PageSlices,
  TextColumn,
} from './page.ts';
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

// Run cursor: walks the slices of a run in order, with whole pages decoded, for merging and checking.

/** The rows of the slice at the cursor: rows `first` to `end` of the arrays. */
export interface CursorRows {
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** Indices in the origins of the run. */
  readonly origins: Float64Array;
  /** 0 without meta, else a number of `textId` plus 1. */
  readonly metas: Float64Array;
  /** Numbers, booleans as 0 and 1, or numbers of `textId`. */
  readonly columns: readonly Float64Array[];
}

/**
 * Begins at the first slice. `textId` numbers texts across runs. Throws DamagedChunk, also from
 * `next`.
 */
export class RunCursor {
  readonly #run: RunFile;
  readonly #textId: (text: string) => number;
  readonly #kinds: ColumnKind[];
  readonly #rows: CursorRows;
  readonly #pages = createPageRoom();
  #page = -1;
  #slice = 0;
  #slices: PageSlices | undefined;

  constructor(run: RunFile, shape: DataShape, textId: (text: string) => number) {
    this.#run = run;
    this.#textId = textId;
    this.#kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
    this.#rows = newCursorRows(this.#kinds.length);
    this.#loadPage();
  }

  get rows(): CursorRows {
    return this.#rows;
  }

  /** Device of the slice at the cursor; Infinity behind the last. */
  device(): number {
    return this.#slices?.devices[this.#slice] ?? Number.POSITIVE_INFINITY;
  }

  first(): number {
    return this.#slices?.starts[this.#slice] ?? 0;
  }

  end(): number {
    return this.#slices?.starts[this.#slice + 1] ?? 0;
  }

  next(): void {
    this.#slice++;
    if (this.#slices === undefined || this.#slice === this.#slices.count) this.#loadPage();
  }

  #loadPage(): void {
    this.#page++;
    this.#slice = 0;
    this.#slices =
      this.#page < this.#run.index.head.pages
        ? readPage(this.#pages.load(this.#run, this.#page), this.#kinds, {
            rows: this.#rows,
            textId: this.#textId,
          })
        : undefined;
  }
}

/** Room for a page. */
export function newCursorRows(columns: number): CursorRows {
  const values = (): Float64Array => new Float64Array(pageRowsMax);
  return {
    timestamps: values(),
    orders: values(),
    origins: values(),
    metas: values(),
    columns: Array.from({ length: columns }, values),
  };
}

/** Room for the bytes of one page after the other. */
export function createPageRoom() {
  let room = new Uint8Array(0);
  return {
    /** Valid until the next one is loaded. Throws DamagedChunk. */
    load: (run: RunFile, page: number): RunPage => {
      const bytes = pageBytes(run.index, page);
      if (room.length < bytes) room = new Uint8Array(2 * bytes);
      return run.page(page, room);
    },
  };
}

/** Decodes the page into `rows`. Throws DamagedChunk. */
export function readPage(
  page: RunPage,
  kinds: readonly ColumnKind[],
  into: { readonly rows: CursorRows; readonly textId: (text: string) => number },
): PageSlices {
  const { rows, textId } = into;
  const slices = new PageSlices(page.needed(pageSections.slices));
  const times = new PackedBlock(page.needed(pageSections.times), 0);
  readDifferences(times, slices, slices.firsts, rows.timestamps);
  readInts(page.needed(pageSections.orders), slices, rows.orders);
  readInts(page.needed(pageSections.origins), slices, rows.origins);
  const metas = page.section(pageSections.metas);
  if (metas === undefined) rows.metas.fill(0);
  else readTexts(metas, rows.metas, (text) => (text === '' ? 0 : textId(text) + 1));
  for (const [i, kind] of kinds.entries()) {
    const content = page.needed(fixedPageSections + i);
    if (kind === 'text') readTexts(content, rows.columns[i]!, textId);
    else readInts(content, slices, rows.columns[i]!);
  }
  return slices;
}

function readInts(content: Uint8Array, slices: PageSlices, target: Float64Array): void {
  const { block, differences, power } = new IntColumn(content);
  const length = slices.starts[slices.count]!;
  if (differences === undefined) block.read(0, length, target, 0);
  else {
    block.read(0, slices.count, firsts, 0);
    readDifferences(differences, slices, firsts, target);
  }
  if (power > 1) for (let i = 0; i < length; i++) target[i] = target[i]! / power;
}

// Used again for every column.
const firsts = new Float64Array(pageRowsMax);
const steps = new Float64Array(pageRowsMax);

/** Adds the differences within each slice to its first value. */
function readDifferences(
  differences: PackedBlock,
  { starts, count }: PageSlices,
  firstOf: Float64Array,
  target: Float64Array,
): void {
  differences.read(0, starts[count]! - count, steps, 0);
  for (let slice = 0, step = 0, row = 0; slice < count; slice++) {
    let value = firstOf[slice]!;
    target[row++] = value;
    for (const end = starts[slice + 1]!; row < end; row++) {
      value += steps[step++]!;
      target[row] = value;
    }
  }
}

function readTexts(
  content: Uint8Array,
  target: Float64Array,
  textId: (text: string) => number,
): void {
  const { ids, texts } = new TextColumn(content);
  const numbers = texts.map(textId);
  ids.read(0, ids.length, target, 0);
  for (let i = 0; i < ids.length; i++) target[i] = numbers[target[i]!]!;
}
