// Facets: the parts of a tally, each a mergeable summary of the values of one data key.
import { addTerm, addTerms, type CompensatedSum, mergeSums } from './compensated-sum.ts';
import { type ColumnValues, type Facet, isNumeric, numberOf, type Tally } from './facet.ts';
import { type EpochMs, hourMs } from '../../model/instant.ts';
import { markSlot, mergeSlots, type OccupiedSlots, slotBit } from './occupied-slots.ts';
import { missing } from '../../structures/missing.ts';
import {
  addDistinct,
  addDistinctHash,
  distinctHash,
  type DistinctSet,
  emptyDistinct,
  mergeDistinct,
} from './distinct-set.ts';

// Facet `numbers`: the sum and the range of numbers; booleans count as 0 and 1.

interface NumbersTally extends Tally, CompensatedSum {
  numericCount: number;
  /** Infinity without a number. */
  min: number;
  /** -Infinity without a number. */
  max: number;
}

export const numbers: Facet<NumbersTally> = {
  start: () => ({
    count: 0,
    numericCount: 0,
    sum: 0,
    sumError: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  }),
  add: (tally, value) => {
    const number = numberOf(value);
    if (Number.isNaN(number)) return;
    addSum(tally, 1, number);
    widen(tally, number, number);
  },
  merge: (into, from) => {
    into.numericCount += from.numericCount;
    mergeSums(into, from);
    widen(into, from.min, from.max);
  },
  reads: isNumeric,
  fromColumn: (tally, { values }, from, to) => {
    tally.numericCount += to - from;
    let { min, max } = tally;
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    tally.min = min;
    tally.max = max;
    if (values instanceof Float64Array) addTerms(tally, values, from, to);
    else addTerms(tally, Float64Array.from(values.subarray(from, to)), 0, to - from);
  },
  fromStatistics: (tally, { count, sum, min, max }) => {
    addSum(tally, count, sum);
    widen(tally, min, max);
  },
  fromHours: (tally, { counts, sums, mins, maxs }, from, to) => {
    for (let i = from; i < to; i++) {
      if (counts[i] === 0) continue;
      addSum(tally, counts[i]!, sums[i]!);
      widen(tally, mins[i]!, maxs[i]!);
    }
  },
};

function addSum(tally: NumbersTally, count: number, sum: number): void {
  tally.numericCount += count;
  addTerm(tally, sum);
}

function widen(tally: NumbersTally, min: number, max: number): void {
  if (min < tally.min) tally.min = min;
  if (max > tally.max) tally.max = max;
}

// Facet `count`: the number of values, which every tally has.

export const count: Facet<Tally> = {
  start: () => ({ count: 0 }),
  add: () => {},
  merge: () => {},
  reads: () => false,
  fromColumn: () => {},
};

// Facet `spread`: how far numbers lie from their mean; booleans count as 0 and 1. Tallies merge by the method of Chan.

interface SpreadTally extends Tally {
  numericCount: number;
  mean: number;
  /** The sum of the squares of the distances from the mean. */
  squares: number;
}

export const spread: Facet<SpreadTally> = {
  start: () => ({ count: 0, numericCount: 0, mean: 0, squares: 0 }),
  add: (tally, value) => {
    const number = numberOf(value);
    if (!Number.isNaN(number)) addPart(tally, 1, number, 0);
  },
  merge: (into, from) => addPart(into, from.numericCount, from.mean, from.squares),
  reads: isNumeric,
  fromColumn: (tally, { values }, from, to) => {
    const first = values[from]!;
    let sum = 0;
    for (let i = from; i < to; i++) sum += values[i]! - first;
    const mean = first + sum / (to - from);
    let squares = 0;
    for (let i = from; i < to; i++) squares += (values[i]! - mean) ** 2;
    addPart(tally, to - from, mean, squares);
  },
};

function addPart(into: SpreadTally, count: number, mean: number, squares: number): void {
  if (count === 0) return;
  const all = into.numericCount + count;
  const distance = mean - into.mean;
  into.squares += squares + distance * distance * ((into.numericCount / all) * count);
  into.mean += distance * (count / all);
  into.numericCount = all;
}

// Facet `ends`: the earliest and the latest value as numbers.

