// Memtable columns: the arrays of a memtable in shared memory, and rows of them for readers.
import { type DataShape, leafKinds } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import type { Column, RowGroup, Rows, SortedRows } from '../rows/rows.ts';
import { columnKindOf } from '../runs/page-format.ts';
import type { SpareMemory } from './buffer-pool.ts';

type Values = Float64Array | Uint8Array | Uint32Array;

export interface MemtableArrays {
  readonly device: Uint32Array;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** The row of the same device stored before, or `noRow`. */
  readonly previous: Uint32Array;
  readonly originIds: Uint16Array;
  readonly columns: readonly Values[];
}

export function columnOf(
  leaf: DataShape['leaves'][number],
  values: Values,
  texts: readonly string[],
): Column {
  const none = new Uint32Array(0);
  if (values instanceof Uint32Array)
    return { path: leaf.path, kind: leaf.kind, numbers: new Uint8Array(0), ids: values, texts };
  return { path: leaf.path, kind: leaf.kind, numbers: values, ids: none, texts: [] };
}

/** Rows in the order of storing. */
export function groupOfRows(stored: Uint32Array, rows: Rows): RowGroup {
  const { timestamps, orders, origins, originIds } = rows;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  let visibleFrom = Number.POSITIVE_INFINITY;
  for (const row of stored) {
    const timestamp = timestamps[row]!;
    if (timestamp < oldest) oldest = timestamp;
    if (timestamp > newest) newest = timestamp;
    visibleFrom = Math.min(visibleFrom, origins[originIds?.[row] ?? 0]!.keepFrom);
  }
  let sorted: SortedRows | undefined;
  return {
    oldest,
    newest,
    length: stored.length,
    visibleFrom,
    sorted: () => {
      if (sorted === undefined) {
        const permutation = inOrderOfTime(stored, timestamps);
        sorted = {
          rows,
          length: stored.length,
          timestamps: Float64Array.from(permutation, (row) => timestamps[row]!),
          orders: Float64Array.from(permutation, (row) => orders[row]!),
          permutation,
        };
      }
      return sorted;
    },
  };
}

/** Sorted by time; rows of one instant stay in the order of storing. */
function inOrderOfTime(rows: Uint32Array, timestamps: Float64Array): Uint32Array {
  for (let i = 1; i < rows.length; i++) {
    if (timestamps[rows[i]!]! >= timestamps[rows[i - 1]!]!) continue;
    return rows.sort((a, b) => timestamps[a]! - timestamps[b]! || a - b);
  }
  return rows;
}

/** What gives memory of a size, with any content. */
export type Memory = Pick<SpareMemory, 'take'>;

const newMemory: Memory = { take: (bytes) => new SharedArrayBuffer(bytes) };

/**
 * Arrays of the capacity with the values of `old`. Their memory is shared, so that a worker reads it without a copy.
 * What follows the values of `old` is undefined.
 */
export function newArrays(
  shape: DataShape,
  capacity: number,
  old: MemtableArrays | undefined,
  memory: Memory = newMemory,
): MemtableArrays {
  return {
    device: copied(Uint32Array, capacity, old?.device, memory),
    timestamps: copied(Float64Array, capacity, old?.timestamps, memory),
    orders: copied(Float64Array, capacity, old?.orders, memory),
    previous: copied(Uint32Array, capacity, old?.previous, memory),
    originIds: copied(Uint16Array, capacity, old?.originIds, memory),
    columns: shape.leaves.map(({ kind }, i) => {
      const values = old?.columns[i];
      if (kind === leafKinds.number) return copied(Float64Array, capacity, values, memory);
      if (columnKindOf(kind) === 'text') return copied(Uint32Array, capacity, values, memory);
      return copied(Uint8Array, capacity, values, memory);
    }),
  };
}

/** The memory of the arrays. */
export function buffersOf({ columns, ...arrays }: MemtableArrays): SharedArrayBuffer[] {
  return [...Object.values(arrays), ...columns]
    .map(({ buffer }) => buffer)
    .filter((buffer) => buffer instanceof SharedArrayBuffer);
}

export function copied<T extends Values | Uint16Array>(
  constructor: { new (buffer: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  capacity: number,
  old: ArrayLike<number> | undefined,
  memory: Memory = newMemory,
): T {
  const values = new constructor(memory.take(capacity * constructor.BYTES_PER_ELEMENT));
  if (old !== undefined) values.set(old);
  return values;
}

/** Notes the row in an index of rows by time. */
export function noteRow(index: Map<EpochMs, number[]>, timestamp: EpochMs, row: number): void {
  const rows = index.get(timestamp);
  if (rows === undefined) index.set(timestamp, [row]);
  else rows.push(row);
}
