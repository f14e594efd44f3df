// MIN: the smallest number; booleans count as 0 and 1.
import type { Accumulator } from './accumulator.ts';

export const min: Accumulator = {
  facet: 'numbers',
  finish: (partial) => (partial.numericCount === 0 ? null : partial.min),
};
