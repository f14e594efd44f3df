// Bucket slices: tallies of runs, from the statistics of a slice or from its rows.
import { columnsOfKey, isNumeric } from '../chunks/chunk-schema.ts';
import type { Slice } from '../runs/slice-rows.ts';
import {
  addRows,
  bucketOf,
  type BucketPlan,
  edgeAt,
  type Tallies,
  tallyAt,
  valueKindOf,
} from './bucket-rows.ts';

/** Adds what the slice has within the edges; returns whether it can be read. Throws DamagedChunk. */
export function addSlice(tallies: Tallies, slice: Slice, plan: BucketPlan): boolean {
  const keyColumns = columnsOfKey(slice.schema, plan.dataKey);
  const unread = keyColumns?.filter(({ column }) => !addStatistics(tallies, slice, plan, column));
  if (unread?.length === 0) return true;
  const sorted = slice.sorted();
  if (sorted === undefined) return false;
  addRows(tallies, sorted, plan, unread);
  return true;
}

/** Returns whether the statistics of the slice were enough. */
function addStatistics(
  tallies: Tallies,
  slice: Slice,
  { edges, facet, from, to }: BucketPlan,
  column: number,
): boolean {
  const { oldest, newest, length: count } = slice;
  if (oldest < from || newest >= to) return false;
  const bucket = bucketOf(edges, oldest);
  if (newest >= edgeAt(edges, bucket + 1)) return false;
  const leafKind = slice.shape.leaves[column]?.kind;
  if (leafKind === undefined) return false;
  const kind = valueKindOf(leafKind);
  const known = tallies[bucket];
  const isCountEnough =
    !facet.reads(kind) || (known !== undefined && facet.isSettled?.(known, oldest, newest));
  if (isCountEnough) {
    tallyAt(tallies, facet, bucket).count += count;
    return true;
  }
  if (facet.fromStatistics === undefined || !isNumeric(leafKind)) return false;
  const statistics = slice.statistics(column);
  if (statistics === undefined) return false;
  const tally = tallyAt(tallies, facet, bucket);
  tally.count += count;
  facet.fromStatistics(tally, { kind, count, ...statistics });
  return true;
}
