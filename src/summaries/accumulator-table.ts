// The table of accumulators: one row and one file each.
import type { Accumulator, AccumulatorName } from './accumulator.ts';
import { avg } from './avg.ts';
import { count } from './count.ts';
import { distinctCount } from './distinct-count.ts';
import { first } from './first.ts';
import { last } from './last.ts';
import { matchedCount } from './matched-count.ts';
import { max } from './max.ts';
import { min } from './min.ts';
import { occupancy } from './occupancy.ts';
import { sum } from './sum.ts';
import { unmatchedCount } from './unmatched-count.ts';

export const accumulators = {
  MIN: min,
  MAX: max,
  AVG: avg,
  SUM: sum,
  COUNT: count,
  FIRST: first,
  LAST: last,
  DISTINCT_COUNT: distinctCount,
  MATCHED_COUNT: matchedCount,
  UNMATCHED_COUNT: unmatchedCount,
  OCCUPANCY: occupancy,
} as const satisfies Record<AccumulatorName, Accumulator>;
