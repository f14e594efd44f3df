// Gaps: empty buckets between two values of a device are joined unless it was silent there.

/** A silence is longer than this many usual distances between two values. */
const usualTimes = 2.5;

/**
 * Returns the values with `undefined`, which a line crosses, in place of each `null` that only
 * shows that buckets are shorter than the device's pauses. A longer silence stays `null`.
 * Times are epoch seconds, rising.
 */
export function withGaps(
  times: readonly number[],
  values: readonly (number | null)[],
): (number | null | undefined)[] {
  const known = values.flatMap((value, at) => (value === null ? [] : [at]));
  const distances = known.slice(1).map((at, i) => distance(times, known[i] ?? at, at));
  const sorted = distances.toSorted((a, b) => a - b);
  const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const joined: (number | null | undefined)[] = [...values];
  for (const [i, at] of known.entries()) {
    const before = known[i - 1];
    if (before === undefined || distance(times, before, at) > usual * usualTimes) continue;
    for (let empty = before + 1; empty < at; empty++) joined[empty] = undefined;
  }
  return joined;
}

function distance(times: readonly number[], from: number, to: number): number {
  return (times[to] ?? 0) - (times[from] ?? 0);
}
