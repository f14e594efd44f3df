// The campus clock: Central European time with its summer time, because people keep local hours and sensors do not.
import type { EpochMs } from '../../../src/model/instant.ts';

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export interface LocalTime {
  /** Days since 1970-01-01 by the local calendar. */
  readonly day: number;
  /** 0 Monday to 6 Sunday. */
  readonly weekday: number;
  /** Hours since local midnight, with fraction: 13.5 is half past one. */
  readonly hour: number;
}

/** The local day, weekday and hour of an instant. */
export function localTime(at: EpochMs): LocalTime {
  const local = at + offsetMs(at);
  const day = Math.floor(local / dayMs);
  return { day, weekday: weekdayOf(day), hour: (local - day * dayMs) / hourMs };
}

/** The instant at which the local clock shows `hour` on the local day. */
export function instantOf(day: number, hour: number): EpochMs {
  const wall = day * dayMs + Math.round(hour * hourMs);
  const ifSummer = wall - 2 * hourMs;
  return offsetMs(ifSummer) === 2 * hourMs ? ifSummer : wall - hourMs;
}

/** 0 Monday to 6 Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** Saturdays, Sundays and the holidays with a fixed date, when offices stay dark. */
export function isFreeDay(day: number): boolean {
  if (weekdayOf(day) >= 5) return true;
  const date = new Date(day * dayMs);
  return holidays.has(`${date.getUTCMonth() + 1}-${date.getUTCDate()}`);
}

const holidays: ReadonlySet<string> = new Set(['1-1', '1-2', '5-1', '8-1', '12-25', '12-26']);

function offsetMs(at: EpochMs): number {
  const year = new Date(at).getUTCFullYear();
  return at >= lastSundayOf(year, 2) && at < lastSundayOf(year, 9) ? 2 * hourMs : hourMs;
}

// The clocks change at 01:00 UTC on the last Sunday of March and October, in the whole zone.
function lastSundayOf(year: number, month: number): EpochMs {
  const lastDay = Date.UTC(year, month + 1, 0) / dayMs;
  return (lastDay - ((weekdayOf(lastDay) + 1) % 7)) * dayMs + hourMs;
}
