// Gaps: empty buckets between two values of a device are joined unless it was silent there.

/**
 * Of the distances between two values, this share is usual. The median would not do: a device that
 * reports twice per wake, or hourly and on change, has many short distances between its pauses.
 */
const usualShare = 0.9;
/** A silence is longer than this many usual distances. */
const usualTimes = 2.5;

/**
 * Returns the values with `undefined`, which a line crosses, in place of each `null` that only
 * shows that buckets are shorter than the device's pauses. A longer silence stays `null`: one of
 * more than `silentAfterS` seconds, after which the device counts as silent, and more than the
 * device is used to make. Times are epoch seconds, rising.
 */
export function withGaps(
  times: readonly number[],
  values: readonly (number | null)[],
  silentAfterS = 0,
): (number | null | undefined)[] {
  const known = values.flatMap((value, at) => (value === null ? [] : [at]));
  const distances = known.slice(1).map((at, i) => distance(times, known[i] ?? at, at));
  const sorted = distances.toSorted((a, b) => a - b);
  const usual = sorted[Math.floor((sorted.length - 1) * usualShare)] ?? 0;
  // Values stand at the start of their buckets.
  const silent = silentAfterS === 0 ? 0 : silentAfterS + distance(times, 0, 1);
  const longest = Math.max(usual * usualTimes, silent);
  const joined: (number | null | undefined)[] = [...values];
  for (const [i, at] of known.entries()) {
    const before = known[i - 1];
    if (before === undefined || distance(times, before, at) > longest) continue;
    for (let empty = before + 1; empty < at; empty++) joined[empty] = undefined;
  }
  return joined;
}

function distance(times: readonly number[], from: number, to: number): number {
  return (times[to] ?? 0) - (times[from] ?? 0);
}
