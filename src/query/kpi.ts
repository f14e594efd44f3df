// KPIs: one number per device, or one for all of them (interface 4.4 and 4.5).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, type EpochMs } from '../model/instant.ts';
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
import {
  answersInOrder,
  answersOfTallies,
  type BucketAnswers,
  bucketRequest,
} from './bucket-answers.ts';
import { type BucketPlan, type Interval, planEnds, singleBucket } from './bucket-plan.ts';
import type { PublicHolidays } from './public-holidays.ts';
import { type AccumulatorName, accumulatorOf } from './summaries/accumulators.ts';
import { columnValueAt } from './summaries/ordered-values.ts';
import { isFold } from './summaries/folds.ts';
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
  readonly store: Pick<ReadingStore, 'buckets' | 'values'>;
}

export interface DeviceKpi {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly kpi: number | null;
  /** A text that is the answer; `kpi` is null. */
  readonly value?: string;
  /** The share of the interval that values say something of; only where their order counts. */
  readonly coverage?: number;
  /** Whether the number is an estimate. */
  readonly approximate?: true;
}

// A store call never covers more devices than this, so that a large tag leaves room for other
// requests in between.
const devicesACall = 500;

/** One answer per device, in their order. Refuses (400) what `readAccumulation` refuses. */
export async function deviceKpis(query: DeviceQuery, parts: QueryParts): Promise<DeviceKpi[]> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  return query.devices.map(({ id }, i) => ({
    deviceId: id,
    topic,
    dataKey,
    ...(kpis[i] ?? { kpi: null }),
  }));
}

/** The sum of the devices' KPIs, null when none has any (interface 4.5, contract decisions). */
export async function accumulatedKpi(
  query: DeviceQuery,
  parts: QueryParts,
): Promise<Omit<DeviceKpi, 'deviceId' | 'value'>> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  const total: CompensatedSum = { sum: 0, sumError: 0 };
  let known = 0;
  let covered = 0;
  for (const { kpi, coverage } of kpis) {
    covered += coverage ?? 0;
    if (kpi === null) continue;
    known++;
    addTerm(total, kpi);
  }
  return {
    kpi: known === 0 ? null : sumOf(total),
    topic,
    dataKey,
    ...(kpis.some(({ coverage }) => coverage !== undefined) && { coverage: covered / kpis.length }),
    ...(kpis.some(({ approximate }) => approximate) && { approximate: true as const }),
  };
}

type Answer = Omit<DeviceKpi, 'deviceId' | 'topic' | 'dataKey'>;

async function kpisOf(
  { devices, source, now }: DeviceQuery,
  accumulation: Accumulation,
  parts: QueryParts,
): Promise<Answer[]> {
  const plan = singleBucket(source, accumulation.interval);
  const { from, to } = planEnds(plan);
  const { accumulator } = accumulation;
  if (isFold(accumulator)) {
    const found = await answersInOrder(devices, accumulation, accumulator, plan, now, parts.store);
    return found.map(kpiOf);
  }
  const slotsOf = await slotsFor(devices, accumulator, { from, to, now }, parts);
  const { facet, textOf } = accumulatorOf(accumulator);
  const kpis: Answer[] = [];
  for (let start = 0; start < devices.length; start += devicesACall) {
    const some = devices.slice(start, start + devicesACall);
    // What is in memory is answered within the same turn of the event loop.
    if (start > 0) await nextTurn();
    const found = await parts.store.buckets(bucketRequest(some, accumulation, accumulator, plan));
    for (const [i, device] of some.entries()) {
      const tally = found[i]?.[0] ?? facet.start();
      const slots = (start: EpochMs, end: EpochMs) => slotsOf(device, start, end);
      const answer = kpiOf(answersOfTallies(accumulator, [tally], plan, slots));
      const isNoNumber = answer.kpi === null && tally.count > 0;
      const text = isNoNumber
        ? (textOf?.(tally) ?? (await textAtEnd(device, accumulation, plan, parts.store)))
        : undefined;
      kpis.push(text === undefined ? answer : { ...answer, value: text });
    }
  }
  return kpis;
}

function kpiOf({ values, coverage, isApproximate }: BucketAnswers): Answer {
  return {
    kpi: values[0] ?? null,
    ...(coverage !== undefined && { coverage: coverage[0] ?? 0 }),
    ...(isApproximate && { approximate: true as const }),
  };
}

/** The first or the last value where it is a text; other accumulators have none. */
async function textAtEnd(
  { id: deviceId }: QueriedDevice,
  { topic, dataKey, accumulator }: Accumulation,
  plan: BucketPlan,
  store: Pick<ReadingStore, 'values'>,
): Promise<string | undefined> {
  const isLast = accumulator === 'LAST';
  if (!isLast && accumulator !== 'FIRST') return undefined;
  const { from, to } = planEnds(plan);
  const at = isLast ? to : from;
  const request = { deviceId, topic, keys: [dataKey], from: at, to: at };
  let text: string | undefined;
  for await (const { timestamps, columns } of store.values({
    ...request,
    before: isLast,
    after: !isLast,
  })) {
    const [column] = columns;
    const time = timestamps[0];
    if (column === undefined || time === undefined || time < from || time >= to) continue;
    const value = columnValueAt(column, 0);
    if (typeof value === 'string') text = value;
  }
  return text;
}

/** The slots to count; none unless the accumulator counts slots. */
export async function slotsFor(
  devices: readonly QueriedDevice[],
  accumulator: AccumulatorName,
  span: CountedSpan,
  parts: CalendarParts,
): Promise<SlotsOf> {
  if (!accumulatorOf(accumulator).countsSlots) return countNoSlots;
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
