// Sealing: the rows of a memtable, sorted by device and time, become a run.
import type { DataShape } from '../../../log/data-shape.ts';
import type { PageRows } from './page-writer.ts';
import type { RunIndex, RunNote } from './run-index.ts';
import { openRunWriter } from './run-writer.ts';
import { type DeviceRows, writeSlices } from './slice-writer.ts';

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

export interface SealJob {
  readonly path: string;
  readonly rows: MemtableRows;
  /** Rows of these devices are omitted: they were deleted, or their rows are in chunks. */
  readonly without: ReadonlySet<number>;
  readonly note: RunNote;
}

/** Writes the run without syncing it; undefined when no row is left. Nothing stays on the disk when it throws. */
export function sealMemtable(job: SealJob, shape: DataShape): RunIndex | undefined {
  const { path, rows, without, note } = job;
  const { keepFrom } = rows;
  const isAnyLimited = keepFrom.some((from) => from !== Number.NEGATIVE_INFINITY);
  const { order, starts } = byDevice(rows);
  const { texts, origins, topic, timestamps } = rows;
  const run = openRunWriter({ path, shape, topic, texts, origins, keepFrom, note });
  let written = 0;
  try {
    for (let device = 0; device < rows.devices; device++) {
      const first = starts[device]!;
      const length = starts[device + 1]! - first;
      if (length === 0 || without.has(device)) continue;
      const stored = order.subarray(first, first + length);
      const kept = isAnyLimited ? unexpired(stored, rows) : stored;
      writeSlices(run.pages, deviceRows(device, sortByTime(kept, timestamps), rows));
      written += kept.length;
    }
    if (written > 0) return run.end();
  } catch (error) {
    run.discard();
    throw error;
  }
  run.discard();
  return undefined;
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

function unexpired(
  stored: Uint32Array,
  { timestamps, originIds, keepFrom }: MemtableRows,
): Uint32Array {
  return stored.filter((row) => timestamps[row]! >= keepFrom[originIds[row]!]!);
}

/** Most devices send in the order of time; rows of one instant stay in the order of storing. */
function sortByTime(order: Uint32Array, timestamps: Float64Array): Uint32Array {
  for (let i = 1; i < order.length; i++) {
    if (timestamps[order[i]!]! >= timestamps[order[i - 1]!]!) continue;
    return order.sort((a, b) => timestamps[a]! - timestamps[b]! || a - b);
  }
  return order;
}

function deviceRows(device: number, order: Uint32Array, rows: MemtableRows): DeviceRows {
  const { timestamps, orders, originIds, metaIds, columns } = rows;
  const sources = [timestamps, orders, originIds, ...columns];
  return {
    device,
    timestamps,
    length: order.length,
    at: (place) => order[place]!,
    copy: (from, length, page: PageRows, to) => {
      const targets = [page.timestamps, page.orders, page.origins, ...page.columns];
      for (let column = 0; column < sources.length; column++) {
        const source = sources[column]!;
        const target = targets[column]!;
        for (let i = 0; i < length; i++) target[to + i] = source[order[from + i]!]!;
      }
      if (metaIds === undefined) page.metas.fill(0, to, to + length);
      else for (let i = 0; i < length; i++) page.metas[to + i] = metaIds[order[from + i]!]!;
    },
  };
}
