// Calendars: the time zones, working hours and public holidays of workspaces, and the slots that OCCUPANCY counts by them.
import { dayMs, type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { momentOfLocal, type TimeZone, type ZonePiece } from '../model/time-zone.ts';
import { weekdays, type WorkingPeriod } from '../model/workspace.ts';
import { missing } from '../structures/missing.ts';
import {
  type CalendarOf,
  calendarZone,
  type OpenZone,
  type QueriedDevice,
  requestedZone,
  type WorkspaceCalendar,
} from './accumulation.ts';
import type { Interval } from './bucket-plan.ts';
import type { PublicHolidays } from './public-holidays.ts';
import { type AccumulatorName, accumulatorOf } from './summaries/accumulators.ts';
import { bitCount, type CountedSlots, noSlots, slotMs } from './summaries/occupied-slots.ts';

/** The slots counted in a bucket of a device. */
type SlotsOf = (device: QueriedDevice, from: EpochMs, to: EpochMs) => CountedSlots;

/** For accumulators that count no slots. */
const countNoSlots: SlotsOf = () => noSlots;

export class Calendars {
  readonly calendarOf: CalendarOf;
  readonly openZone: OpenZone;
  readonly #publicHolidays: PublicHolidays;

  constructor(calendarOf: CalendarOf, openZone: OpenZone, publicHolidays: PublicHolidays) {
    this.calendarOf = calendarOf;
    this.openZone = openZone;
    this.#publicHolidays = publicHolidays;
  }

  /**
   * The zone of a request: its own, else the workspace's, else UTC. Throws Problem 400 for an
   * unknown name.
   */
  async zoneOf(timeZone: string | null | undefined, workspaceId: string): Promise<TimeZone> {
    const { openZone } = this;
    return (
      requestedZone(timeZone, openZone) ??
      calendarZone(await this.calendarOf(workspaceId), openZone)
    );
  }

  /**
   * The slots that OCCUPANCY counts per device: plain ones, or those of its workspace's working
   * hours; none unless the accumulator counts slots. `span` has the buckets of a query together;
   * no slot counts that begins after `now`. Reads the calendars of the devices once, for all
   * buckets of the span.
   */
  async slotsOf(
    devices: readonly QueriedDevice[],
    accumulator: AccumulatorName,
    { from, to, now }: Interval & { readonly now: EpochMs },
  ): Promise<SlotsOf> {
    if (!accumulatorOf(accumulator).countsSlots) return countNoSlots;
    const masks = new Map<string, WorkingMasks>();
    for (const workspaceId of new Set(devices.map((device) => device.workspaceId))) {
      const calendar = await this.calendarOf(workspaceId);
      if (!countsWorkingTime(calendar)) continue;
      const span = { from, to: Math.max(from, Math.min(to, now)) };
      masks.set(workspaceId, await this.#masksOf(calendar, span));
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

  async #masksOf(calendar: WorkspaceCalendar, span: Interval): Promise<WorkingMasks> {
    const { from, to } = span;
    // The public holidays of an interval that is refused would be those of up to ten thousand years.
    checkWorkingInterval(from, to);
    const holidays = new Set((calendar.holidays ?? []).map(({ date }) => date));
    if (calendar.holidayRegion !== null) {
      const yearOf = (at: EpochMs) => new Date(at).getUTCFullYear();
      const found = await this.#publicHolidays(
        calendar.holidayRegion,
        yearOf(from - 3 * dayMs),
        yearOf(to + 3 * dayMs),
      );
      for (const date of found) holidays.add(date);
    }
    return workingMasks(span, calendar, holidays, calendarZone(calendar, this.openZone));
  }
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
