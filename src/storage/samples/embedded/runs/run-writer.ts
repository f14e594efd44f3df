// Sealing: the rows of a memtable, sorted by device and time, become a run.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { DataShape } from '../../../log/data-shape.ts';
import { type DeviceRows, type PageRows, PageWriter, writeSlices } from './page-writer.ts';
import {
  encodeIndex,
  indexOf,
  type PlacedPage,
  runFormat,
  type RunIndex,
  type RunNote,
} from './run-file.ts';
import { type ColumnKind, columnKindOf, sectionsOf } from './page.ts';

/** The rows of a memtable in the order of storing. All arrays have at least `length` values. */
export interface MemtableRows {
  readonly length: number;
  readonly topic: string;
  /** Device numbers, all below `devices`. */
  readonly device: Uint32Array;
  readonly devices: number;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** Indices in `origins`. */
  readonly originIds: Uint16Array;
  readonly origins: readonly (readonly [string, string | null])[];
  /** By origin: rows before have expired and are omitted. */
  readonly keepFrom: readonly number[];
  /** 0 without meta, else an index in `texts` plus 1; absent when no row has meta. */
  readonly metaIds: Uint32Array | undefined;
  /** Numbers, booleans as 0 and 1, or indices in `texts`. */
  readonly columns: readonly (Float64Array | Uint8Array | Uint32Array)[];
  readonly texts: readonly string[];
}

/** Writes the run without syncing it; undefined when no row is left. Nothing stays on the disk when it throws. */
export function sealMemtable(
  job: {
    readonly path: string;
    readonly rows: MemtableRows;
    /** Rows of these devices are omitted: they were deleted, or their rows are in chunks. */
    readonly without: ReadonlySet<number>;
    readonly note: RunNote;
  },
  shape: DataShape,
): RunIndex | undefined {
  const { path, rows, without, note } = job;
  const { keepFrom } = rows;
  const isAnyLimited = keepFrom.some((from) => from !== Number.NEGATIVE_INFINITY);
  const { order, starts } = byDevice(rows);
  const { texts, origins, topic } = rows;
  const ofDevice = createDeviceRows(order, rows);
  return writeRun({ path, shape, topic, texts, origins, keepFrom, note }, (pages) => {
    let written = 0;
    for (let device = 0; device < rows.devices; device++) {
      const first = starts[device]!;
      const length = starts[device + 1]! - first;
      if (length === 0 || without.has(device)) continue;
      ofDevice.begin(
        device,
        first,
        isAnyLimited ? keepUnexpired(order, first, length, rows) : length,
      );
      sortByTime(order, first, ofDevice.length, rows.timestamps);
      writeSlices(pages, ofDevice);
      written += ofDevice.length;
    }
    return written;
  });
}

/** The rows of each device one after the other, in the order of storing: a counting sort. */
function byDevice({ device, devices, length }: MemtableRows) {
  const starts = new Uint32Array(devices + 1);
  for (let row = 0; row < length; row++) starts[device[row]! + 1]!++;
  for (let i = 0; i < devices; i++) starts[i + 1]! += starts[i]!;
  const next = starts.slice();
  const order = new Uint32Array(length);
  for (let row = 0; row < length; row++) order[next[device[row]!]!++] = row;
  return { order, starts };
}

/** Moves the rows that have not expired to the beginning; returns their number. */
function keepUnexpired(
  order: Uint32Array,
  first: number,
  length: number,
  { timestamps, originIds, keepFrom }: MemtableRows,
): number {
  let kept = 0;
  for (let at = first; at < first + length; at++) {
    const row = order[at]!;
    if (timestamps[row]! >= keepFrom[originIds[row]!]!) order[first + kept++] = row;
  }
  return kept;
}

/** Most devices send in the order of time; rows of one instant stay in the order of storing. */
function sortByTime(
  order: Uint32Array,
  first: number,
  length: number,
  timestamps: Float64Array,
): void {
  const end = first + length;
  for (let i = first + 1; i < end; i++) {
    if (timestamps[order[i]!]! >= timestamps[order[i - 1]!]!) continue;
    order.subarray(first, end).sort((a, b) => timestamps[a]! - timestamps[b]! || a - b);
    return;
  }
}

/** The rows of one device after the other. One object for all, because most devices have few. */
function createDeviceRows(order: Uint32Array, rows: MemtableRows) {
  const { timestamps, orders, originIds, metaIds, columns } = rows;
  let first = 0;

  const ofDevice = {
    device: 0,
    length: 0,
    timestamps,
    begin(device: number, from: number, length: number): void {
      ofDevice.device = device;
      ofDevice.length = length;
      first = from;
    },
    at: (place: number) => order[first + place]!,
    copy(from: number, length: number, page: PageRows, to: number): void {
      const places = { order, from: first + from, length, to };
      copyDoubles(timestamps, page.timestamps, places);
      copyDoubles(orders, page.orders, places);
      copyShorts(originIds, page.origins, places);
      for (let i = 0; i < columns.length; i++) copyValues(columns[i]!, page.columns[i]!, places);
      if (metaIds === undefined) page.metas.fill(0, to, to + length);
      else copyWords(metaIds, page.metas, places);
    },
  };
  return ofDevice satisfies DeviceRows;
}

/** Rows of a memtable, and the first of them on the page. */
interface CopiedPlaces {
  readonly order: Uint32Array;
  readonly from: number;
  readonly length: number;
  readonly to: number;
}

function copyValues(
  source: MemtableRows['columns'][number],
  target: Float64Array,
  places: CopiedPlaces,
): void {
  if (source instanceof Float64Array) copyDoubles(source, target, places);
  else if (source instanceof Uint8Array) copyBytes(source, target, places);
  else copyWords(source, target, places);
}

