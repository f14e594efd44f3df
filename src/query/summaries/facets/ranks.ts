// Facet `ranks`: numbers by rank, for quantiles; booleans count as 0 and 1. Exact up to a size, then a DDSketch.
import { type ColumnValues, type Facet, isNumeric, numberOf, type Tally } from '../facet.ts';

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
  else note(value > 0 ? sketch.positive : sketch.negative, binOf(Math.abs(value)), 1);
}

function binOf(amount: number): number {
  return Math.ceil(Math.log(amount) / logGamma);
}

function note(bins: Map<number, number>, bin: number, count: number): void {
  bins.set(bin, (bins.get(bin) ?? 0) + count);
}

function mergeSketches(into: Sketch, from: Sketch): void {
  into.count += from.count;
  into.zeros += from.zeros;
  for (const [bin, count] of from.positive) note(into.positive, bin, count);
  for (const [bin, count] of from.negative) note(into.negative, bin, count);
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
