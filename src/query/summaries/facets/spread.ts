// Facet `spread`: how far numbers lie from their mean; booleans count as 0 and 1. Tallies merge by the method of Chan.
import { type Facet, isNumeric, numberOf, type Tally } from '../facet.ts';

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
