// Accumulators: the table of how the values of one data key become one number, and tallies value by value.
// To add one, see CONTRIBUTING.md: a row here, and a facet when none of the present ones holds what
// it needs.
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { sumOf } from './compensated-sum.ts';
import { countDistinct } from './distinct-set.ts';
import type { Facet, Tally } from './facet.ts';
import {
  count,
  counts,
  type CountsTally,
  distinct,
  ends,
  isApproximate,
  modeOf,
  numbers,
  occupied,
  quantileOf,
  ranks,
  spread,
  truths,
} from './facets.ts';
import { type CountedSlots, occupiedCount } from './occupied-slots.ts';

interface Accumulator {
  /** What a tally must hold. */
  readonly facet: Facet<Tally>;
  /** The answer for a tally of the facet; null when there is none, 0 for the COUNT kinds. */
  readonly finish: (tally: Tally, counted: CountedSlots) => number | null;
  /** Whether the answer depends on the counted slots. */
  readonly countsSlots: boolean;
  /** Whether the answer for the tally is an estimate; absent where none is. */
  readonly isApproximate?: (tally: Tally) => boolean;
  /** The answer where it is a text. */
  readonly textOf?: (tally: Tally) => string | undefined;
}

export const accumulators = {
  MIN: from(numbers, (tally) => (tally.numericCount === 0 ? null : tally.min)),
  MAX: from(numbers, (tally) => (tally.numericCount === 0 ? null : tally.max)),
  /** The mean. */
  AVG: from(numbers, (tally) => quotient(sumOf(tally), tally.numericCount)),
  /** Null when the sum is larger than any number. */
  SUM: from(numbers, (tally) => (tally.numericCount === 0 ? null : sumOf(tally))),
  COUNT: from(count, (tally) => tally.count),
  /** Answers hold numbers only: null for a text or an object. */
  FIRST: from(ends, ({ first }) => (Number.isNaN(first) ? null : first)),
  LAST: from(ends, ({ last }) => (Number.isNaN(last) ? null : last)),
  DISTINCT_COUNT: from(distinct, (tally) => countDistinct(tally.distinct)),
  /** Values that are true. */
  MATCHED_COUNT: from(truths, (tally) => tally.trueCount),
  /** Values that are false. */
  UNMATCHED_COUNT: from(truths, (tally) => tally.falseCount),
  /** The share of the counted slots that are occupied, in percent. */
  OCCUPANCY: {
    ...from(occupied, ({ slots }, counted) => {
      if (slots.size === 0) return null;
      const share = quotient(occupiedCount(slots, counted), counted.total);
      return share === null ? null : share * 100;
    }),
    countsSlots: true,
  },
  /** Of a sample; null below two numbers. */
  STDDEV: from(spread, ({ numericCount, squares }) =>
    numericCount < 2 ? null : finite(Math.sqrt(squares / (numericCount - 1))),
  ),
  MEDIAN: quantile(0.5),
  /** The most frequent value, of several the smallest. */
  MODE: {
    ...from(counts, (tally) => {
      const mode = modeOf(tally);
      return mode === null || typeof mode === 'string' ? null : Number(mode);
    }),
    textOf: (tally) => {
      const mode = modeOf(tally as CountsTally);
      return typeof mode === 'string' ? mode : undefined;
    },
  },
} as const satisfies Record<string, Accumulator>;

type ListedAccumulator = keyof typeof accumulators;
/** With P and a percentage for quantiles: P95, P99.9. */
export type AccumulatorName = ListedAccumulator | `P${number}`;
/** Without the quantiles. */
export const accumulatorNames = Object.keys(accumulators) as readonly ListedAccumulator[];
/** Of the names of quantiles, P0 to P100. */
export const quantilePattern = '^[Pp](?:100(?:\\.0{1,6})?|\\d{1,2}(?:\\.\\d{1,6})?)$';
const quantileExpression = new RegExp(quantilePattern);

export function accumulatorOf(name: AccumulatorName): Accumulator {
  if (Object.hasOwn(accumulators, name)) return accumulators[name as ListedAccumulator];
  return quantile(Number(name.slice(1)) / 100);
}

/** Older clients call LAST by this name. */
export const lastAlias = 'NONE';

/** The accumulator of a name in any case; undefined for an unknown name. */
export function accumulatorNamed(text: string): AccumulatorName | undefined {
  const upper = text.toUpperCase();
  if (upper === lastAlias) return 'LAST';
  if (quantileExpression.test(upper)) return `P${Number(upper.slice(1))}`;
  return accumulatorNames.find((name) => name === upper);
}

function quantile(share: number): Accumulator {
  return {
    ...from(ranks, (tally) => quantileOf(tally, share)),
    // The tally is one of the facet.
    isApproximate: isApproximate as Accumulator['isApproximate'] & object,
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A row: `finish` reads the tally that the facet starts. */
function from<T extends Tally>(
  facet: Facet<T>,
  finish: (tally: T, counted: CountedSlots) => number | null,
): Accumulator {
  // A tally is only given to the accumulator whose facet started it.
  return { facet, finish: finish as Accumulator['finish'], countsSlots: false };
}

function quotient(dividend: number | null, divisor: number): number | null {
  return dividend === null || divisor === 0 ? null : dividend / divisor;
}

// Tallies value by value: adding one value and merging two tallies, with the count that all facets share.

/**
 * When a value was measured, and its place in the order of storing, which values added in that
 * order do not need.
 */
/** Adds one value; null and absent values change nothing. */
export function addValue<T extends Tally>(
  facet: Facet<T>,
  tally: T,
  value: Json | undefined,
  { timestamp, order = 0 }: { readonly timestamp: EpochMs; readonly order?: number | undefined },
): void {
  if (value === null || value === undefined) return;
  tally.count++;
  facet.add(tally, value, timestamp, order);
}

/** Merges `from` into `into`; `from` does not change. See `Facet.merge` for the order. */
export function mergeTallies<T extends Tally>(facet: Facet<T>, into: T, from: T): void {
  into.count += from.count;
  facet.merge(into, from);
}
