// Partials per bucket from decoded rows: column by column where columns hold the key, value by value where only the objects can tell.
import { addTerms } from '../../../summaries/compensated-sum.ts';
import { addDistinctHash, distinctHash, emptyDistinct } from '../../../summaries/distinct-set.ts';
import { slotBit } from '../../../summaries/occupied-slots.ts';
import {
  addValue,
  emptyPartial,
  type Facet,
  mergePartials,
  type Partial,
} from '../../../summaries/tally.ts';
import { leafKinds } from '../../../log/data-shape.ts';
import { dataValue } from '../../../model/data-value.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import type { KeyColumns } from '../chunks/chunk-schema.ts';
import { type Column, dataAt, placeOf, rowAt, type SortedRows } from '../rows/rows.ts';

export type Partials = (Partial | undefined)[];

export interface BucketPlan {
  readonly dataKey: string;
  readonly facet: Facet;
  /** Ascending. */
  readonly edges: readonly EpochMs[];
  /** Whether all edges are whole hours. */
  readonly wholeHours: boolean;
}

export function partialAt(partials: Partials, bucket: number): Partial {
  let partial = partials[bucket];
  if (partial === undefined) {
    partial = emptyPartial();
    partials[bucket] = partial;
  }
  return partial;
}

/** The bucket that holds the time, which must lie within the edges. */
export function bucketOf(edges: readonly EpochMs[], at: EpochMs): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (edges[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** Adds every row whose time lies within the edges. `keyColumns` says where the key's values are. */
export function addRows(
  partials: Partials,
  sorted: SortedRows,
  plan: BucketPlan,
  keyColumns: KeyColumns,
): void {
  if (keyColumns === undefined) addObjects(partials, sorted, plan);
  else
    for (const { column, shapes } of keyColumns)
      addColumn(partials, sorted, plan, sorted.rows.columns[column]!, shapes);
}

function addObjects(
  partials: Partials,
  sorted: SortedRows,
  { edges, dataKey, facet }: BucketPlan,
): void {
  const end = placeOf(sorted, edges.at(-1)!);
  let bucket = 0;
  for (let place = placeOf(sorted, edges[0]!); place < end; place++) {
    const timestamp = sorted.timestamps[place]!;
    while (timestamp >= edges[bucket + 1]!) bucket++;
    const value = dataValue(dataAt(sorted.rows, rowAt(sorted, place)), dataKey);
    if (value === undefined || value === null) continue;
    addValue(partialAt(partials, bucket), facet, value, timestamp, sorted.orders[place]);
  }
}

function addColumn(
  partials: Partials,
  sorted: SortedRows,
  plan: BucketPlan,
  column: Column,
  shapes: readonly boolean[] | undefined,
): void {
  const values = columnValues(sorted, column, shapes);
  if (values.length > 0)
    addValues(partials, values, plan, values.timestamps[0]!, (at) => firstAt(values, at));
}

/** Adds present values in the order of time; `oldest` is at most the first time, `placeOf` tells the first place not before a time. */
export function addValues(
  partials: Partials,
  values: ColumnValues,
  { edges, facet }: BucketPlan,
  oldest: EpochMs,
  placeOf: (at: EpochMs) => number,
): void {
  const end = placeOf(edges.at(-1)!);
  let from = placeOf(edges[0]!);
  for (
    let bucket = bucketOf(edges, Math.max(oldest, edges[0]!));
    bucket < edges.length - 1 && from < end;
    bucket++
  ) {
    const to = bucket === edges.length - 2 ? end : placeOf(edges[bucket + 1]!);
    if (to > from) {
      const partial = partialAt(partials, bucket);
      partial.count += to - from;
      adders[facet](partial, values, from, to);
    }
    from = to;
  }
}

/** The present values of a column in the order of time. */
export interface ColumnValues {
  readonly kind: Column['kind'];
  readonly length: number;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  /** Numbers, booleans as 0 and 1; for texts their ids. */
  readonly values: Float64Array | Uint8Array | Uint32Array;
  readonly texts: readonly string[];
}

function columnValues(
  sorted: SortedRows,
  column: Column,
  shapes: readonly boolean[] | undefined,
): ColumnValues {
  const { kind, texts } = column;
  const source =
    kind === leafKinds.number || kind === leafKinds.boolean ? column.numbers : column.ids;
  const { length, timestamps, orders, permutation } = sorted;
  if (shapes === undefined && permutation === undefined)
    return { kind, length, timestamps, orders, values: source, texts };
  const shapeIds = sorted.rows.shapeIds;
  const places = new Uint32Array(length);
  let count = 0;
  for (let place = 0; place < length; place++)
    if (
      shapes === undefined ||
      shapes[shapeIds === undefined ? 0 : shapeIds[rowAt(sorted, place)]!]
    )
      places[count++] = place;
  const picked = {
    timestamps: new Float64Array(count),
    orders: new Float64Array(count),
    values: new Float64Array(count),
  };
  for (let i = 0; i < count; i++) {
    picked.timestamps[i] = timestamps[places[i]!]!;
    picked.orders[i] = orders[places[i]!]!;
    picked.values[i] = source[rowAt(sorted, places[i]!)]!;
  }
  return { kind, length: count, texts, ...picked };
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

type Adder = (partial: Partial, values: ColumnValues, from: number, to: number) => void;

const adders: Record<Facet, Adder> = {
  count: () => {},
  numbers: (partial, { kind, values }, from, to) => {
    if (kind !== leafKinds.number && kind !== leafKinds.boolean) return;
    partial.numericCount += to - from;
    let { min, max } = partial;
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    partial.min = min;
    partial.max = max;
    if (values instanceof Float64Array) addTerms(partial, values, from, to);
    else addTerms(partial, Float64Array.from(values.subarray(from, to)), 0, to - from);
  },
  ends: (partial, { kind, values, timestamps, orders }, from, to) => {
    const isNumber = kind === leafKinds.number || kind === leafKinds.boolean;
    const first = isNumber ? values[from]! : Number.NaN;
    const last = isNumber ? values[to - 1]! : Number.NaN;
    mergePartials(
      partial,
      endsPartial(
        first,
        timestamps[from]!,
        orders[from]!,
        last,
        timestamps[to - 1]!,
        orders[to - 1]!,
      ),
    );
  },
  truths: (partial, { kind, values }, from, to) => {
    if (kind !== leafKinds.boolean) return;
    let trues = 0;
    for (let i = from; i < to; i++) trues += values[i]!;
    partial.trueCount += trues;
    partial.falseCount += to - from - trues;
  },
  distinct: (partial, { kind, values, texts }, from, to) => {
    if (kind === leafKinds.json || kind === leafKinds.object) return;
    partial.distinct ??= emptyDistinct();
    const seen = new Set<number>();
    for (let i = from; i < to; i++) seen.add(values[i]!);
    for (const value of seen)
      addDistinctHash(partial.distinct, distinctHash(textOf(kind, value, texts)));
  },
  occupied: (partial, { kind, values, timestamps }, from, to) => {
    if (kind !== leafKinds.number && kind !== leafKinds.boolean) return;
    partial.occupied ??= new Map();
    let i = from;
    while (i < to) {
      const hour = Math.floor(timestamps[i]! / hourMs);
      const nextHourAt = (hour + 1) * hourMs;
      let slots = 0;
      for (; i < to && timestamps[i]! < nextHourAt; i++)
        if (values[i]! > 0) slots |= slotBit(timestamps[i]!);
      partial.occupied.set(hour, (partial.occupied.get(hour) ?? 0) | slots);
    }
  },
};

function endsPartial(
  first: number,
  firstAt: EpochMs,
  firstOrder: number,
  last: number,
  lastAt: EpochMs,
  lastOrder: number,
): Partial {
  return { ...emptyPartial(), first, firstAt, firstOrder, last, lastAt, lastOrder };
}

function textOf(kind: Column['kind'], value: number, texts: readonly string[]): string {
  if (kind === leafKinds.number) return String(value);
  return kind === leafKinds.boolean ? String(value === 1) : texts[value]!;
}
