// UNMATCHED_COUNT: how many values are false.
import type { Accumulator } from './accumulator.ts';

export const unmatchedCount: Accumulator = {
  facet: 'truths',
  finish: (partial) => partial.falseCount,
};
