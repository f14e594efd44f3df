// Bucket plan: the interval of a request as buckets of the store (interface 4.7, contract 35).
import { dayMs, type EpochMs, hourMs } from '../model/instant.ts';
import { type IsoDuration, parseIsoDuration } from '../model/iso-duration.ts';
import { problem } from '../model/problem.ts';
import { momentOfLocal, type TimeZone, type ZonePiece } from '../model/time-zone.ts';
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

// 1970-01-05 was a Monday.
const firstMonday = 4;
const daysAMonthMax = 31;

/** How a bucket interval divides time. */
type BucketUnit =
  /**
   * `local`: aligned to the zone's clock, which begins at one hour; shorter ones are the same in
   * every zone.
   */
  | { readonly kind: 'fixed'; readonly ms: number; readonly local: boolean }
  | { readonly kind: 'days'; readonly days: number; readonly origin: number }
  | { readonly kind: 'months'; readonly months: number };

/**
 * The unit of a duration; undefined for months mixed with days or hours, which have no place in the
 * calendar. Whole days are calendar days however they are written, and whole weeks begin on Monday.
 */
function bucketUnit({ months, days, ms }: IsoDuration): BucketUnit | undefined {
  if (months > 0) return days + ms > 0 ? undefined : { kind: 'months', months };
  const total = days * dayMs + ms;
  if (total % dayMs !== 0) return { kind: 'fixed', ms: total, local: total >= hourMs };
  const whole = total / dayMs;
  return { kind: 'days', days: whole, origin: whole % 7 === 0 ? firstMonday : 0 };
}

/** The shortest that a bucket of the unit usually is. */
function shortestMs(unit: BucketUnit): number {
  if (unit.kind === 'fixed') return unit.ms;
  return (unit.kind === 'days' ? unit.days : unit.months * 28) * dayMs;
}

/** How many buckets the interval has, give or take a few, told without making them. */
function bucketsRoughly(from: EpochMs, to: EpochMs, unit: BucketUnit): number {
  const longest =
    unit.kind === 'fixed'
      ? unit.ms
      : (unit.kind === 'days' ? unit.days : unit.months * daysAMonthMax) * dayMs;
  return Math.floor((to - from) / longest);
}

/**
 * `from`, every edge between, and `to`, strictly ascending: each neighbouring pair is one bucket.
 */
function bucketEdges(from: EpochMs, to: EpochMs, unit: BucketUnit, zone: TimeZone): EpochMs[] {
  const inner =
    unit.kind === 'fixed' ? fixedEdges(from, to, unit, zone) : calendarEdges(from, to, unit, zone);
  return [from, ...inner, to];
}

function fixedEdges(
  from: EpochMs,
  to: EpochMs,
  unit: { readonly ms: number; readonly local: boolean },
  zone: TimeZone,
): EpochMs[] {
  const utc: ZonePiece = { start: -Infinity, end: Infinity, offsetMs: 0 };
  const pieces = unit.local ? zone.pieces(from, to) : [utc];
  const edges: EpochMs[] = [];
  let before: ZonePiece | undefined;
  for (const piece of pieces) {
    const start = Math.max(from + 1, piece.start);
    const end = Math.min(to, piece.end);
    const first = Math.ceil((start + piece.offsetMs) / unit.ms) * unit.ms - piece.offsetMs;
    // A clock that jumps over an edge shows it at the moment of the jump.
    if (before !== undefined && piece.start > from && piece.start < to && first !== piece.start) {
      const shownBefore = Math.ceil((piece.start + before.offsetMs) / unit.ms) * unit.ms;
      if (shownBefore < piece.start + piece.offsetMs) edges.push(piece.start);
    }
    for (let edge = first; edge < end; edge += unit.ms) edges.push(edge);
    before = piece;
  }
  return edges;
}

function calendarEdges(
  from: EpochMs,
  to: EpochMs,
  unit: Exclude<BucketUnit, { readonly kind: 'fixed' }>,
  zone: TimeZone,
): EpochMs[] {
  const pieces = zone.pieces(from - 2 * dayMs, to + 2 * dayMs);
  const edges: EpochMs[] = [];
  let last = from;
  for (let index = bucketIndex(from - dayMs, unit); ; index++) {
    const edge = momentOfLocal(pieces, localStart(index, unit));
    if (edge === undefined || edge >= to) return edges;
    // A day that the zone skipped altogether starts with the next one.
    if (edge > last) edges.push((last = edge));
  }
}

function bucketIndex(at: EpochMs, unit: Exclude<BucketUnit, { readonly kind: 'fixed' }>): number {
  if (unit.kind === 'days') return Math.floor((Math.floor(at / dayMs) - unit.origin) / unit.days);
  const moment = new Date(at);
  return Math.floor((moment.getUTCFullYear() * 12 + moment.getUTCMonth()) / unit.months);
}

/** When the bucket begins on the zone's own clock and calendar. */
function localStart(index: number, unit: Exclude<BucketUnit, { readonly kind: 'fixed' }>): number {
  if (unit.kind === 'days') return (index * unit.days + unit.origin) * dayMs;
  const month = index * unit.months;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; setUTCFullYear does not.
  return new Date(0).setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
}
