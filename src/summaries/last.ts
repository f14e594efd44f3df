// LAST: the latest value. Answers hold numbers only, so a boolean is 0 or 1, and a value without a number is null.
import type { Accumulator } from './accumulator.ts';

export const last: Accumulator = {
  facet: 'ends',
  finish: (partial) => (Number.isNaN(partial.last) ? null : partial.last),
};