export interface EndsTally extends Tally {
  /** NaN when the value is not a number or a boolean, or when there is none. */
  first: number;
  /** Infinity without a value. */
  firstAt: EpochMs;
  /** Place in the order of storing: decides between values of one instant. */
  firstOrder: number;
  last: number;
  /** -Infinity without a value. */
  lastAt: EpochMs;
  lastOrder: number;
}

export const ends: Facet<EndsTally> = {
  start: () => ({
    count: 0,
    first: Number.NaN,
    firstAt: Number.POSITIVE_INFINITY,
    firstOrder: 0,
    last: Number.NaN,
    lastAt: Number.NEGATIVE_INFINITY,
    lastOrder: 0,
  }),
  add: (tally, value, timestamp, order) => {
    const number = numberOf(value);
    takeFirst(tally, number, timestamp, order);
    takeLast(tally, number, timestamp, order);
  },
  merge: (into, from) => {
    if (from.firstAt !== Number.POSITIVE_INFINITY)
      takeFirst(into, from.first, from.firstAt, from.firstOrder);
    if (from.lastAt !== Number.NEGATIVE_INFINITY)
      takeLast(into, from.last, from.lastAt, from.lastOrder);
  },
  reads: () => true,
  fromColumn: (tally, { kind, values, timestamps, orders }, from, to) => {
    const numberAt = (i: number): number => (isNumeric(kind) ? values[i]! : Number.NaN);
    takeFirst(tally, numberAt(from), timestamps[from]!, orders[from]!);
    takeLast(tally, numberAt(to - 1), timestamps[to - 1]!, orders[to - 1]!);
  },
  isSettled: ({ firstAt, lastAt }, oldest, newest) => firstAt < oldest && lastAt > newest,
};

// Of two values with the same time and order, the first taken stays the first and the last taken
// becomes the last, so
// that adding or merging in the order of storing needs no order numbers.
function takeFirst(into: EndsTally, value: number, at: EpochMs, order: number): void {
  if (at > into.firstAt || (at === into.firstAt && order >= into.firstOrder)) return;
  into.first = value;
  into.firstAt = at;
  into.firstOrder = order;
}

function takeLast(into: EndsTally, value: number, at: EpochMs, order: number): void {
  if (at < into.lastAt || (at === into.lastAt && order < into.lastOrder)) return;
  into.last = value;
  into.lastAt = at;
  into.lastOrder = order;
}

// Facet `truths`: the numbers of values that are true and that are false.

interface TruthsTally extends Tally {
  trueCount: number;
  falseCount: number;
}

export const truths: Facet<TruthsTally> = {
  start: () => ({ count: 0, trueCount: 0, falseCount: 0 }),
  add: (tally, value) => {
    if (typeof value === 'boolean') addTruths(tally, 1, Number(value));
  },
  merge: (into, from) => {
    into.trueCount += from.trueCount;
    into.falseCount += from.falseCount;
  },
  reads: (kind) => kind === 'boolean',
  fromColumn: (tally, { values }, from, to) => {
    let trues = 0;
    for (let i = from; i < to; i++) trues += values[i]!;
    addTruths(tally, to - from, trues);
  },
  // The sum of booleans is the number of those that are true.
  fromStatistics: (tally, { count, sum }) => addTruths(tally, count, sum),
  fromHours: (tally, { counts, sums }, from, to) => {
    for (let i = from; i < to; i++) if (counts[i]! > 0) addTruths(tally, counts[i]!, sums[i]!);
  },
};

function addTruths(tally: TruthsTally, count: number, trues: number): void {
  tally.trueCount += trues;
  tally.falseCount += count - trues;
}

// Facet `occupied`: the five-minute slots with a value that is true or greater than zero.

interface OccupiedTally extends Tally {
  /** Has an item for every hour with a number or a boolean. */
  readonly slots: OccupiedSlots;
}

export const occupied: Facet<OccupiedTally> = {
  start: () => ({ count: 0, slots: new Map() }),
  add: (tally, value, timestamp) => {
    const number = numberOf(value);
    if (!Number.isNaN(number)) markSlot(tally.slots, timestamp, number > 0);
  },
  merge: (into, from) => mergeSlots(into.slots, from.slots),
  reads: isNumeric,
  fromColumn: ({ slots }, { values, timestamps }, from, to) => {
    let i = from;
    while (i < to) {
      const hour = Math.floor(timestamps[i]! / hourMs);
      const nextHourAt = (hour + 1) * hourMs;
      let mask = 0;
      for (; i < to && timestamps[i]! < nextHourAt; i++)
        if (values[i]! > 0) mask |= slotBit(timestamps[i]!);
      addMask(slots, hour, mask);
    }
  },
  fromHours: (tally, { counts, hours, slots }, from, to) => {
    for (let i = from; i < to; i++) if (counts[i]! > 0) addMask(tally.slots, hours[i]!, slots[i]!);
  },
};

