// Days of a range: how often something happened on each, by the clocks of a zone.
import { endOfDay, localOf } from '../../words/zone-times.ts';

export interface Day {
  /** Some instant of the day. */
  readonly at: string;
  readonly fired: number;
}

/** Every day that the range touches, oldest first, also those without anything. */
export function daysOf(
  from: string,
  to: string,
  times: readonly string[],
  zone: string,
): readonly Day[] {
  const dayOf = (iso: string) => localOf(iso, zone).slice(0, 'yyyy-mm-dd'.length);
  const fired = new Map<string, number>();
  for (const time of times) fired.set(dayOf(time), (fired.get(dayOf(time)) ?? 0) + 1);
  const days: Day[] = [];
  const last = dayOf(to);
  let at = from;
  for (let left = 400; left > 0; left--) {
    const day = dayOf(at);
    days.push({ at, fired: fired.get(day) ?? 0 });
    if (day === last) break;
    at = endOfDay(day, zone);
  }
  return days;
}
