// Partials per bucket from rows, one by one: what every faster way must agree with.
import { accumulators } from '../../accumulators/accumulator-table.ts';
import { addValue, emptyPartial, type Partial } from '../../accumulators/partial.ts';
import type { BucketRequest } from '../sample-store.ts';
import { lookUp } from './key-lookup.ts';
import { dataAt, placeOf, type SortedRows } from './rows.ts';

/** Adds the rows to the partials of the buckets that they fall into. */
export function addRows(partials: (Partial | undefined)[], sorted: SortedRows, request: BucketRequest): void {
  const { edges, dataKey, accumulator } = request;
  const { facet } = accumulators[accumulator];
  const end = placeOf(sorted, edges.at(-1)!);
  let bucket = 0;
  for (let place = placeOf(sorted, edges[0]!); place < end; place++) {
    const timestamp = sorted.timestamps[place]!;
    while (timestamp >= edges[bucket + 1]!) bucket++;
    const row = sorted.permutation === undefined ? place : sorted.permutation[place]!;
    const value = lookUp(dataAt(sorted.rows, row), dataKey);
    if (value === undefined || value === null) continue;
    partials[bucket] ??= emptyPartial();
    addValue(partials[bucket]!, facet, value, timestamp, sorted.orders[place]!);
  }
}
