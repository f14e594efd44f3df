// Forecast: when a value that falls or rises steadily reaches a target, by the slopes between daily medians (contract 38).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, type EpochMs, formatInstant, hourMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { type QueriedDevice, readAccumulation, readDuration } from './accumulation.ts';
import { bucketRequest } from './bucket-answers.ts';
import { type Hours, hoursOf, medianOf } from './expected-range.ts';
import type { DeviceQueries } from './device-queries.ts';

const historyStandard = 'P30D';
const historyDaysMax = 366;
const horizonStandard = 'P365D';
const daysMin = 7;
/**
 * A step against the trend of more than this share of the range: a battery replaced, a tank filled. In
 * series that only waver every second step is as large, so it also has to be so many usual steps.
 */
const jumpShare = 0.2;
const jumpSteps = 4;
/** Of the normal distribution, for 80 % in the middle. */
const quantile80 = 1.2816;
const talliesPerCall = 20_000;

type ForecastReason = 'TOO_FEW' | 'FLAT' | 'AWAY' | 'BEYOND_HORIZON';

interface Forecast {
  /** Average of the newest hour; null without any. */
  readonly value: number | null;
  readonly slopePerDay: number | null;
  /** ISO-8601; null with a reason. */
  readonly reachesAt: string | null;
  readonly earliest: string | null;
  readonly latest: string | null;
  /** Days since the last jump. */
  readonly days: number;
  readonly reason: ForecastReason | null;
}

/** In the order of the devices. Refuses (400) bad durations and an unknown zone. */
export async function forecasts(
  devices: readonly QueriedDevice[],
  body: {
    readonly topic: string;
    readonly dataKey: string;
    readonly target: number;
    /** ISO-8601 durations. */
    readonly history?: string | null;
    readonly horizon?: string | null;
    readonly timeZone?: string | null;
  },
  now: EpochMs,
  queries: DeviceQueries,
): Promise<(Forecast & { readonly deviceId: string })[]> {
  const historyMs = readDuration('history', body.history ?? historyStandard);
  if (historyMs > historyDaysMax * dayMs)
    throw problem('invalidRequest', {
      reason: `body history: must be at most P${historyDaysMax}D, got ${body.history}`,
    });
  const horizonMs = readDuration('horizon', body.horizon ?? horizonStandard);
  const to = Math.ceil(now / hourMs) * hourMs;
  const from = to - Math.ceil(historyMs / hourMs) * hourMs;
  const interval = { from: formatInstant(from), to: formatInstant(to) };
  const accumulation = readAccumulation(
    { ...body, interval, accumulator: 'AVG' },
    queries.calendars.openZone,
  );
  const edges = Array.from({ length: (to - from) / hourMs + 1 }, (_, i) => from + i * hourMs);
  const plan = { source: 'hours', starts: [], edges, places: [] } as const;
  const perCall = Math.max(1, Math.floor(talliesPerCall / edges.length));
  const found: (Forecast & { readonly deviceId: string })[] = [];
  for (let start = 0; start < devices.length; start += perCall) {
    const some = devices.slice(start, start + perCall);
    const tallies = await queries.store.buckets(bucketRequest(some, accumulation, 'AVG', plan));
    for (const [i, device] of some.entries()) {
      const zone = await queries.calendars.zoneOf(body.timeZone, device.workspaceId);
      const hours = hoursOf(tallies[i] ?? [], from, zone);
      found.push({ deviceId: device.id, ...forecastOf(hours, body.target, now, horizonMs) });
      // The slopes between the days of a year take some milliseconds.
      await nextTurn();
    }
  }
  return found;
}

interface Day {
  /** Local days since the epoch. */
  readonly number: number;
  /** About its middle. */
  readonly at: EpochMs;
  readonly median: number;
}