function addMask(slots: OccupiedSlots, hour: number, mask: number): void {
  slots.set(hour, (slots.get(hour) ?? 0) | mask);
}

// Facet `counts`: how often each scalar value occurs, up to a number of different ones.

type Scalar = number | boolean | string;

/** With more different values there is no answer. */
const countedValuesMax = 10_000;

export interface CountsTally extends Tally {
  /** Undefined when there were too many. */
  counts: Map<Scalar, number> | undefined;
}

export const counts: Facet<CountsTally> = {
  holdsValues: true,
  start: () => ({ count: 0, counts: new Map() }),
  add: (tally, value) => {
    if (typeof value !== 'object') countValue(tally, value, 1);
  },
  merge: (into, from) => {
    if (from.counts === undefined) into.counts = undefined;
    else for (const [value, count] of from.counts) countValue(into, value, count);
  },
  reads: (kind) => kind !== 'other',
  fromColumn: (tally, column, from, to) => {
    const { values } = column;
    const found = new Map<number, number>();
    for (let i = from; i < to; i++) found.set(values[i]!, (found.get(values[i]!) ?? 0) + 1);
    for (const [value, count] of found) countValue(tally, scalarOf(column, value), count);
  },
};

/** The most frequent value, of several the smallest; numbers come before booleans and texts. */
export function modeOf({ counts: found }: CountsTally): Scalar | null {
  let best: Scalar | null = null;
  let most = 0;
  for (const [value, count] of found ?? []) {
    if (count < most || (count === most && best !== null && !isSmaller(value, best))) continue;
    best = value;
    most = count;
  }
  return best;
}

const typeOrder: readonly string[] = ['number', 'boolean', 'string'];

function isSmaller(value: Scalar, other: Scalar): boolean {
  const byType = typeOrder.indexOf(typeof value) - typeOrder.indexOf(typeof other);
  return byType === 0 ? value < other : byType < 0;
}

function countValue(tally: CountsTally, value: Scalar, count: number): void {
  const { counts: found } = tally;
  if (found === undefined) return;
  found.set(value, (found.get(value) ?? 0) + count);
  if (found.size > countedValuesMax) tally.counts = undefined;
}

function scalarOf({ kind, texts }: ColumnValues, value: number): Scalar {
  if (kind === 'number') return value;
  return kind === 'boolean' ? value === 1 : (texts[value] ?? missing('text of a column'));
}

// Facet `distinct`: the different string forms of scalar values, so that 1 and "1" are one.

interface DistinctTally extends Tally {
  readonly distinct: DistinctSet;
}

export const distinct: Facet<DistinctTally> = {
  start: () => ({ count: 0, distinct: emptyDistinct() }),
  add: (tally, value) => {
    if (typeof value !== 'object') addDistinct(tally.distinct, String(value));
  },
  merge: (into, from) => mergeDistinct(into.distinct, from.distinct),
  reads: (kind) => kind !== 'other',
  fromColumn: (tally, column, from, to) => {
    const { values } = column;
    const seen = new Set<number>();
    for (let i = from; i < to; i++) seen.add(values[i]!);
    for (const value of seen) addDistinctHash(tally.distinct, distinctHash(textOf(column, value)));
  },
};

function textOf({ kind, texts }: ColumnValues, value: number): string {
  if (kind === 'number') return String(value);
  if (kind === 'boolean') return String(value === 1);
  return texts[value] ?? missing('string of a column');
}

// Facet `ranks`: numbers by rank, for quantiles; booleans count as 0 and 1. Exact up to a size, then a DDSketch.

/** Up to so many values quantiles are exact; beyond, they are within 0.5 % of a value of that rank. */
const rankedExactMax = 20_000;
const accuracy = 0.005;
const gamma = (1 + accuracy) / (1 - accuracy);
const logGamma = Math.log(gamma);
const firstCapacity = 16;

interface RanksTally extends Tally {
  /** Values in `numbers`; all of them while there is no sketch. */
  length: number;
  numbers: Float64Array;
  sketch: Sketch | undefined;
}

