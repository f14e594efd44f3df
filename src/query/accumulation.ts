// What KPI and time-series requests have in common: what they read, and their checks (interface 4.4).
import { dayMs, type EpochMs } from '../model/instant.ts';
import { parseBound } from '../model/timestamp.ts';
import { parseIsoDuration } from '../model/iso-duration.ts';
import { problem } from '../model/problem.ts';
import type { TimeZone } from '../model/time-zone.ts';
import type { WorkspaceSettings } from '../model/workspace.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Interval, Source } from './bucket-plan.ts';
import {
  type AccumulatorName,
  accumulatorNamed,
  accumulatorNames,
  lastAlias,
} from './summaries/accumulators.ts';
import {
  type FoldName,
  foldNamed,
  foldNames,
  type FoldOptions,
  folds,
  isFold,
} from './summaries/folds.ts';

export interface AccumulationBody extends OrderBody {
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulator: string;
  readonly interval: { readonly from: string; readonly to: string };
  /** IANA name; by default the workspace's, else UTC. */
  readonly timeZone?: string | null;
}

/** Members for accumulators in the order of time (contract 38). */
export interface OrderBody {
  readonly interpolation?: FoldOptions['interpolation'] | null;
  /** ISO-8601 durations. */
  readonly maxGap?: string | null;
  readonly per?: string | null;
  readonly state?: FoldOptions['state'] | null;
  readonly resets?: FoldOptions['resets'] | null;
}

export interface Accumulation {
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulator: AccumulatorName | FoldName;
  /** Of no meaning for accumulators that do not depend on the order of values. */
  readonly order: Omit<FoldOptions, 'now'>;
  readonly interval: Interval;
}

/** When a workspace works (contract 3). */
export type WorkspaceCalendar = Pick<
  WorkspaceSettings,
  'timezone' | 'workingHours' | 'holidays' | 'holidayRegion'
>;

/** A device as queries know it. */
export interface QueriedDevice {
  /** Service device id. */
  readonly id: string;
  readonly workspaceId: string;
}

/** One query over one or more devices. */
export interface DeviceQuery<Body extends AccumulationBody = AccumulationBody> {
  readonly devices: readonly QueriedDevice[];
  readonly source: Source;
  readonly body: Body;
  readonly now: EpochMs;
}

/** The calendar of a workspace; asked only when an answer depends on it. */
export type CalendarOf = (workspaceId: string) => WorkspaceCalendar | Promise<WorkspaceCalendar>;

export type OpenZone = (name: string) => TimeZone | undefined;

/**
 * Checks the common fields; refuses (400) an unknown accumulator, zone, bound or duration, `from`
 * not before `to`, and TIME_IN_STATE without a state.
 */
export function readAccumulation(body: AccumulationBody, openZone: OpenZone): Accumulation {
  requestedZone(body.timeZone, openZone);
  if (body.topic === '*') {
    throw problem('invalidRequest', {
      reason: 'body topic: must be a single topic; * is only valid for sample queries',
    });
  }
  const accumulator = readAccumulator(body.accumulator);
  return {
    topic: body.topic,
    dataKey: body.dataKey,
    accumulator,
    order: readOrder(body, accumulator),
    interval: parseInterval(body.interval),
  };
}

/** The accumulator of the name in any case, NONE being LAST. */
function readAccumulator(name: string): Accumulation['accumulator'] {
  const accumulator = accumulatorNamed(name) ?? foldNamed(name);
  if (accumulator !== undefined) return accumulator;
  throw problem('unknownAccumulator', {
    accumulator: name.slice(0, 100),
    valid: [...accumulatorNames, ...foldNames, 'P0 to P100', lastAlias],
  });
}

const maxGapStandard = 'P2D';
const perStandard = 'PT1S';

function readOrder(
  { interpolation, maxGap, per, state, resets }: OrderBody,
  accumulator: Accumulation['accumulator'],
): Accumulation['order'] {
  if (accumulator === 'TIME_IN_STATE' && (state ?? null) === null)
    throw problem('invalidRequest', { reason: 'body state: is required for TIME_IN_STATE' });
  return {
    interpolation: interpolation ?? 'LINEAR',
    maxGapMs: readDuration('maxGap', maxGap ?? maxGapStandard),
    perMs: readDuration(
      'per',
      per ?? (isFold(accumulator) ? folds[accumulator].per : undefined) ?? perStandard,
    ),
    state: state ?? '',
    resets: resets ?? 'GUARDED',
  };
}

/** Milliseconds of a member. Refuses (400) months, years, and zero. */
export function readDuration(member: string, text: string): number {
  const parsed = parseIsoDuration(text);
  const refused = (reason: string) =>
    problem('invalidRequest', { reason: `body ${member}: ${reason}, got ${text.slice(0, 40)}` });
  if ('reason' in parsed) throw refused(parsed.reason);
  const { months, days, ms } = parsed.duration;
  if (months > 0) throw refused('must not have months or years, whose length varies');
  if (days + ms === 0) throw refused('must be longer than zero');
  return days * dayMs + ms;
}

/** The zone of a workspace; a name that no longer exists must not break its queries. */
export function calendarZone(calendar: WorkspaceCalendar, openZone: OpenZone): TimeZone {
  const zone = openZone(calendar.timezone ?? 'UTC') ?? openZone('UTC');
  if (zone === undefined) throw new Error('The zone UTC does not exist');
  return zone;
}

/** The zone that a request names, if any. Throws Problem 400 for an unknown one. */
export function requestedZone(
  timeZone: string | null | undefined,
  openZone: OpenZone,
): TimeZone | undefined {
  if (timeZone === null || timeZone === undefined) return undefined;
  const zone = openZone(timeZone);
  if (zone === undefined) throw problem('unknownTimeZone', { timeZone: timeZone.slice(0, 100) });
  return zone;
}

// Intervals of requests: ISO-8601 bounds to half-open milliseconds (contract decisions).

/** Reads `{from, to}`; `from` not before `to` is a 400. */
function parseInterval(interval: { readonly from: string; readonly to: string }): Interval {
  const from = parseBound('interval.from', interval.from);
  const to = parseBound('interval.to', interval.to);
  if (from >= to)
    throw problem('badInterval', {
      reason: `from (${interval.from}) must be before to (${interval.to})`,
    });
  return { from, to };
}

// Sample reader: what queries read of the samples.

/** The reads of KPIs. */
export type BucketStore = Pick<ReadingStore, 'buckets' | 'values'>;

export type ReadingStore = Pick<
  Samples,
  | 'samples'
  | 'exportSamples'
  | 'latestSample'
  | 'latest'
  | 'topics'
  | 'measuredKeys'
  | 'buckets'
  | 'values'
>;