/** The forecast of hours that end now. */
export function forecastOf(
  hours: Hours,
  target: number,
  now: EpochMs,
  horizonMs: number,
): Forecast {
  const newest = hours.averages.findLast((value) => !Number.isNaN(value));
  const days = sinceJump(daysOf(hours));
  const none = {
    value: newest ?? null,
    slopePerDay: null,
    reachesAt: null,
    earliest: null,
    latest: null,
    days: days.length,
  };
  const last = days.at(-1);
  if (days.length < daysMin || last === undefined) return { ...none, reason: 'TOO_FEW' };
  const slopes = slopesOf(days);
  const slope = medianOf(slopes);
  const known = { ...none, slopePerDay: slope };
  const { low, high } = intervalOf(slopes, days.length);
  if (low <= 0 && high >= 0) return { ...known, reason: 'FLAT' };
  const base = medianOf(Float64Array.from(days, ({ number, median }) => median - slope * number));
  const left = target - (base + slope * last.number);
  if (left / slope < 0) return { ...known, reason: 'AWAY' };
  const after = (perDay: number): EpochMs => last.at + (left / perDay) * dayMs;
  if (after(slope) > now + horizonMs) return { ...known, reason: 'BEYOND_HORIZON' };
  const [earliest, latest] = [after(low), after(high)].sort((a, b) => a - b);
  return {
    ...known,
    reachesAt: timeOf(after(slope)),
    earliest: timeOf(earliest ?? now),
    latest: timeOf(latest ?? now),
    reason: null,
  };
}

/** A slope close to 0 may lead beyond all times. */
function timeOf(at: EpochMs): string {
  return formatInstant(Math.round(Math.min(at, Date.UTC(9999, 11, 31))));
}

/** The median of each whole day with values. */
function daysOf({ first, averages, localHours }: Hours): Day[] {
  const days: Day[] = [];
  const count = averages.length;
  for (let begin = 0, end = 0; begin < count; begin = end) {
    const number = Math.floor(localHours[begin]! / 24);
    while (end < count && localHours[end]! < (number + 1) * 24) end++;
    // The first and the present day may lack their warmer or busier half.
    const isWhole = localHours[begin]! % 24 === 0 && localHours[end - 1]! % 24 === 23;
    const values = averages.slice(begin, end).filter((value) => !Number.isNaN(value));
    if (values.length === 0 || !isWhole) continue;
    days.push({ number, at: first + ((begin + end) / 2) * hourMs, median: medianOf(values) });
  }
  return days;
}

/** The days behind the last jump against the trend. */
function sinceJump(days: readonly Day[]): readonly Day[] {
  const medians = days.map(({ median }) => median);
  const steps = medians.slice(1).map((median, i) => median - (medians[i] ?? median));
  const usual = medianOf(Float64Array.from(steps, Math.abs));
  const range = Math.max(...medians) - Math.min(...medians);
  const jump = Math.max(jumpShare * range, jumpSteps * usual);
  const trend = steps.filter((step) => Math.abs(step) <= jump).reduce((sum, step) => sum + step, 0);
  const last = steps.findLastIndex((step) => step * trend < 0 && Math.abs(step) > jump);
  return days.slice(last + 1);
}

/** By day, between each two days, sorted. */
function slopesOf(days: readonly Day[]): Float64Array {
  const slopes = new Float64Array((days.length * (days.length - 1)) / 2);
  let length = 0;
  for (const [i, one] of days.entries())
    for (const other of days.slice(i + 1))
      slopes[length++] = (other.median - one.median) / (other.number - one.number);
  return slopes.sort();
}

/** The 80 % interval of the slope, from the ranks of all slopes (Sen). */
function intervalOf(
  slopes: Float64Array,
  days: number,
): { readonly low: number; readonly high: number } {
  const deviation = Math.sqrt((days * (days - 1) * (2 * days + 5)) / 18);
  const spread = quantile80 * deviation;
  const low = Math.max(0, Math.floor((slopes.length - spread) / 2));
  const high = Math.min(slopes.length - 1, Math.ceil((slopes.length + spread) / 2));
  return { low: slopes[low]!, high: slopes[high]! };
}
