// Facet `truths`: the numbers of values that are true and that are false.
import type { Facet, Tally } from '../facet.ts';

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
