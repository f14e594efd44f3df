// The shape of an accumulator: how values of one data key become one number (interface 4.6).

export const accumulatorNames = [
  'MIN',
  'MAX',
  'AVG',
  'SUM',
  'COUNT',
  'FIRST',
  'LAST',
  'DISTINCT_COUNT',
  'MATCHED_COUNT',
  'UNMATCHED_COUNT',
  'OCCUPANCY',
] as const;
export type AccumulatorName = (typeof accumulatorNames)[number];
