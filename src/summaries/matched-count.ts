// MATCHED_COUNT: how many values are true.
import type { Accumulator } from './accumulator.ts';

export const matchedCount: Accumulator = {
  facet: 'truths',
  finish: (partial) => partial.trueCount,
};
