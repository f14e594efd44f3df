// Series over the range of the address, and over the period before it where both are compared.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeviceSearch } from '../device-search.ts';
import { type ManySeriesBody, type MetricSeries, seriesQuery } from './device-queries.ts';
import { type Interval, isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { earlierInterval, placesOf } from '../../../../../src/dashboards/earlier.ts';
import { intervalOf } from './time-range.ts';

interface SeriesOptions {
  readonly search: DeviceSearch;
  /** The request without its interval. */
  readonly questions: Omit<ManySeriesBody, 'interval'>;
  /** Of a range that ends now. */
  readonly refetchMs: number;
}

export function useSeries({ search, questions, refetchMs }: SeriesOptions) {
  const [openedMs] = useState(() => Date.now());
  const range = [search.range, search.from, search.to];
  const refetch = search.from === undefined ? refetchMs : false;
  const isCompared = search.before === true;
  const isAsked = questions.series.length > 0;
  const bodyOf = (interval: Interval) => ({ ...questions, interval: isoInterval(interval) });
  const answer = useQuery({
    ...seriesQuery([questions, range], (nowMs) => bodyOf(intervalOf(search, nowMs)), refetch),
    enabled: isAsked,
  });
  const earlier = useQuery({
    ...seriesQuery(
      ['before', questions, range],
      (nowMs) => bodyOf(periodBefore(intervalOf(search, nowMs))),
      refetch,
    ),
    // Of another value, it would be drawn next to this one.
    placeholderData: () => undefined,
    enabled: isAsked && isCompared,
  });
  const opened = intervalOf(search, openedMs);
  return {
    answer,
    earlier: isCompared ? earlier.data : undefined,
    spanMs: opened.toMs - opened.fromMs,
    body: bodyOf(opened),
  };
}

// Period before: the interval before another one, and its series at the times of the later series.

export function periodBefore(interval: Interval): Interval {
  return earlierInterval(interval, interval.toMs - interval.fromMs);
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
