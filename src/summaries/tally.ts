// Tallies value by value: adding one value and merging two tallies, with the count that all facets share.
import type { EpochMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import type { Facet, Tally } from './facet.ts';

/**
 * Adds one value; null and absent values change nothing. `order` is the place of the value in the order of storing. It
 * may be left out when values are added in that order.
 */
export function addValue<T extends Tally>(
  facet: Facet<T>,
  tally: T,
  value: Json | undefined,
  timestamp: EpochMs,
  order = 0,
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
