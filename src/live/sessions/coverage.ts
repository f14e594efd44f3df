// Coverage: the samples that a subscription has sent or will send, so that each is sent exactly once.
import type { EpochMs } from '../../model/instant.ts';
import { earlier, type LiveSample, reaches, type StreamPlace } from './stream-position.ts';

/** Start of a replay: after a place, or at a time of storage. */
export type ReplayStart = { readonly cursor: StreamPlace } | { readonly storedSince: EpochMs };

/**
 * A sample is covered by either property. Without both, it is covered if it was published in this
 * process.
 */
export interface Coverage {
  readonly afterCursor?: StreamPlace;
  readonly storedSince?: EpochMs;
}

export function startsBefore(start: ReplayStart, sample: LiveSample): boolean {
  if ('cursor' in start) return !reaches(start.cursor, sample);
  return sample.storedAt >= start.storedSince;
}

export function covers(
  coverage: Coverage,
  sample: LiveSample,
  firstCursor: string | undefined,
): boolean {
  const { afterCursor, storedSince } = coverage;
  if (afterCursor === undefined && storedSince === undefined) {
    return firstCursor !== undefined && sample.cursor >= firstCursor;
  }
  return (
    (afterCursor !== undefined && !reaches(afterCursor, sample)) ||
    (storedSince !== undefined && sample.storedAt >= storedSince)
  );
}

/** The coverage that also includes everything since the start. */
export function widened(coverage: Coverage | undefined, start: ReplayStart): Coverage {
  if ('cursor' in start) {
    return { ...coverage, afterCursor: earlier(start.cursor, coverage?.afterCursor) };
  }
  const known = coverage?.storedSince ?? Infinity;
  return { ...coverage, storedSince: Math.min(known, start.storedSince) };
}
