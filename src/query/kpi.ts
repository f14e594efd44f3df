// KPIs: one number per device, or one for all of them (interface 4.4 and 4.5).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { BucketRequest } from '../storage/samples/sample-store.ts';
import {
  type Accumulation,
  type CalendarOf,
  calendarZone,
  type DeviceQuery,
  type OpenZone,
  type QueriedDevice,
  readAccumulation,
  type ReadingStore,
  type WorkspaceCalendar,
} from './accumulation.ts';
import { type BucketPlan, type Interval, planEnds, singleBucket } from './bucket-plan.ts';
import type { PublicHolidays } from './public-holidays.ts';
import { accumulators } from './summaries/accumulators.ts';
import { addTerm, type CompensatedSum, sumOf } from './summaries/compensated-sum.ts';
import { type CountedSlots, noSlots } from './summaries/occupied-slots.ts';
import {
  checkWorkingInterval,
  countedSlots,
  countsWorkingTime,
  workingMasks,
  type WorkingMasks,
} from './working-hours.ts';

export interface QueryParts extends CalendarParts {
  readonly store: Pick<ReadingStore, 'buckets'>;
}

export interface DeviceKpi {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly kpi: number | null;
}

// A store call never covers more devices than this, so that a large tag leaves room for other
// requests in between.
const devicesACall = 500;

/** One answer per device, in their order. Refuses (400) what `readAccumulation` refuses. */
export async function deviceKpis(query: DeviceQuery, parts: QueryParts): Promise<DeviceKpi[]> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  return query.devices.map(({ id }, i) => ({ deviceId: id, topic, dataKey, kpi: kpis[i] ?? null }));
}

/** The sum of the devices' KPIs, null when none has any (interface 4.5, contract decisions). */
export async function accumulatedKpi(
  query: DeviceQuery,
  parts: QueryParts,
): Promise<{ readonly kpi: number | null; readonly topic: string; readonly dataKey: string }> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  const total: CompensatedSum = { sum: 0, sumError: 0 };
  let known = 0;
  for (const kpi of kpis) {
    if (kpi === null) continue;
    known++;
    addTerm(total, kpi);
  }
  return { kpi: known === 0 ? null : sumOf(total), topic, dataKey };
}

async function kpisOf(
  { devices, source, now }: DeviceQuery,
  accumulation: Accumulation,
  parts: QueryParts,
): Promise<(number | null)[]> {
  const plan = singleBucket(source, accumulation.interval);
  const { from, to } = planEnds(plan);
  const slotsOf = await slotsFor(devices, accumulation, { from, to, now }, parts);
  const { facet, finish } = accumulators[accumulation.accumulator];
  const kpis: (number | null)[] = [];
  for (let start = 0; start < devices.length; start += devicesACall) {
    const some = devices.slice(start, start + devicesACall);
    // What is in memory is answered within the same turn of the event loop.
    if (start > 0) await nextTurn();
    const tallies = await parts.store.buckets(bucketRequest(some, accumulation, plan));
    for (const [i, device] of some.entries()) {
      const tally = tallies[i]?.[0] ?? facet.start();
      kpis.push(finish(tally, slotsOf(device, from, to)));
    }
  }
  return kpis;
}

/** What the store is asked for. */
export function bucketRequest(
  devices: readonly QueriedDevice[],
  { topic, dataKey, accumulator }: Accumulation,
  { source, edges }: BucketPlan,
): BucketRequest {
  return { source, deviceIds: devices.map(({ id }) => id), topic, dataKey, accumulator, edges };
}

/** The slots to count; none unless the accumulator counts slots. */
export async function slotsFor(
  devices: readonly QueriedDevice[],
  { accumulator }: Accumulation,
  span: CountedSpan,
  parts: CalendarParts,
): Promise<SlotsOf> {
  if (!accumulators[accumulator].countsSlots) return countNoSlots;
  return occupancySlots(devices, span, parts);
}

// The slots that OCCUPANCY counts per device: plain ones, or those of its workspace's working hours.

/** The slots counted in a bucket of a device. */
type SlotsOf = (device: QueriedDevice, from: EpochMs, to: EpochMs) => CountedSlots;

interface CalendarParts {
  readonly openZone: OpenZone;
  readonly calendarOf: CalendarOf;
  readonly publicHolidays: PublicHolidays;
}

/** The buckets of a query together; no slot counts that begins after `now`. */
interface CountedSpan extends Interval {
  readonly now: EpochMs;
}

/** For all other accumulators. */
const countNoSlots: SlotsOf = () => noSlots;

/** Reads the calendars of the devices once, for all buckets between two moments. */
export async function occupancySlots(
  devices: readonly QueriedDevice[],
  { from, to, now }: CountedSpan,
  parts: CalendarParts,
): Promise<SlotsOf> {
  const masks = new Map<string, WorkingMasks>();
  for (const workspaceId of new Set(devices.map((device) => device.workspaceId))) {
    const calendar = await parts.calendarOf(workspaceId);
    if (!countsWorkingTime(calendar)) continue;
    const span = { from, to: Math.max(from, Math.min(to, now)) };
    masks.set(workspaceId, await masksOf(calendar, span, parts));
  }
  const counted = new Map<WorkingMasks | undefined, Map<string, CountedSlots>>();
  return ({ workspaceId }, bucketFrom, bucketTo) => {
    const working = masks.get(workspaceId);
    const known = counted.get(working) ?? new Map<string, CountedSlots>();
    counted.set(working, known);
    const key = `${bucketFrom} ${bucketTo}`;
    let slots = known.get(key);
    if (slots === undefined)
      known.set(key, (slots = countedSlots(bucketFrom, bucketTo, now, working)));
    return slots;
  };
}

async function masksOf(
  calendar: WorkspaceCalendar,
  span: Interval,
  { openZone, publicHolidays }: CalendarParts,
): Promise<WorkingMasks> {
  const { from, to } = span;
  // The public holidays of an interval that is refused would be those of up to ten thousand years.
  checkWorkingInterval(from, to);
  const holidays = new Set((calendar.holidays ?? []).map(({ date }) => date));
  if (calendar.holidayRegion !== null) {
    const yearOf = (at: EpochMs) => new Date(at).getUTCFullYear();
    const found = await publicHolidays(
      calendar.holidayRegion,
      yearOf(from - 3 * dayMs),
      yearOf(to + 3 * dayMs),
    );
    for (const date of found) holidays.add(date);
  }
  return workingMasks(span, calendar, holidays, calendarZone(calendar, openZone));
}
