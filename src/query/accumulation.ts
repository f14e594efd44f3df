// What KPI and time-series requests have in common: what they read, and their checks (interface 4.4).
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { TimeZone } from '../model/time-zone.ts';
import { parseBound } from '../model/timestamp.ts';
import type { WorkspaceSettings } from '../model/workspace.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Interval, Source } from './bucket-plan.ts';
import {
  type AccumulatorName,
  accumulatorNamed,
  accumulatorNames,
  lastAlias,
} from './summaries/accumulators.ts';

export interface AccumulationBody {
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulator: string;
  readonly interval: { readonly from: string; readonly to: string };
  /** IANA name; by default the workspace's, else UTC. */
  readonly timeZone?: string | null;
}

export interface Accumulation {
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulator: AccumulatorName;
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
 * Checks the common fields; refuses (400) an unknown accumulator, zone or bound and `from` not
 * before `to`.
 */
export function readAccumulation(body: AccumulationBody, openZone: OpenZone): Accumulation {
  requestedZone(body.timeZone, openZone);
  if (body.topic === '*') {
    throw problem('invalidRequest', {
      reason: 'body topic: must be a single topic; * is only valid for sample queries',
    });
  }
  return {
    topic: body.topic,
    dataKey: body.dataKey,
    accumulator: readAccumulator(body.accumulator),
    interval: parseInterval(body.interval),
  };
}

/** The accumulator of the name in any case, NONE being LAST. */
function readAccumulator(name: string): AccumulatorName {
  const accumulator = accumulatorNamed(name);
  if (accumulator !== undefined) return accumulator;
  throw problem('unknownAccumulator', {
    accumulator: name.slice(0, 100),
    valid: [...accumulatorNames, lastAlias],
  });
}

/** The zone of a request: its own, else the workspace's, else UTC. */
export async function zoneOf(
  timeZone: string | null | undefined,
  { workspaceId }: QueriedDevice,
  calendarOf: CalendarOf,
  openZone: OpenZone,
): Promise<TimeZone> {
  return requestedZone(timeZone, openZone) ?? calendarZone(await calendarOf(workspaceId), openZone);
}

/** The zone of a workspace; a name that no longer exists must not break its queries. */
export function calendarZone(calendar: WorkspaceCalendar, openZone: OpenZone): TimeZone {
  const zone = openZone(calendar.timezone ?? 'UTC') ?? openZone('UTC');
  if (zone === undefined) throw new Error('The zone UTC does not exist');
  return zone;
}

function requestedZone(
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
