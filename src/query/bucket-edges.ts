// The edges of buckets: fixed durations aligned to the epoch, days, weeks, months and years to the calendar of a zone.
import { dayMs, type EpochMs, hourMs } from '../model/instant.ts';
import type { IsoDuration } from '../model/iso-duration.ts';
import { momentOfLocal, type TimeZone, type ZonePiece } from '../model/time-zone.ts';

// 1970-01-05 was a Monday.
const firstMonday = 4;
const daysAMonthMax = 31;

/** How a bucket interval divides time. */
export type BucketUnit =
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
export function bucketUnit({ months, days, ms }: IsoDuration): BucketUnit | undefined {
  if (months > 0) return days + ms > 0 ? undefined : { kind: 'months', months };
  const total = days * dayMs + ms;
  if (total % dayMs !== 0) return { kind: 'fixed', ms: total, local: total >= hourMs };
  const whole = total / dayMs;
  return { kind: 'days', days: whole, origin: whole % 7 === 0 ? firstMonday : 0 };
}

/** The shortest that a bucket of the unit usually is. */
export function shortestMs(unit: BucketUnit): number {
  if (unit.kind === 'fixed') return unit.ms;
  return (unit.kind === 'days' ? unit.days : unit.months * 28) * dayMs;
}

/** How many buckets the interval has, give or take a few, told without making them. */
export function bucketsRoughly(from: EpochMs, to: EpochMs, unit: BucketUnit): number {
  const longest =
    unit.kind === 'fixed'
      ? unit.ms
      : (unit.kind === 'days' ? unit.days : unit.months * daysAMonthMax) * dayMs;
  return Math.floor((to - from) / longest);
}

/**
 * `from`, every edge between, and `to`, strictly ascending: each neighbouring pair is one bucket.
 */
export function bucketEdges(
  from: EpochMs,
  to: EpochMs,
  unit: BucketUnit,
  zone: TimeZone,
): EpochMs[] {
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
