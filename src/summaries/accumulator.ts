// The shape of an accumulator: how values of one data key become one number (interface 4.6).
import type { CountedSlots } from './occupied-slots.ts';
import type { Facet, Partial } from './tally.ts';

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

/** Older clients call LAST by this name. */
export const lastAlias = 'NONE';

/** The accumulator of a name in any case; undefined when there is none. */
export function accumulatorNamed(text: string): AccumulatorName | undefined {
  const upper = text.toUpperCase();
  if (upper === lastAlias) return 'LAST';
  return accumulatorNames.find((name) => name === upper);
}

/** Start with `emptyPartial()`, add with `addValue`, join with `mergePartials`, end with `finish`. */
export interface Accumulator {
  /** The part of a partial that `finish` reads: nobody needs to fill the others for it. */
  readonly facet: Facet;
  /**
   * The answer for all values that went into the partial; null where there is no number to tell, 0 for the COUNT kinds.
   * Only OCCUPANCY looks at the counted slots.
   */
  readonly finish: (partial: Partial, counted: CountedSlots) => number | null;
}
