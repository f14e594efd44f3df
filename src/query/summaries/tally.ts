// Tallies value by value: adding one value and merging two tallies, with the count that all facets share.
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { Facet, Tally } from './facet.ts';

/**
 * When a value was measured, and its place in the order of storing, which values added in that
 * order do not need.
 */
export interface ValuePlace {
  readonly timestamp: EpochMs;
  readonly order?: number | undefined;
}

/** Adds one value; null and absent values change nothing. */
export function addValue<T extends Tally>(
  facet: Facet<T>,
  tally: T,
  value: Json | undefined,
  { timestamp, order = 0 }: ValuePlace,
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
