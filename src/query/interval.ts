// Intervals of requests: ISO-8601 bounds to half-open milliseconds (contract decisions).
import { problem } from '../model/problem.ts';
import { parseBound } from '../model/time-bound.ts';
import type { Interval } from './bucket-plan.ts';

/** Reads `{from, to}`; `from` not before `to` is a 400. */
export function parseInterval(interval: { readonly from: string; readonly to: string }): Interval {
  const from = parseBound('interval.from', interval.from);
  const to = parseBound('interval.to', interval.to);
  if (from >= to)
    throw problem('badInterval', {
      reason: `from (${interval.from}) must be before to (${interval.to})`,
    });
  return { from, to };
}
