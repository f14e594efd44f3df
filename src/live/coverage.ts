// Coverage: the samples that a subscription has sent or will send, so that each is sent exactly once.
import type { EpochMs } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';

/** Start of a replay: after a cursor, or at a time of storage. */
export type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

/**
 * A sample is covered by either property. Without both, it is covered if it was published in this
 * process.
 */
export interface Coverage {
  readonly afterCursor?: string;
  readonly storedSince?: EpochMs;
}

export function startsBefore(start: ReplayStart, sample: StoredSample): boolean {
  if ('cursor' in start) return sample.cursor > start.cursor;
  return sample.storedAt >= start.storedSince;
}

export function covers(
  coverage: Coverage,
  sample: StoredSample,
  firstCursor: string | undefined,
): boolean {
  const { afterCursor, storedSince } = coverage;
  if (afterCursor === undefined && storedSince === undefined) {
    return firstCursor !== undefined && sample.cursor >= firstCursor;
  }
  return (
    (afterCursor !== undefined && sample.cursor > afterCursor) ||
    (storedSince !== undefined && sample.storedAt >= storedSince)
  );
}

/** The coverage that also includes everything since the start. */
export function widened(coverage: Coverage | undefined, start: ReplayStart): Coverage {
  if ('cursor' in start) {
    const known = coverage?.afterCursor;
    if (known !== undefined && known < start.cursor) return { ...coverage };
    return { ...coverage, afterCursor: start.cursor };
  }
  const known = coverage?.storedSince ?? Infinity;
  return { ...coverage, storedSince: Math.min(known, start.storedSince) };
}
