// Tallies from sealed chunks, by bucket: from statistics where a chunk lies in one bucket, else from hours, and from rows where hours are cut.
import { type EpochMs, hourMs } from '../../../../model/instant.ts';
import type { ColumnValues, Facet, Tally, ValueKind } from '../../../../query/summaries/facet.ts';
import { type Chunk, hasSection, isNumeric, statistics, statOf } from '../chunks/chunk.ts';
import type { KeyColumn, KeyColumns } from '../../value-batches.ts';
import type { SealedRows } from './sealed-rows.ts';
import { dataValue } from '../../../../model/sample.ts';
import { type LeafKind, leafKinds } from '../../../log/data-shape.ts';
import { addValue } from '../../../../query/summaries/accumulators.ts';
import { type Column, dataAt, placeOf, rowAt, type SortedRows } from '../rows/open-rows.ts';
import { missing } from '../../../../structures/missing.ts';

// Tallies from decoded rows, by bucket: whole columns where columns hold the key, single values where only objects do.

/** By bucket; undefined without a value. */
export type Tallies = (Tally | undefined)[];

export interface BucketPlan {
  readonly dataKey: string;
  readonly facet: Facet<Tally>;
  /** Ascending. */
  readonly edges: readonly EpochMs[];
  /** The first edge, or a later time for a part of the plan. */
  readonly from: EpochMs;
  /** The last edge, or an earlier time for a part of the plan. */
  readonly to: EpochMs;
  /** Whether all edges but the first and the last are whole hours. */
  readonly wholeHours: boolean;
}

const valueKinds: Readonly<Record<LeafKind, ValueKind>> = {
  [leafKinds.number]: 'number',
  [leafKinds.boolean]: 'boolean',
  [leafKinds.string]: 'text',
  [leafKinds.json]: 'other',
  [leafKinds.null]: 'other',
  [leafKinds.object]: 'other',
  [leafKinds.empty]: 'other',
};

export function valueKindOf(kind: LeafKind): ValueKind {
  return valueKinds[kind];
}

export function tallyAt(tallies: Tallies, facet: Facet<Tally>, bucket: number): Tally {
  let tally = tallies[bucket];
  if (tally === undefined) {
    tally = facet.start();
    tallies[bucket] = tally;
  }
  return tally;
}

/** The edge at an index that the plan has. */
export function edgeAt(edges: readonly EpochMs[], index: number): EpochMs {
  return edges[index] ?? missing('edge of a bucket');
}

/** The bucket that holds the time, which must lie within the edges. */
export function bucketOf(edges: readonly EpochMs[], at: EpochMs): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (edgeAt(edges, middle) <= at) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Adds every row whose time lies within the edges. `keyColumns` says where the values of the key
 * are.
 */
export function addRows(
  tallies: Tallies,
  sorted: SortedRows,
  plan: BucketPlan,
  keyColumns: KeyColumns,
): void {
  if (keyColumns === undefined) addObjects(tallies, sorted, plan);
  else for (const keyColumn of keyColumns) addColumn(tallies, sorted, plan, keyColumn);
}

function addObjects(
  tallies: Tallies,
  sorted: SortedRows,
  { edges, from, to, dataKey, facet }: BucketPlan,
): void {
  const end = placeOf(sorted, to);
  let bucket = 0;
  for (let place = placeOf(sorted, from); place < end; place++) {
    const timestamp = sorted.timestamps[place]!;
    while (timestamp >= edgeAt(edges, bucket + 1)) bucket++;
    const value = dataValue(dataAt(sorted.rows, rowAt(sorted, place)), dataKey);
    if (value === undefined || value === null) continue;
    const tally = tallyAt(tallies, facet, bucket);
    addValue(facet, tally, value, { timestamp, order: sorted.orders[place] });
  }
}

function addColumn(
  tallies: Tallies,
  sorted: SortedRows,
  plan: BucketPlan,
  { column: index, shapes }: KeyColumn,
): void {
  const column = sorted.rows.columns[index] ?? missing('column of a key');
  const values = columnValues(sorted, column, shapes);
  if (values.length === 0) return;
  const oldest = values.timestamps[0]!;
  addValues(tallies, plan, { values, oldest, placeOf: (at) => firstAt(values, at) });
}

