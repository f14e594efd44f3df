// The slots that OCCUPANCY counts per device: plain ones, or those of its workspace's working hours.
import { type CountedSlots, noSlots } from '../summaries/occupied-slots.ts';
import { dayMs, type EpochMs } from '../model/instant.ts';
import {
  type CalendarOf,
  calendarZone,
  type OpenZone,
  type QueriedDevice,
  type WorkspaceCalendar,
} from './accumulation.ts';
import type { Interval } from './bucket-plan.ts';
import { countedSlots, type WorkingMasks } from './counted-slots.ts';
import type { PublicHolidays } from './public-holidays.ts';
import { checkWorkingInterval, countsWorkingTime, workingMasks } from './working-hours.ts';

/** The slots counted in a bucket of a device. */
export type SlotsOf = (device: QueriedDevice, from: EpochMs, to: EpochMs) => CountedSlots;

export interface CalendarParts {
  readonly openZone: OpenZone;
  readonly calendarOf: CalendarOf;
  readonly publicHolidays: PublicHolidays;
}

/** The buckets of a query together; no slot counts that begins after `now`. */
export interface CountedSpan extends Interval {
  readonly now: EpochMs;
}

/** For all other accumulators. */
export const countNoSlots: SlotsOf = () => noSlots;

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
