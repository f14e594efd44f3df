// Tallies from decoded rows, by bucket: whole columns where columns hold the key, single values where only objects do.
import { dataValue } from '../../../../model/data-value.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import { type LeafKind, leafKinds } from '../../../log/data-shape.ts';
import type { ColumnValues, Facet, Tally, ValueKind } from '../../../../query/summaries/facet.ts';
import { addValue } from '../../../../query/summaries/accumulators.ts';
import { isNumeric } from '../chunks/chunk-schema.ts';
import type { KeyColumn, KeyColumns } from '../../value-batches.ts';
import { type Column, dataAt, placeOf, rowAt, type SortedRows } from '../rows/rows.ts';
import { missing } from '../../../../structures/missing.ts';

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
export function addValues(
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
