// DISTINCT_COUNT: how many different string forms the scalar values have, so that 1 and "1" are one.
import type { Accumulator } from './accumulator.ts';
import { countDistinct } from './distinct-set.ts';

export const distinctCount: Accumulator = {
  facet: 'distinct',
  finish: (partial) => (partial.distinct === undefined ? 0 : countDistinct(partial.distinct)),
};
