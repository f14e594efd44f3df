// Bucket grid: equal cells of time, so fine that every edge of the buckets is an edge of a cell.
import { int64 } from '../../clickhouse/sql-literals.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';

export interface Grid {
  /** The number of the cell of a time, as an expression. */
  readonly cellOf: (time: string) => string;
  /** A time within the cell. */
  readonly timeOf: (cell: number) => EpochMs;
}

/** `edges` are ascending, at least two. */
export function createGrid(edges: readonly EpochMs[]): Grid {
  const first = edges[0] ?? missing('first edge');
  let widthMs = 0;
  for (const edge of edges) widthMs = divisorOf(widthMs, edge - first);
  const width = Math.max(1, widthMs);
  return {
    cellOf: (time) => `intDiv(${time} - ${int64(first)}, ${width})`,
    timeOf: (cell) => first + cell * width,
  };
}

/** The greatest common divisor. */
function divisorOf(a: number, b: number): number {
  let [left, right] = [a, b];
  while (right !== 0) [left, right] = [right, left % right];
  return left;
}

/** The bucket of a time within the edges. */
export function bucketOf(edges: readonly EpochMs[], at: EpochMs): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((edges[middle] ?? Infinity) <= at) low = middle;
    else high = middle;
  }
  return low;
}