// One function for each type of array: the compiler makes quick code only for one type.

function copyDoubles(
  source: Float64Array,
  target: Float64Array,
  { order, from, length, to }: CopiedPlaces,
): void {
  for (let i = 0; i < length; i++) target[to + i] = source[order[from + i]!]!;
}

function copyWords(
  source: Uint32Array,
  target: Float64Array,
  { order, from, length, to }: CopiedPlaces,
): void {
  for (let i = 0; i < length; i++) target[to + i] = source[order[from + i]!]!;
}

function copyShorts(
  source: Uint16Array,
  target: Float64Array,
  { order, from, length, to }: CopiedPlaces,
): void {
  for (let i = 0; i < length; i++) target[to + i] = source[order[from + i]!]!;
}

function copyBytes(
  source: Uint8Array,
  target: Float64Array,
  { order, from, length, to }: CopiedPlaces,
): void {
  for (let i = 0; i < length; i++) target[to + i] = source[order[from + i]!]!;
}

// Run writer: writes the pages and then the index; its calls to the disk are synchronous.

/** Bytes of pages that are written with one call. */
const writeBytes = 1 << 20;

interface NewRun {
  readonly path: string;
  readonly shape: DataShape;
  readonly topic: string;
  /** May grow until `end`; rows refer to them by index. */
  readonly texts: readonly string[];
  readonly origins: readonly (readonly [string, string | null])[];
  /** By origin: rows before have expired and were omitted. */
  readonly keepFrom: readonly number[];
  readonly note: RunNote;
}

/**
 * Writes the run without syncing it; undefined when `writeRows` returns that it wrote no row.
 * Nothing stays on the disk then, nor when it throws.
 */
export function writeRun(
  newRun: NewRun,
  writeRows: (pages: PageWriter) => number,
): RunIndex | undefined {
  const run = new RunWriter(newRun);
  try {
    if (writeRows(run.pages) > 0) return run.end();
  } catch (error) {
    run.discard();
    throw error;
  }
  run.discard();
  return undefined;
}

/** Creates the file, which is whole when `end` has returned. */
class RunWriter {
  readonly #path: string;
  readonly #shape: DataShape;
  readonly #topic: string;
  readonly #origins: readonly (readonly [string, string | null])[];
  readonly #keepFrom: readonly number[];
  readonly #note: RunNote;
  readonly #kinds: ColumnKind[];
  readonly #file: {
    length: () => number;
    write: (bytes: Uint8Array) => void;
    end: () => void;
    close: () => void;
  };
  readonly #placed: PlacedPage[] = [];
  readonly #originRows: number[];
  #maxOrder = -1;
  readonly #pages: PageWriter;

  constructor(run: NewRun) {
    const { path, shape, topic, texts, origins, keepFrom, note } = run;
    this.#path = path;
    this.#shape = shape;
    this.#topic = topic;
    this.#origins = origins;
    this.#keepFrom = keepFrom;
    this.#note = note;
    this.#kinds = this.#shape.leaves.map(({ kind }) => columnKindOf(kind));
    this.#file = openFileWriter(this.#path);
    this.#originRows = this.#origins.map(() => 0);
    this.#pages = new PageWriter({
      kinds: this.#kinds,
      texts,
      emit: (entry, bytes) => {
        this.#placed.push({ ...entry, offset: this.#file.length() });
        this.#file.write(bytes);
        const { origins: ids, orders } = this.#pages.rows;
        for (let row = 0; row < entry.rows; row++) {
          this.#originRows[ids[row]!]!++;
          if (orders[row]! > this.#maxOrder) this.#maxOrder = orders[row]!;
        }
      },
    });
  }

  get pages(): PageWriter {
    return this.#pages;
  }

  /** Writes the index; the file is not synced. */
  end(): RunIndex {
    this.#pages.flush();
    const head = {
      format: runFormat,
      shape: this.#shape.text,
      topic: this.#topic,
      rows: this.#placed.reduce((sum, { rows }) => sum + rows, 0),
      oldest: this.#placed.reduce((least, { oldest }) => Math.min(least, oldest), Infinity),
      newest: this.#placed.reduce((most, { newest }) => Math.max(most, newest), -Infinity),
      pages: this.#placed.length,
      sections: sectionsOf(this.#kinds.length),
      origins: this.#origins,
      originRows: this.#originRows,
      keptFrom: this.#keepFrom.map((from) => (Number.isFinite(from) ? from : null)),
      maxOrder: this.#maxOrder,
      ...this.#note,
    };
    const index = indexOf(head, this.#placed, 0);
    this.#file.write(encodeIndex(index));
    this.#file.end();
    return { ...index, bytes: this.#file.length() };
  }

  /** Removes what was written. */
  discard(): void {
    this.#file.close();
    rmSync(this.#path, { force: true });
  }
}

/** Collects bytes and writes them in large parts. */
function openFileWriter(path: string) {
  const fd = openSync(path, 'w');
  const waiting = Buffer.allocUnsafeSlow(writeBytes);
  let filled = 0;
  let written = 0;
  let isOpen = true;

  function writeAll(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    written += bytes.length;
  }

  function flush(): void {
    const bytes = waiting.subarray(0, filled);
    filled = 0;
    writeAll(bytes);
  }

  function close(): void {
    if (isOpen) closeSync(fd);
    isOpen = false;
  }

  return {
    length: (): number => written + filled,
    write: (bytes: Uint8Array): void => {
      if (filled + bytes.length > waiting.length) flush();
      if (bytes.length > waiting.length) {
        writeAll(bytes);
        return;
      }
      waiting.set(bytes, filled);
      filled += bytes.length;
    },
    end: (): void => {
      flush();
      close();
    },
    close,
  };
}
