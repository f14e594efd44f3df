// Tallies from sealed chunks, by bucket: from statistics where a chunk lies in one bucket, else from hours, and from rows where hours are cut.
import { type EpochMs, hourMs } from '../../../../model/instant.ts';
import {
  addRows,
  addValues,
  bucketOf,
  type BucketPlan,
  edgeAt,
  type Tallies,
  tallyAt,
  valueKindOf,
} from './bucket-rows.ts';
import type { ColumnValues, ValueKind } from '../../../../query/summaries/facet.ts';
import { type Chunk, hasSection, hoursSection, statistics, statOf } from '../chunks/chunk.ts';
import { columnAt, columnsOfKey, isNumeric } from '../chunks/chunk-schema.ts';
import type { KeyColumn } from '../../value-batches.ts';
import type { SealedRows } from './sealed-rows.ts';

const noValues = new Float64Array(0);

/** Where the rows of chunks come from; both throw DamagedChunk. */
export interface ChunkRows {
  readonly rowsOf: (chunk: Chunk) => SealedRows;
  /** Of hours, which are small enough to keep those of many devices. */
  readonly hoursOf: (chunk: Chunk) => SealedRows;
  /** Whether the chunk was asked for before. */
  readonly isReturning: (chunk: Chunk) => boolean;
}

/** What is added where. */
interface ChunkQuery extends ChunkRows {
  readonly tallies: Tallies;
  readonly chunk: Chunk;
  readonly plan: BucketPlan;
}

/** Adds what the chunk has within the edges. Throws DamagedChunk; the tallies are of no use then. */
export function addChunk(tallies: Tallies, chunk: Chunk, plan: BucketPlan, rows: ChunkRows): void {
  const query = { tallies, chunk, plan, ...rows };
  const keyColumns = columnsOfKey(chunk.schema, plan.dataKey);
  if (keyColumns === undefined) {
    addFromRows(query, undefined);
    return;
  }
  for (const keyColumn of keyColumns) {
    const { column } = keyColumn;
    // The statistics of a column say too much when in some shapes the key names something else.
    const isWhole = coversColumn(chunk, keyColumn);
    if (isWhole && (addStatistics(query, column) || addHours(query, column, keyColumn))) continue;
    addValuesOf(query, keyColumn);
  }
}

/**
 * A column that every row has: places are values, and times and orders are decoded only when they
 * are read.
 */
function addDense({ tallies, chunk, plan, rowsOf }: ChunkQuery, index: number): void {
  const rows = rowsOf(chunk);
  const column = rows.column(index);
  const end = rows.placeOf(plan.to);
  if (end === 0) return;
  const isRead = plan.facet.reads(valueKindOf(column.kind));
  const values = new DenseValues(rows, column, isRead ? end : undefined);
  addValues(tallies, plan, { values, oldest: chunk.oldest, placeOf: (at) => rows.placeOf(at) });
}

/** A class, because an object with its own getters has its own hidden class: 5 us each. */
class DenseValues implements ColumnValues {
  readonly kind: ValueKind;
  readonly texts: readonly string[];
  readonly length: number;
  readonly values: Float64Array;
  readonly #rows: SealedRows;

  /** With the values before `end`, or without any. */
  constructor(rows: SealedRows, column: ReturnType<SealedRows['column']>, end: number | undefined) {
    this.kind = valueKindOf(column.kind);
    this.texts = end === undefined ? [] : column.texts;
    this.length = rows.length;
    this.values = end === undefined ? noValues : valuesBefore(column, end);
    this.#rows = rows;
  }

  get timestamps(): Float64Array {
    return this.#rows.timestamps;
  }

  get orders(): Float64Array {
    return this.#rows.orders;
  }
}

function valuesBefore(column: ReturnType<SealedRows['column']>, end: number): Float64Array {
  return isNumeric(column.kind) ? column.numbersBefore(end) : column.ids;
}

function coversColumn({ schema }: Chunk, { column, shapes }: KeyColumn): boolean {
  return (
    shapes === undefined ||
    columnAt(schema, column).inShape.every((has, shape) => !has || shapes[shape] === true)
  );
}

