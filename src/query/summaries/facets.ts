// Facet `numbers`: the sum and the range of numbers; booleans count as 0 and 1.
import { addTerm, addTerms, type CompensatedSum, mergeSums } from './compensated-sum.ts';
import { type Facet, isNumeric, numberOf, type Tally } from './facet.ts';

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
