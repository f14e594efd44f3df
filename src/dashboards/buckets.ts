// Buckets of charts: intervals, and lengths of bucket that a chart of an interval can show.

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
