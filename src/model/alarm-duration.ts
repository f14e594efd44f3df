// Alarm duration: an ISO-8601 duration of fixed length in milliseconds, within the limits of alarms (contract 37).
import { dayMs } from './instant.ts';
import { parseIsoDuration } from './iso-duration.ts';

const durationMsMin = 1_000;
const daysMax = 366;

/** The milliseconds, or the reason why the text cannot be used. */
export function durationMsOf(text: string): number | string {
  const read = parseIsoDuration(text);
  if ('reason' in read) return read.reason;
  const { months, days, ms } = read.duration;
  if (months > 0) return 'months and years are not supported because their length varies; use days';
  const total = days * dayMs + ms;
  if (total < durationMsMin || total > daysMax * dayMs)
    return `must be from one second to ${daysMax} days`;
  return total;
}
