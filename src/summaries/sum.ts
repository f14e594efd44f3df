// SUM: the sum of the numbers; booleans count as 0 and 1. A sum beyond the largest number is null.
import type { Accumulator } from './accumulator.ts';
import { sumOf } from './compensated-sum.ts';

export const sum: Accumulator = {
  facet: 'numbers',
  finish: (partial) => (partial.numericCount === 0 ? null : sumOf(partial)),
};
