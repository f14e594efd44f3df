// Chunk cuts: sorted rows become one chunk after the other.
import { dayMs, type EpochMs } from '../../../../model/instant.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { Chunk } from './chunk.ts';
import type { SchemaInterner } from './chunk-schema.ts';
import { type RowsToSeal, sealRows } from './chunk-writer.ts';

export type CutLimits = Pick<StoreLimits, 'rowsMax' | 'rowsToCloseAtDay'>;

/**
 * The rows as chunks, in the order of time. Rows up to `sealedNewest`, the newest time that was
 * sealed before, are apart from the others.
 */
export function* sealInChunks(
  sorted: RowsToSeal,
  sealedNewest: EpochMs,
  schemas: SchemaInterner,
  limits: CutLimits,
): Generator<Chunk, void> {
  let from = 0;
  for (const to of cutPlaces(sorted.timestamps, sorted.length, sealedNewest, limits)) {
    yield sealRows(sorted, from, to, schemas);
    from = to;
  }
}

/**
 * Where sorted rows are cut so that each piece is one chunk: late rows apart, the rest at ends of
 * days when long enough.
 */
function cutPlaces(
  timestamps: Float64Array,
  length: number,
  sealedNewest: EpochMs,
  limits: CutLimits,
): number[] {
  const cuts: number[] = [];
  let start = 0;
  for (let i = 1; i < length; i++) {
    const before = timestamps[i - 1]!;
    const at = timestamps[i]!;
    const endsLate = before <= sealedNewest && at > sealedNewest;
    const endsDay =
      i - start >= limits.rowsToCloseAtDay && Math.floor(at / dayMs) !== Math.floor(before / dayMs);
    if (!endsLate && !endsDay && i - start < limits.rowsMax) continue;
    cuts.push(i);
    start = i;
  }
  return [...cuts, length];
}
