// AVG: the mean of the numbers; booleans count as 0 and 1.
import type { Accumulator } from './accumulator.ts';
import { sumOf } from './compensated-sum.ts';

export const avg: Accumulator = {
  facet: 'numbers',
  finish: (partial) => {
    const sum = partial.numericCount === 0 ? null : sumOf(partial);
    return sum === null ? null : sum / partial.numericCount;
  },
};
