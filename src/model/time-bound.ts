// Time bounds of requests: ISO-8601 texts to milliseconds (contract decisions).
import { type EpochMs, parseInstant } from './instant.ts';
import { problem } from './problem.ts';

/**
 * Reads one bound; digits beyond milliseconds are cut off, as they are for samples. Throws 400
 * with `bound` as its name.
 */
export function parseBound(bound: string, value: string): EpochMs {
  const moment = parseInstant(value);
  if (moment === undefined) throw problem('badBound', { bound, value: value.slice(0, 100) });
  return moment;
}

/** As `parseBound`; undefined without a value. */
export function parseOptionalBound(bound: string, value: string | undefined): EpochMs | undefined {
  return value === undefined ? undefined : parseBound(bound, value);
}
