// Period before: the interval before another one, and its series at the times of the later series.
import type { MetricSeries } from './device-queries.ts';
import type { Interval } from './time-range.ts';

export function periodBefore({ fromMs, toMs }: Interval): Interval {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

/** The earlier series at the times of the later one; a bucket without a counterpart is `null`. */
export function movedTo(
  later: Pick<MetricSeries, 'timestamps'>,
  earlier: MetricSeries,
  spanMs: number,
): MetricSeries {
  const starts = later.timestamps.map((at) => Date.parse(at));
  const places = placesOf(starts, earlier.timestamps, spanMs);
  const dataPoints = Object.fromEntries(
    Object.entries(earlier.dataPoints).map(([accumulator, values]) => {
      const moved: (number | null)[] = starts.map(() => null);
      for (const [at, place] of places.entries())
        if (place >= 0) moved[place] ??= values[at] ?? null;
      return [accumulator, moved];
    }),
  );
  return { ...earlier, timestamps: later.timestamps, dataPoints };
}

/** The index of the later bucket in which each earlier one begins; -1 before the first. */
function placesOf(starts: readonly number[], earlier: readonly string[], spanMs: number) {
  let place = -1;
  return earlier.map((timestamp) => {
    const atMs = Date.parse(timestamp) + spanMs;
    while (place + 1 < starts.length && (starts[place + 1] ?? 0) <= atMs) place += 1;
    return place;
  });
}

/** Average of all samples; undefined without samples. */
export function averageOf({ dataPoints }: Pick<MetricSeries, 'dataPoints'>): number | undefined {
  const counts = dataPoints['COUNT'] ?? [];
  let [sum, samples] = [0, 0];
  for (const [at, average] of (dataPoints['AVG'] ?? []).entries()) {
    sum += (average ?? 0) * (counts[at] ?? 0);
    samples += average === null ? 0 : (counts[at] ?? 0);
  }
  return samples === 0 ? undefined : sum / samples;
}