/** Adds the values that lie within the edges to the tallies of their buckets. */
function addValues(
  tallies: Tallies,
  plan: BucketPlan,
  {
    values,
    oldest,
    placeOf,
  }: {
    readonly values: ColumnValues;
    /** At most the first time. */
    readonly oldest: EpochMs;
    /** The first place that is not before a time. */
    readonly placeOf: (at: EpochMs) => number;
  },
): void {
  const { edges, facet } = plan;
  const isRead = facet.reads(values.kind);
  const end = placeOf(plan.to);
  let from = placeOf(plan.from);
  for (
    let bucket = bucketOf(edges, Math.max(oldest, plan.from));
    bucket < edges.length - 1 && from < end;
    bucket++
  ) {
    const isLast = bucket === edges.length - 2 || edgeAt(edges, bucket + 1) >= plan.to;
    const to = isLast ? end : placeOf(edgeAt(edges, bucket + 1));
    if (to > from) {
      const tally = tallyAt(tallies, facet, bucket);
      tally.count += to - from;
      if (isRead) facet.fromColumn(tally, values, from, to);
    }
    from = to;
  }
}

/** Values of rows that are in order as they stand; their orders are decoded only when they are read. */
class ValuesInPlace implements ColumnValues {
  readonly kind: ValueKind;
  readonly texts: readonly string[];
  readonly values: ColumnValues['values'];
  readonly length: number;
  readonly timestamps: Float64Array;
  readonly #sorted: SortedRows;

  constructor(
    { kind, texts, values }: Pick<ColumnValues, 'kind' | 'texts' | 'values'>,
    sorted: SortedRows,
  ) {
    this.kind = kind;
    this.texts = texts;
    this.values = values;
    this.length = sorted.length;
    this.timestamps = sorted.timestamps;
    this.#sorted = sorted;
  }

  get orders(): Float64Array {
    return this.#sorted.orders;
  }
}

function columnValues(
  sorted: SortedRows,
  column: Column,
  shapes: readonly boolean[] | undefined,
): ColumnValues {
  const { texts } = column;
  const kind = valueKindOf(column.kind);
  const source = isNumeric(column.kind) ? column.numbers : column.ids;
  const { permutation } = sorted;
  if (shapes === undefined && permutation === undefined)
    return new ValuesInPlace({ kind, texts, values: source }, sorted);
  const { timestamps, orders } = sorted;
  const places = placesOfShapes(sorted, shapes);
  const picked = {
    timestamps: new Float64Array(places.length),
    orders: new Float64Array(places.length),
    values: new Float64Array(places.length),
  };
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!;
    picked.timestamps[i] = timestamps[place]!;
    picked.orders[i] = orders[place]!;
    picked.values[i] = source[rowAt(sorted, place)]!;
  }
  return { kind, length: places.length, texts, ...picked };
}

/** The places of the rows whose shape is marked; all places without marks. */
function placesOfShapes(sorted: SortedRows, shapes: readonly boolean[] | undefined): Uint32Array {
  const { shapeIds } = sorted.rows;
  const places = new Uint32Array(sorted.length);
  let count = 0;
  for (let place = 0; place < sorted.length; place++) {
    const shapeId = shapeIds?.[rowAt(sorted, place)] ?? 0;
    if (shapes === undefined || shapes[shapeId] === true) places[count++] = place;
  }
  return places.subarray(0, count);
}

function firstAt({ timestamps, length }: ColumnValues, at: EpochMs): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
  const keyColumns = chunk.schema.columnsOfKey(plan.dataKey);
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
    schema.columnAt(column).inShape.every((has, shape) => !has || shapes[shape] === true)
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
  const kind = valueKindOf(chunk.schema.columnAt(column).kind);
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
  const kind = valueKindOf(chunk.schema.columnAt(column).kind);
  const isRead = facet.reads(kind);
  if (!plan.wholeHours || (isRead && facet.fromHours === undefined)) return false;
  const wholeFrom = Math.ceil(planFrom / hourMs) * hourMs;
  const wholeTo = Math.floor(planTo / hourMs) * hourMs;
  // With both ends in one hour or in neighbors, nothing is gained.
  if (wholeFrom >= wholeTo) return false;
  if (!hasSection(chunk, chunk.schema.hoursSection(column))) return false;
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
