// Time ranges: the interval that the address means, and those next to it.
import type { Interval } from '../../../../../src/dashboards/buckets.ts';
import type { DeviceSearch, RangeName } from '../device-search.ts';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const dayMs = 24 * hourMs;

const spansMs: Readonly<Record<RangeName, number>> = {
  '1h': hourMs,
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
};
export const rangeDefault: RangeName = '24h';

/** A custom range is fixed; the others end now. */
export function intervalOf({ from, to, range }: DeviceSearch, nowMs: number): Interval {
  if (from !== undefined && to !== undefined)
    return { fromMs: Date.parse(from), toMs: Date.parse(to) };
  return { fromMs: nowMs - spansMs[range ?? rangeDefault], toMs: nowMs };
}

const shortestMs = 10 * secondMs;
const longestMs = 366 * dayMs;

/** An interval next to this one, or with the same middle; it never ends after now. */
export function changedRange(
  { fromMs, toMs }: Interval,
  change: 'earlier' | 'later' | 'zoomIn' | 'zoomOut',
  nowMs: number,
): Interval {
  const spanMs = toMs - fromMs;
  const factor = { earlier: 1, later: 1, zoomIn: 0.5, zoomOut: 2 }[change];
  const wantedMs = Math.min(longestMs, Math.max(shortestMs, spanMs * factor));
  const shiftMs = { earlier: -spanMs / 2, later: spanMs / 2, zoomIn: 0, zoomOut: 0 }[change];
  const endMs = Math.min(nowMs, (fromMs + toMs) / 2 + shiftMs + wantedMs / 2);
  return { fromMs: Math.round(endMs - wantedMs), toMs: Math.round(endMs) };
}
