// Bucket plan: the interval of a request as buckets of the store (interface 4.7, contract 35).
import { type EpochMs, hourMs } from '../model/instant.ts';
import { parseIsoDuration } from '../model/iso-duration.ts';
import { problem } from '../model/problem.ts';
import type { TimeZone } from '../model/time-zone.ts';
import { bucketEdges, bucketsRoughly, bucketUnit, shortestMs } from './bucket-edges.ts';
import { missing } from '../structures/missing.ts';

export type Source = 'raw' | 'hours';

export interface Interval {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

export interface BucketPlan {
  readonly source: Source;
  /** The stamps of the points: the start of each bucket. */
  readonly starts: readonly EpochMs[];
  /** What the store is asked for, strictly ascending; whole hours for hourly aggregates. */
  readonly edges: readonly EpochMs[];
  /** Per point its place in the store's answer; -1 for a bucket in which no hour starts. */
  readonly places: readonly number[];
}

/** What one answer may have; interface 8 recommends at most 730. */
export const bucketsMax = 10_000;
export const bucketIntervalDefault = 'PT1H';
const countedMax = 4;
// Tried in this order when a request has too many buckets.
const suggestions = [
  'PT1M',
  'PT5M',
  'PT15M',
  'PT30M',
  'PT1H',
  'PT2H',
  'PT3H',
  'PT6H',
  'PT12H',
  'P1D',
  'P1W',
  'P1M',
  'P1Y',
];

/** One bucket over the whole interval, for KPIs. */
export function singleBucket(source: Source, interval: Interval): BucketPlan {
  const { from, to } = widened(source, interval);
  return { source, starts: [from], edges: [from, to], places: [0] };
}

/** The first and the last edge of the plan. */
export function planEnds({ edges }: BucketPlan): Interval {
  return { from: edges[0] ?? missing('first edge'), to: edges.at(-1) ?? missing('last edge') };
}

/**
 * The buckets of a time series; refuses (400) a bad interval and more than `bucketsMax` buckets.
 */
export function seriesBuckets(
  source: Source,
  interval: Interval,
  bucketInterval: string,
  zone: TimeZone,
): BucketPlan {
  const { from, to } = widened(source, interval);
  const parsed = parseIsoDuration(bucketInterval);
  if ('reason' in parsed)
    throw problem('badBucketInterval', { bucketInterval, reason: parsed.reason });
  const unit = bucketUnit(parsed.duration);
  if (unit === undefined) {
    const reason = 'months and years cannot be combined with shorter units';
    throw problem('badBucketInterval', { bucketInterval, reason });
  }
  if (source === 'hours' && unit.kind === 'fixed' && unit.ms % hourMs !== 0) {
    const reason =
      'hourly aggregates have whole hours, such as PT1H, or days, months and years; query other buckets with /query/raw/time-series';
    throw problem('badBucketInterval', { bucketInterval, reason });
  }
  // Far too many are not made at all; the others are counted exactly, as days and months vary in
  // length.
  const roughly = bucketsRoughly(from, to, unit);
  const all = roughly > bucketsMax * countedMax ? [] : bucketEdges(from, to, unit, zone);
  const buckets = all.length === 0 ? roughly : all.length - 1;
  if (buckets > bucketsMax) {
    throw problem('tooManyBuckets', {
      buckets,
      bucketsMax,
      bucketInterval,
      suggestion: suggestionFor(from, to),
    });
  }
  return planOf(source, all);
}

function widened(source: Source, { from, to }: Interval): Interval {
  if (source === 'raw') return { from, to };
  return { from: Math.floor(from / hourMs) * hourMs, to: Math.ceil(to / hourMs) * hourMs };
}

function planOf(source: Source, all: readonly EpochMs[]): BucketPlan {
  const starts = all.slice(0, -1);
  if (source === 'raw')
    return { source, starts, edges: all, places: starts.map((_, place) => place) };
  // An hour belongs to the bucket in which it starts, so every edge moves up to the next hour.
  const edges: EpochMs[] = [];
  const places: number[] = [];
  for (const [i, at] of all.entries()) {
    const edge = Math.ceil(at / hourMs) * hourMs;
    if (edge === edges.at(-1)) places[i - 1] = -1;
    else edges.push(edge);
    if (i < starts.length) places.push(edges.length - 1);
  }
  return { source, starts, edges, places };
}

/** The shortest usual interval that stays within the limit. */
function suggestionFor(from: EpochMs, to: EpochMs): string {
  for (const text of suggestions) {
    const parsed = parseIsoDuration(text);
    const unit = 'duration' in parsed ? bucketUnit(parsed.duration) : undefined;
    // Two more for the clipped buckets at both ends.
    if (unit !== undefined && (to - from) / shortestMs(unit) + 2 <= bucketsMax) return text;
  }
  return 'a longer one';
}
