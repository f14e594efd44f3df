// Buckets of charts: intervals, lengths of bucket that a chart of an interval can show, and the earlier interval to compare with.
import { parseIsoDuration } from '../model/iso-duration.ts';

export interface Interval {
  /** Epoch milliseconds; `to` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Bucket {
  /** As requests name it. */
  readonly iso: string;
  readonly seconds: number;
}

const secondMs = 1_000;
/** What a chart shows well (interface 8). */
const bucketsMax = 730;

const buckets: readonly Bucket[] = [
  { iso: 'PT1S', seconds: 1 },
  { iso: 'PT5S', seconds: 5 },
  { iso: 'PT10S', seconds: 10 },
  { iso: 'PT30S', seconds: 30 },
  { iso: 'PT1M', seconds: 60 },
  { iso: 'PT2M', seconds: 120 },
  { iso: 'PT5M', seconds: 300 },
  { iso: 'PT15M', seconds: 900 },
  { iso: 'PT30M', seconds: 1_800 },
  { iso: 'PT1H', seconds: 3_600 },
  { iso: 'PT3H', seconds: 10_800 },
  { iso: 'PT6H', seconds: 21_600 },
  { iso: 'P1D', seconds: 86_400 },
];
const longest: Bucket = { iso: 'P1W', seconds: 604_800 };
export const bucketLengths: readonly Bucket[] = [...buckets, longest];

/** The shortest bucket with which the interval has at most `bucketsMax` of them. */
export function bucketFor(interval: Interval): Bucket {
  return buckets.find((one) => isShowable(one, interval)) ?? longest;
}

/** Buckets of which the interval has at most `bucketsMax`. */
export function bucketsFor(interval: Interval): readonly Bucket[] {
  return bucketLengths.filter((one) => isShowable(one, interval));
}

/** Whether the interval has at most `bucketsMax` of the bucket. */
export function isShowable({ seconds }: Bucket, { fromMs, toMs }: Interval): boolean {
  return (toMs - fromMs) / secondMs / seconds <= bucketsMax;
}

export function bucketNamed(iso: unknown): Bucket | undefined {
  return bucketLengths.find((one) => one.iso === iso);
}

/** The interval as requests have it. */
export function isoInterval({ fromMs, toMs }: Interval): { from: string; to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

// Earlier period: the interval that a dashboard is compared with, and its buckets at the times of the shown ones (contract 39).

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
