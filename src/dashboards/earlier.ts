// Earlier period: the interval that a dashboard is compared with, and its buckets at the times of the shown ones (contract 39).
import { parseIsoDuration } from '../model/iso-duration.ts';
import type { Interval } from './buckets.ts';

/** `PREVIOUS` is the period of the same length that ends where the interval begins. */
export const previousPeriod = 'PREVIOUS';

/**
 * Returns how much earlier the compared period is, in milliseconds: `compare` is `PREVIOUS` or an
 * ISO-8601 duration, whose days and months are those of the clock. Undefined for no comparison, and
 * for what is no duration.
 */
export function earlierByMs(
  compare: string | null | undefined,
  { fromMs, toMs }: Interval,
  clock: (seconds: number) => number,
): number | undefined {
  if (!compare) return undefined;
  if (compare === previousPeriod) return toMs - fromMs;
  const parsed = parseIsoDuration(compare);
  if ('reason' in parsed) return undefined;
  const { months, days, ms } = parsed.duration;
  const localMs = clock(fromMs / 1_000) * 1_000;
  const day = new Date(localMs);
  const wantedDay = day.getUTCDate();
  day.setUTCMonth(day.getUTCMonth() - months);
  // A shorter month ends before the day: its last day.
  if (day.getUTCDate() !== wantedDay) day.setUTCDate(0);
  day.setUTCDate(day.getUTCDate() - days);
  let atMs = fromMs - (localMs - day.getTime());
  // The clock may have been changed in between.
  atMs += day.getTime() - clock(atMs / 1_000) * 1_000;
  return fromMs - atMs + ms;
}

export function earlierInterval({ fromMs, toMs }: Interval, byMs: number): Interval {
  return { fromMs: fromMs - byMs, toMs: toMs - byMs };
}

/** The index of the bucket in which each earlier one begins, moved by `byMs`; -1 before the first. */
export function placesOf(
  starts: readonly number[],
  earlier: readonly string[],
  byMs: number,
): readonly number[] {
  let place = -1;
  return earlier.map((timestamp) => {
    const atMs = Date.parse(timestamp) + byMs;
    while (place + 1 < starts.length && (starts[place + 1] ?? 0) <= atMs) place += 1;
    return place;
  });
}
