// Local times: days of the week and times of a day, as schedules name them.
import { dayMs, minuteMs } from './instant.ts';

/** From Monday; `MO` is the first day of a week. */
export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
export type Weekday = (typeof weekdays)[number];

/** The start of a local day, as if it were UTC. */
export function localDayOf(localMs: number): number {
  return Math.floor(localMs / dayMs) * dayMs;
}

/** The place in `weekdays` of a local day. 1970-01-01 was a Thursday. */
export function weekdayOf(day: number): number {
  return (((day / dayMs + 3) % 7) + 7) % 7;
}

/** Milliseconds since midnight of `HH:mm`. */
export function localTimeMs(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * minuteMs;
}

/** Whether a text is a time of a day, `HH:mm`. */
export function isLocalTime(text: string): boolean {
  return /^\d\d:\d\d$/.test(text) && Number(text.slice(3)) < 60 && localTimeMs(text) < dayMs;
}
