// Hour times: expressions of ClickHouse for the hour of a time, also before 1970.
import { hourMs } from '../../../model/instant.ts';

/** Far before every sample, so that whole numbers are divided that are not negative. */
const earliestMs = -600_000 * 24 * hourMs;
const sinceEarliest = (time: string): string => `(${time} - toInt64(${earliestMs}))`;

/** The number of the hour: `floor(time / hourMs)`. */
export function hourNumberText(time: string): string {
  return `(intDiv(${sinceEarliest(time)}, ${hourMs}) + toInt64(${earliestMs / hourMs}))`;
}

/** When the hour begins. */
export function hourAtText(time: string): string {
  return `(${hourNumberText(time)} * ${hourMs})`;
}

/** Milliseconds since the hour began. */
export function withinHourText(time: string): string {
  return `(${sinceEarliest(time)} % ${hourMs})`;
}

/** Whether a point is not older than the hour before its storing; see `isLate`. */
export const isPunctualText = `${hourAtText('ts')} >= ${hourAtText('storedAt')} - ${hourMs}`;