function addFromRows(
  { tallies, chunk, plan, rowsOf }: ChunkQuery,
  keyColumns: readonly KeyColumn[] | undefined,
): void {
  const rows = rowsOf(chunk);
  const { timestamps, orders, length } = rows;
  addRows(tallies, { rows, length, timestamps, orders, permutation: undefined }, plan, keyColumns);
}

/** Returns whether the statistics of the chunk were enough. */
function addStatistics({ tallies, chunk, plan }: ChunkQuery, column: number): boolean {
  const { edges, facet } = plan;
  const { oldest, newest } = chunk;
  const bucket = bucketOf(edges, Math.max(oldest, plan.from));
  if (oldest < edgeAt(edges, bucket) || newest >= edgeAt(edges, bucket + 1)) return false;
  const kind = valueKindOf(columnAt(chunk.schema, column).kind);
  const known = tallies[bucket];
  const isCountEnough =
    !facet.reads(kind) || (known !== undefined && facet.isSettled?.(known, oldest, newest));
  if (!isCountEnough && facet.fromStatistics === undefined) return false;
  const tally = tallyAt(tallies, facet, bucket);
  const count = statOf(chunk, column, statistics.count);
  tally.count += count;
  if (isCountEnough) return true;
  facet.fromStatistics?.(tally, {
    kind,
    count,
    sum: statOf(chunk, column, statistics.sum),
    min: statOf(chunk, column, statistics.min),
    max: statOf(chunk, column, statistics.max),
  });
  return true;
}

/**
 * Adds the whole hours from the hours of the chunk, and those that the plan cuts at its ends from
 * their rows. Returns whether that is possible.
 */
function addHours(query: ChunkQuery, column: number, keyColumn: KeyColumn): boolean {
  const { tallies, chunk, plan, hoursOf, isReturning } = query;
  const { edges, facet, from: planFrom, to: planTo } = plan;
  const kind = valueKindOf(columnAt(chunk.schema, column).kind);
  const isRead = facet.reads(kind);
  if (!plan.wholeHours || (isRead && facet.fromHours === undefined)) return false;
  const wholeFrom = Math.ceil(planFrom / hourMs) * hourMs;
  const wholeTo = Math.floor(planTo / hourMs) * hourMs;
  // With both ends in one hour or in neighbors, nothing is gained.
  if (wholeFrom >= wholeTo) return false;
  if (!hasSection(chunk, hoursSection(chunk.schema, column))) return false;
  const isCut =
    (planFrom < wholeFrom && chunk.oldest < wholeFrom) ||
    (planTo > wholeTo && chunk.newest >= wholeTo);
  // Rows and hours together cost more than rows, unless they are kept.
  if (isCut && !isReturning(chunk)) return false;
  const rows = hoursOf(chunk);
  const { hours } = rows.hours();
  const found = { kind, hours, ...rows.columnHours(column) };
  addCut(query, keyColumn, planFrom, wholeFrom);
  const end = firstHourAt(hours, wholeTo);
  let i = firstHourAt(hours, wholeFrom);
  for (let bucket = i < end ? bucketOf(edges, hours[i]! * hourMs) : 0; i < end; bucket++) {
    const nextEdge = edgeAt(edges, bucket + 1);
    const from = i;
    let count = 0;
    for (; i < end && hours[i]! * hourMs < nextEdge; i++) count += found.counts[i]!;
    if (count === 0) continue;
    const tally = tallyAt(tallies, facet, bucket);
    tally.count += count;
    if (isRead) facet.fromHours?.(tally, found, from, i);
  }
  addCut(query, keyColumn, wholeTo, planTo);
  return true;
}

/** Adds the rows of a part of the plan. */
function addCut(query: ChunkQuery, keyColumn: KeyColumn, from: EpochMs, to: EpochMs): void {
  const { chunk, plan } = query;
  if (from >= to || chunk.newest < from || chunk.oldest >= to) return;
  addValuesOf({ ...query, plan: { ...plan, from, to } }, keyColumn);
}

function addValuesOf(query: ChunkQuery, keyColumn: KeyColumn): void {
  if (keyColumn.shapes === undefined) addDense(query, keyColumn.column);
  else addFromRows(query, [keyColumn]);
}

/** The index of the first hour that does not begin before the time. */
function firstHourAt(hours: Float64Array, at: EpochMs): number {
  let index = 0;
  while (index < hours.length && hours[index]! * hourMs < at) index++;
  return index;
}
