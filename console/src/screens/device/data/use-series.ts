// Series over the range of the address, and over the period before it where both are compared.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeviceSearch } from '../device-search.ts';
import { type ManySeriesBody, seriesQuery } from './device-queries.ts';
import { periodBefore } from './period-before.ts';
import { type Interval, intervalOf, isoInterval } from './time-range.ts';

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
