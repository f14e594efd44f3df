// Partials per bucket from sealed chunks: statistics where a chunk lies in one bucket, else hours, else rows.
import { addTerm } from '../../../summaries/compensated-sum.ts';
import type { Facet, Partial } from '../../../summaries/tally.ts';
import { leafKinds } from '../../../log/data-shape.ts';
import {
  addRows,
  addValues,
  bucketOf,
  type BucketPlan,
  type Partials,
  partialAt,
} from './bucket-rows.ts';
import { type Chunk, hasSection, hoursSection, statistics, statOf } from '../chunks/chunk.ts';
import { columnsOfKey, isNumeric, type KeyColumn } from '../chunks/chunk-schema.ts';
import type { ColumnHours } from '../chunks/hour-section.ts';
import type { SealedRows } from './sealed-rows.ts';
import { hourMs } from '../../../model/instant.ts';

const hourFacets: ReadonlySet<Facet> = new Set<Facet>(['count', 'numbers', 'truths', 'occupied']);

/** Adds what the chunk has within the edges. Throws DamagedChunk before it added anything. */
export function addChunk(
  partials: Partials,
  chunk: Chunk,
  plan: BucketPlan,
  rowsOf: (chunk: Chunk) => SealedRows,
): void {
  const keyColumns = columnsOfKey(chunk.schema, plan.dataKey);
  if (keyColumns === undefined) {
    addFromRows(partials, rowsOf(chunk), plan, undefined);
    return;
  }
  const { edges } = plan;
  const bucket = bucketOf(edges, Math.max(chunk.oldest, edges[0]!));
  const isWithin = chunk.oldest >= edges[bucket]! && chunk.newest < edges[bucket + 1]!;
  for (const keyColumn of keyColumns) {
    // A column that in some shapes is not what the key names has values that its statistics should not tell.
    const isWhole = coversColumn(chunk, keyColumn);
    if (isWithin && isWhole && addStatistics(partials, bucket, chunk, keyColumn.column, plan.facet))
      continue;
    if (isWithin && isWhole && plan.facet === 'ends' && isBetweenEnds(partials[bucket], chunk)) {
      partialAt(partials, bucket).count += statOf(chunk, keyColumn.column, statistics.count);
      continue;
    }
    if (isWhole && addHours(partials, chunk, keyColumn.column, plan, rowsOf)) continue;
    if (keyColumn.shapes === undefined) addDense(partials, rowsOf(chunk), plan, keyColumn.column);
    else addFromRows(partials, rowsOf(chunk), plan, [keyColumn]);
  }
}

/** A column that every row has: places are values, and times and orders are decoded only by those who look at them. */
function addDense(partials: Partials, rows: SealedRows, plan: BucketPlan, index: number): void {
  const column = rows.column(index);
  const { kind, texts } = column;
  const end = rows.placeOf(plan.edges.at(-1)!);
  if (end === 0) return;
  const values = {
    kind,
    texts,
    length: rows.length,
    values: isNumeric(kind) ? column.numbersBefore(end) : column.ids,
    get timestamps() {
      return rows.timestamps;
    },
    get orders() {
      return rows.orders;
    },
  };
  addValues(partials, values, plan, rows.chunk.oldest, (at) => rows.placeOf(at));
}

function coversColumn({ schema }: Chunk, { column, shapes }: KeyColumn): boolean {
  return (
    shapes === undefined ||
    schema.columns[column]!.inShape.every((has, shape) => !has || shapes[shape] === true)
  );
}

function addFromRows(
  partials: Partials,
  rows: SealedRows,
  plan: BucketPlan,
  keyColumns: readonly KeyColumn[] | undefined,
): void {
  const { timestamps, orders, length } = rows;
  addRows(partials, { rows, length, timestamps, orders, permutation: undefined }, plan, keyColumns);
}

/** Whether statistics were enough. */
function addStatistics(
  partials: Partials,
  bucket: number,
  chunk: Chunk,
  column: number,
  facet: Facet,
): boolean {
  const { kind } = chunk.schema.columns[column]!;
  const numeric = isNumeric(kind);
  if (facet === 'ends' || facet === 'distinct' || (facet === 'occupied' && numeric)) return false;
  const partial = partialAt(partials, bucket);
  const count = statOf(chunk, column, statistics.count);
  const sum = statOf(chunk, column, statistics.sum);
  partial.count += count;
  if (facet === 'numbers' && numeric) {
    const min = statOf(chunk, column, statistics.min);
    addNumbers(partial, count, sum, min, statOf(chunk, column, statistics.max));
  } else if (facet === 'truths' && kind === leafKinds.boolean) {
    partial.trueCount += sum;
    partial.falseCount += count - sum;
  }
  return true;
}

function addNumbers(partial: Partial, count: number, sum: number, min: number, max: number): void {
  partial.numericCount += count;
  addTerm(partial, sum);
  if (min < partial.min) partial.min = min;
  if (max > partial.max) partial.max = max;
}

/** Whether earlier and later values are known, so that neither the first nor the last can be in the chunk. */
function isBetweenEnds(partial: Partial | undefined, chunk: Chunk): boolean {
  return partial !== undefined && partial.firstAt < chunk.oldest && partial.lastAt > chunk.newest;
}

/** Whether hours were enough. */
function addHours(
  partials: Partials,
  chunk: Chunk,
  column: number,
  plan: BucketPlan,
  rowsOf: (chunk: Chunk) => SealedRows,
): boolean {
  const { edges, facet } = plan;
  const { kind } = chunk.schema.columns[column]!;
  if (
    !plan.wholeHours ||
    !hourFacets.has(facet) ||
    !hasSection(chunk, hoursSection(chunk.schema, column))
  )
    return false;
  const rows = rowsOf(chunk);
  const { hours } = rows.hours();
  const found = rows.columnHours(column);
  const end = edges.at(-1)!;
  for (let i = 0; i < hours.length; i++) {
    const at = hours[i]! * hourMs;
    if (at < edges[0]! || at >= end || found.counts[i] === 0) continue;
    addHour(
      partialAt(partials, bucketOf(edges, at)),
      hours[i]!,
      found,
      i,
      facet,
      kind === leafKinds.boolean,
    );
  }
  return true;
}

function addHour(
  partial: Partial,
  hour: number,
  found: ColumnHours,
  i: number,
  facet: Facet,
  isBoolean: boolean,
): void {
  const count = found.counts[i]!;
  const sum = found.sums[i]!;
  partial.count += count;
  if (facet === 'numbers') addNumbers(partial, count, sum, found.mins[i]!, found.maxs[i]!);
  else if (facet === 'truths' && isBoolean) {
    partial.trueCount += sum;
    partial.falseCount += count - sum;
  } else if (facet === 'occupied') {
    partial.occupied ??= new Map();
    partial.occupied.set(hour, (partial.occupied.get(hour) ?? 0) | found.slots[i]!);
  }
}
