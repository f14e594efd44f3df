// A partial: what is known of some values of one data key, mergeable with the partial of any others.
// The store keeps one per device, topic, key and hour; a raw sample is a partial of one. Every accumulator can be
// finished from it. The fields are flat numbers, so that a store can keep each of them as a typed array.
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { addTerm, mergeSums } from './compensated-sum.ts';
import {
  addDistinct,
  copyDistinct,
  type DistinctSet,
  emptyDistinct,
  mergeDistinct,
} from './distinct-set.ts';
import { markSlot, mergeSlots, type OccupiedSlots } from './occupied-slots.ts';

export interface Partial {
  /** Facet `count`: values present and not null, of any type. Filled whatever the facet. */
  count: number;

  /** Facet `numbers`: numbers, and booleans as 0 and 1. */
  numericCount: number;
  /** The sum is `sum + sumError`; the second field is what rounding took from the first. */
  sum: number;
  sumError: number;
  /** Infinity without any number. */
  min: number;
  /** -Infinity without any number. */
  max: number;

  /** Facet `ends`: the earliest value as a number; NaN when there is none or it has no number (a string, an object). */
  first: number;
  /** Infinity when there is no value. */
  firstAt: EpochMs;
  /** Place in the order of storing, any growing number: decides between values of one instant. */
  firstOrder: number;
  last: number;
  /** -Infinity when there is no value. */
  lastAt: EpochMs;
  lastOrder: number;

  /** Facet `truths`. */
  trueCount: number;
  falseCount: number;

  /** Facet `distinct`: string forms of scalars; undefined when there is none or nobody asked. */
  distinct: DistinctSet | undefined;

  /** Facet `occupied`: per hour which five-minute slots were occupied; undefined without any number or boolean. */
  occupied: OccupiedSlots | undefined;
}

export const facets = ['count', 'numbers', 'ends', 'truths', 'distinct', 'occupied'] as const;
export type Facet = (typeof facets)[number];

/** The neutral element of `mergePartials`: no value at all. */
export function emptyPartial(): Partial {
  return {
    count: 0,
    numericCount: 0,
    sum: 0,
    sumError: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    first: Number.NaN,
    firstAt: Number.POSITIVE_INFINITY,
    firstOrder: 0,
    last: Number.NaN,
    lastAt: Number.NEGATIVE_INFINITY,
    lastOrder: 0,
    trueCount: 0,
    falseCount: 0,
    distinct: undefined,
    occupied: undefined,
  };
}

/** The number of a value: numbers, and booleans as 0 and 1; NaN for everything that has none. */
function numberOf(value: Json): number {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : Number.NaN;
}

/**
 * Adds one value to one facet of the partial (and to `count`); null and absent values change nothing.
 * `order` is the value's place in the order of storing; it may be left out when values are added in that order.
 */
export function addValue(
  partial: Partial,
  facet: Facet,
  value: Json | undefined,
  timestamp: EpochMs,
  order = 0,
): void {
  if (value === null || value === undefined) return;
  partial.count++;
  if (facet === 'numbers') addNumber(partial, numberOf(value));
  else if (facet === 'ends') addEnds(partial, numberOf(value), timestamp, order);
  else if (facet === 'truths') addTruth(partial, value);
  else if (facet === 'distinct') {
    if (typeof value !== 'object')
      addDistinct((partial.distinct ??= emptyDistinct()), String(value));
  } else if (facet === 'occupied') {
    const number = numberOf(value);
    if (!Number.isNaN(number)) markSlot((partial.occupied ??= new Map()), timestamp, number > 0);
  }
}

function addNumber(partial: Partial, value: number): void {
  if (Number.isNaN(value)) return;
  partial.numericCount++;
  addTerm(partial, value);
  if (value < partial.min) partial.min = value;
  if (value > partial.max) partial.max = value;
}

function addTruth(partial: Partial, value: Json): void {
  if (value === true) partial.trueCount++;
  else if (value === false) partial.falseCount++;
}

function addEnds(partial: Partial, value: number, timestamp: EpochMs, order: number): void {
  takeFirst(partial, value, timestamp, order);
  takeLast(partial, value, timestamp, order);
}

// Of two values with the same time and order, the one taken first stays the first, the one taken last becomes the last:
// whoever adds or merges in the order of storing needs no order numbers.
function takeFirst(into: Partial, value: number, at: EpochMs, order: number): void {
  if (at > into.firstAt || (at === into.firstAt && order >= into.firstOrder)) return;
  into.first = value;
  into.firstAt = at;
  into.firstOrder = order;
}

function takeLast(into: Partial, value: number, at: EpochMs, order: number): void {
  if (at < into.lastAt || (at === into.lastAt && order < into.lastOrder)) return;
  into.last = value;
  into.lastAt = at;
  into.lastOrder = order;
}

/**
 * Merges `from` into `into`; `from` stays as it was. Associative, and commutative too as long as values of one instant
 * carry different orders; without orders, `into` must hold what was stored before.
 */
export function mergePartials(into: Partial, from: Partial): void {
  into.count += from.count;
  into.numericCount += from.numericCount;
  mergeSums(into, from);
  if (from.min < into.min) into.min = from.min;
  if (from.max > into.max) into.max = from.max;
  if (from.firstAt !== Number.POSITIVE_INFINITY)
    takeFirst(into, from.first, from.firstAt, from.firstOrder);
  if (from.lastAt !== Number.NEGATIVE_INFINITY)
    takeLast(into, from.last, from.lastAt, from.lastOrder);
  into.trueCount += from.trueCount;
  into.falseCount += from.falseCount;
  if (from.distinct !== undefined) {
    if (into.distinct === undefined) into.distinct = copyDistinct(from.distinct);
    else mergeDistinct(into.distinct, from.distinct);
  }
  if (from.occupied !== undefined) mergeSlots((into.occupied ??= new Map()), from.occupied);
}
