// Intervals of requests: ISO-8601 bounds to half-open milliseconds (contract decisions).
import { type EpochMs, parseInstant } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { Interval } from './bucket-plan.ts';

/** Reads one bound; digits beyond milliseconds are cut off, as they are for samples. */
export function parseBound(bound: string, value: string): EpochMs {
  const moment = parseInstant(value);
  if (moment === undefined) throw problem('badBound', { bound, value: value.slice(0, 100) });
  return moment;
}

/** Reads `{from, to}`; `from` not before `to` is a 400. */
export function parseInterval(interval: { readonly from: string; readonly to: string }): Interval {
  const from = parseBound('interval.from', interval.from);
  const to = parseBound('interval.to', interval.to);
  if (from >= to)
    throw problem('badInterval', {
      reason: `from (${interval.from}) is not before to (${interval.to})`,
    });
  return { from, to };
}
