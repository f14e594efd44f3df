// Which samples a subscription has sent or will send, so that none is sent twice and none is left out.
import type { EpochMs } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';

/** Where a replay begins: after a cursor, or at a time of storing. */
export type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

/** A sample is covered when any of the set members says so; without any, when it was published in this process. */
export interface Coverage {
  readonly afterCursor?: string;
  readonly storedSince?: EpochMs;
}

export function startsBefore(start: ReplayStart, sample: StoredSample): boolean {
  return 'cursor' in start ? sample.cursor > start.cursor : sample.storedAt >= start.storedSince;
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

/** The coverage that also has everything since the start. */
export function widened(coverage: Coverage | undefined, start: ReplayStart): Coverage {
  if ('cursor' in start) {
    const known = coverage?.afterCursor;
    return {
      ...coverage,
      afterCursor: known !== undefined && known < start.cursor ? known : start.cursor,
    };
  }
  const known = coverage?.storedSince;
  return {
    ...coverage,
    storedSince: known === undefined ? start.storedSince : Math.min(known, start.storedSince),
  };
}