/** Numbers of values by the logarithm of their amount, which bounds the relative error. */
interface Sketch {
  count: number;
  zeros: number;
  readonly positive: Map<number, number>;
  readonly negative: Map<number, number>;
}

export const ranks: Facet<RanksTally> = {
  holdsValues: true,
  start: () => ({ count: 0, length: 0, numbers: new Float64Array(0), sketch: undefined }),
  add: (tally, value) => {
    const number = numberOf(value);
    if (!Number.isNaN(number)) addNumbers(tally, Float64Array.of(number), 0, 1);
  },
  merge: (into, from) => {
    addNumbers(into, from.numbers, 0, from.length);
    if (from.sketch !== undefined) mergeSketches(sketchOf(into), from.sketch);
  },
  reads: isNumeric,
  fromColumn: (tally, { values }, from, to) => addNumbers(tally, values, from, to),
};

/** The value at a share of the ranks, 0 to 1, on a line between two ranks; null without numbers. */
export function quantileOf({ length, numbers, sketch }: RanksTally, share: number): number | null {
  const count = sketch?.count ?? length;
  if (count === 0) return null;
  const rank = share * (count - 1);
  const low = Math.floor(rank);
  if (sketch === undefined) numbers.subarray(0, length).sort();
  const valueAt = (place: number): number =>
    sketch === undefined ? numbers[place]! : sketchedAt(sketch, place);
  const value = valueAt(low);
  const part = rank - low;
  if (part === 0) return value;
  const next = valueAt(low + 1);
  // Their difference may be larger than any number.
  const difference = next - value;
  return Number.isFinite(difference) ? value + difference * part : value * (1 - part) + next * part;
}

export function isApproximate({ sketch }: RanksTally): boolean {
  return sketch !== undefined;
}

function addNumbers(
  tally: RanksTally,
  values: ColumnValues['values'],
  from: number,
  to: number,
): void {
  if (tally.sketch === undefined && tally.length + to - from <= rankedExactMax) {
    const length = tally.length + to - from;
    if (length > tally.numbers.length) {
      const capacity = Math.max(firstCapacity, Math.min(rankedExactMax, length * 2));
      const grown = new Float64Array(capacity);
      grown.set(tally.numbers.subarray(0, tally.length));
      tally.numbers = grown;
    }
    for (let i = from; i < to; i++) tally.numbers[tally.length++] = values[i]!;
    return;
  }
  const sketch = sketchOf(tally);
  for (let i = from; i < to; i++) addToSketch(sketch, values[i]!);
}

function sketchOf(tally: RanksTally): Sketch {
  if (tally.sketch === undefined) {
    tally.sketch = { count: 0, zeros: 0, positive: new Map(), negative: new Map() };
    for (let i = 0; i < tally.length; i++) addToSketch(tally.sketch, tally.numbers[i]!);
    tally.numbers = new Float64Array(0);
    tally.length = 0;
  }
  return tally.sketch;
}

function addToSketch(sketch: Sketch, value: number): void {
  sketch.count++;
  if (value === 0) sketch.zeros++;
  else addToBin(value > 0 ? sketch.positive : sketch.negative, binOf(Math.abs(value)), 1);
}

function binOf(amount: number): number {
  return Math.ceil(Math.log(amount) / logGamma);
}

function addToBin(bins: Map<number, number>, bin: number, count: number): void {
  bins.set(bin, (bins.get(bin) ?? 0) + count);
}

function mergeSketches(into: Sketch, from: Sketch): void {
  into.count += from.count;
  into.zeros += from.zeros;
  for (const [bin, count] of from.positive) addToBin(into.positive, bin, count);
  for (const [bin, count] of from.negative) addToBin(into.negative, bin, count);
}

/** The middle of the bin that has the value of the rank. */
function sketchedAt({ zeros, positive, negative }: Sketch, rank: number): number {
  let left = rank;
  const bins = (of: Map<number, number>) => [...of].sort(([a], [b]) => a - b);
  for (const [bin, count] of bins(negative).reverse())
    if ((left -= count) < 0) return -middleOf(bin);
  if ((left -= zeros) < 0) return 0;
  for (const [bin, count] of bins(positive)) if ((left -= count) < 0) return middleOf(bin);
  return 0;
}

function middleOf(bin: number): number {
  return Math.min(Number.MAX_VALUE, (2 * gamma ** bin) / (gamma + 1));
}
