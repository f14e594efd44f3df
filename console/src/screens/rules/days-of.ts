// Days of a range: how often something happened on each, in the zone of the browser.

export interface Day {
  /** Some instant of the day. */
  readonly at: string;
  readonly fired: number;
}

/** Every day that the range touches, oldest first, also those without anything. */
export function daysOf(from: string, to: string, times: readonly string[]): readonly Day[] {
  const fired = new Map<string, number>();
  for (const time of times) {
    const key = new Date(time).toDateString();
    fired.set(key, (fired.get(key) ?? 0) + 1);
  }
  const days: Day[] = [];
  const day = new Date(from);
  // At noon no change of the clock moves the day.
  day.setHours(12, 0, 0, 0);
  const last = new Date(to).toDateString();
  for (let left = 400; left > 0; left--) {
    days.push({ at: day.toISOString(), fired: fired.get(day.toDateString()) ?? 0 });
    if (day.toDateString() === last) break;
    day.setDate(day.getDate() + 1);
  }
  return days;
}
