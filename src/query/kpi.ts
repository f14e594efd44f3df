// KPIs: one number per device, or one for all of them (interface 4.4 and 4.5).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import {
  type Accumulation,
  type BucketStore,
  type CalendarOf,
  type DeviceQuery,
  type OpenZone,
  type QueriedDevice,
  type WorkspaceCalendar,
  calendarZone,
  readAccumulation,
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
import { type ValueBatch, columnValueAt } from './summaries/ordered-values.ts';
import { isFold } from './summaries/folds.ts';
import { addTerm, type CompensatedSum, sumOf } from './summaries/compensated-sum.ts';
import { bitCount, type CountedSlots, noSlots, slotMs } from './summaries/occupied-slots.ts';
import { problem } from '../model/problem.ts';
import { momentOfLocal, type TimeZone, type ZonePiece } from '../model/time-zone.ts';
import { weekdays, type WorkingPeriod } from '../model/workspace.ts';
import { missing } from '../structures/missing.ts';
import type { ValuesRequest } from '../storage/samples/sample-store.ts';

export interface QueryParts extends CalendarParts {
  readonly store: BucketStore;
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
  store: { values(request: ValuesRequest): AsyncIterable<ValueBatch> },
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

// Working hours as five-minute slots: the local spans of each weekday, and which slots OCCUPANCY counts.

const slotsAnHour = hourMs / slotMs;
/** Ten years; a longer interval of occupancy with working hours is refused. */
const workingDaysMax = 3_660;
const wholeDay: readonly WorkingPeriod[] = [{ from: '00:00', to: '24:00' }];

/** Whether OCCUPANCY of the workspace counts working time only; holidays alone leave whole days. */
function countsWorkingTime(calendar: WorkspaceCalendar): boolean {
  return (
    calendar.workingHours?.enabled === true ||
    (calendar.holidays ?? []).length > 0 ||
    calendar.holidayRegion !== null
  );
}

/** Throws `badInterval` (400) when occupancy within working hours is not answered for so long. */
function checkWorkingInterval(from: EpochMs, to: EpochMs): void {
  if (to - from <= workingDaysMax * dayMs) return;
  throw problem('badInterval', {
    reason: `occupancy within working hours is limited to ${workingDaysMax} days`,
  });
}

/**
 * The working slots between two moments; a slot counts as its start does. `holidays` are local
 * dates `YYYY-MM-DD`.
 */
export function workingMasks(
  { from, to }: Interval,
  calendar: WorkspaceCalendar,
  holidays: ReadonlySet<string>,
  zone: TimeZone,
): WorkingMasks {
  checkWorkingInterval(from, to);
  const pieces = zone.pieces(from - 3 * dayMs, to + 3 * dayMs);
  const masks = new Map<number, number>();
  // A span may reach into the next day, and a zone may be a day away from UTC.
  const last = Math.floor(to / dayMs) + 1;
  for (let day = Math.floor(from / dayMs) - 2; day <= last; day++) {
    if (holidays.has(new Date(day * dayMs).toISOString().slice(0, 10))) continue;
    for (const span of spansOf(day, calendar)) addSpan(masks, day * dayMs, span, pieces);
  }
  return masks;
}

function spansOf(day: number, { workingHours }: WorkspaceCalendar): readonly WorkingPeriod[] {
  if (workingHours?.enabled !== true) return wholeDay;
  // 1970-01-01, day 0, was a Thursday.
  const weekday = weekdays.at((day + 3) % 7) ?? missing('weekday');
  return workingHours.days[weekday] ?? [];
}

function addSpan(
  masks: Map<number, number>,
  dayStart: number,
  span: WorkingPeriod,
  pieces: readonly ZonePiece[],
): void {
  const fromMs = timeOfDayMs(span.from);
  const untilMs = timeOfDayMs(span.to);
  const from = momentOfLocal(pieces, dayStart + fromMs);
  const until = momentOfLocal(pieces, dayStart + (untilMs > fromMs ? untilMs : untilMs + dayMs));
  if (from === undefined || until === undefined) return;
  const first = Math.ceil(from / slotMs);
  const end = Math.ceil(until / slotMs);
  for (let hour = Math.floor(first / slotsAnHour); hour * slotsAnHour < end; hour++) {
    const skipped = Math.max(first - hour * slotsAnHour, 0);
    const kept = Math.min(end - hour * slotsAnHour, slotsAnHour);
    masks.set(hour, (masks.get(hour) ?? 0) | (((1 << kept) - 1) & ~((1 << skipped) - 1)));
  }
}

function timeOfDayMs(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * minuteMs;
}

// Which five-minute slots OCCUPANCY counts: those of the interval that have begun, within working hours if there are any.

const allSlots = 0xfff;

/** Hour to the slots that are working time, as twelve bits; hours without any are absent. */
type WorkingMasks = ReadonlyMap<number, number>;

/** The slots that overlap `from` to `to` and have begun at `now`; with `working`, only those. */
export function countedSlots(
  from: EpochMs,
  to: EpochMs,
  now: EpochMs,
  working?: WorkingMasks,
): CountedSlots {
  const first = Math.floor(from / slotMs);
  const end = Math.max(first, Math.ceil(Math.min(to, now) / slotMs));
  const inside = (hour: number) => {
    const skipped = Math.min(Math.max(first - hour * slotsAnHour, 0), slotsAnHour);
    const kept = Math.min(Math.max(end - hour * slotsAnHour, 0), slotsAnHour);
    return allSlots & (allSlots << skipped) & ((1 << kept) - 1);
  };
  if (working === undefined) return { total: end - first, maskOf: inside };
  const maskOf = (hour: number) => inside(hour) & (working.get(hour) ?? 0);
  let total = 0;
  for (let hour = Math.floor(first / slotsAnHour); hour * slotsAnHour < end; hour++)
    total += bitCount(maskOf(hour));
  return { total, maskOf };
}
