// Expected band: what is usual around the line of an exploration, and when the line reaches a target.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import type { PlotLine, PlotValue } from '../../../../../src/dashboards/plot.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { type Interval, isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';
import { deviceRoute } from '../device-search.ts';
import type { sensitivities } from './explore-search.ts';
import { exploreWords } from './explore-words.ts';
import styles from './explore.module.css';

type ExpectedRange = components['schemas']['ExpectedRange'];
type Forecast = components['schemas']['Forecast'];

const refetchMs = 600_000;
const daysMax = 92;
const dayMs = 86_400_000;
/** Accumulators whose points are values of the line itself. */
const leveled: readonly string[] = [
  'AVG',
  'MIN',
  'MAX',
  'FIRST',
  'LAST',
  'MEDIAN',
  'TIME_WEIGHTED_AVG',
];

/** The one line that is explored. */
interface Line {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly zone: string;
}

export function isLeveled(accumulator: string): boolean {
  return leveled.includes(accumulator);
}

const expectedQuery = (
  { deviceId, topic, dataKey, zone }: Line,
  sensitivity: (typeof sensitivities)[number],
  interval: Interval,
) =>
  queryOptions({
    queryKey: ['expected', deviceId, topic, dataKey, zone, sensitivity, interval],
    placeholderData: keepPreviousData,
    staleTime: refetchMs,
    queryFn: ({ signal }) => {
      const body = { topic, dataKey, interval: isoInterval(interval), sensitivity, timeZone: zone };
      const params = { path: { deviceId } };
      return ask(platform.POST('/v3/devices/{deviceId}/query/expected', { signal, params, body }));
    },
  });

const forecastQuery = ({ deviceId, topic, dataKey, zone }: Line, target: number) =>
  queryOptions({
    queryKey: ['forecast', deviceId, topic, dataKey, zone, target],
    staleTime: refetchMs,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: [deviceId], topic, dataKey, target, timeZone: zone };
      const { content } = await ask(platform.POST('/v3/devices/query/forecast', { signal, body }));
      return content[0] ?? null;
    },
  });

/** What the address asks for of the line; nothing for several lines. */
export function useExpected(line: Line | undefined) {
  const search = useSearch({ from: `${deviceRoute}/explore` });
  const [openedMs] = useState(() => Date.now());
  const { usual, target } = search;
  const interval = intervalOf(search, openedMs);
  const isLong = interval.toMs - interval.fromMs > daysMax * dayMs;
  const asked = line ?? { deviceId: '', topic: '', dataKey: '', zone: 'UTC' };
  const isAsked = line !== undefined;
  const range = useQuery({
    ...expectedQuery(asked, usual ?? 'MEDIUM', interval),
    enabled: isAsked && usual !== undefined && !isLong,
  });
  const forecast = useQuery({
    ...forecastQuery(asked, target ?? 0),
    enabled: isAsked && target !== undefined,
  });
  return {
    isTooLong: isAsked && usual !== undefined && isLong,
    range: isAsked && usual !== undefined && !isLong ? range.data : undefined,
    forecast: isAsked && target !== undefined ? (forecast.data ?? undefined) : undefined,
    target: target ?? 0,
  };
}

export type Expected = ReturnType<typeof useExpected>;

/** The bounds at the times of buckets: the outermost of the hours in each. Times are epoch seconds. */
export function bandOf(
  times: readonly number[],
  { timestamps, lower, upper }: Pick<ExpectedRange, 'timestamps' | 'lower' | 'upper'>,
): Required<PlotLine>['band'] {
  const hours = timestamps.map((at) => Date.parse(at) / 1_000);
  const least: PlotValue[] = [];
  const greatest: PlotValue[] = [];
  let first = 0;
  for (const [i, at] of times.entries()) {
    const end = times[i + 1] ?? at + 1;
    while (first + 1 < hours.length && (hours[first + 1] ?? 0) <= at) first += 1;
    let last = first;
    while (last + 1 < hours.length && (hours[last + 1] ?? end) < end) last += 1;
    const known = (values: readonly (number | null)[]) =>
      values.slice(first, last + 1).filter((value) => value !== null);
    const [low, high] = [known(lower), known(upper)];
    least.push(low.length === 0 ? null : Math.min(...low));
    greatest.push(high.length === 0 ? null : Math.max(...high));
  }
  return { least, greatest };
}

/** The chart with one more time, at which a dashed line that follows the slope ends. */
export function withForecast(
  times: readonly number[],
  lines: readonly PlotLine[],
  { slopePerDay, reachesAt }: Pick<Forecast, 'slopePerDay' | 'reachesAt'>,
  labelOf: (label: string) => string,
): { readonly times: readonly number[]; readonly lines: readonly PlotLine[] } {
  const [line] = lines;
  const [start, end] = [times[0], times.at(-1)];
  const from = line?.values.findLastIndex((value) => value !== null && value !== undefined) ?? -1;
  const [value, at] = [line?.values[from], times[from]];
  if (line === undefined || start === undefined || end === undefined || at === undefined)
    return { times, lines };
  if (typeof value !== 'number' || slopePerDay === null || reachesAt === null)
    return { times, lines };
  // As far ahead as the chart looks back, at most.
  const until = Math.min(Date.parse(reachesAt) / 1_000, end + (end - start));
  if (until <= end) return { times, lines };
  const reached = value + (slopePerDay * (until - at)) / 86_400;
  const more = <T,>(values: readonly T[], last: T): readonly T[] => [...values, last];
  const band = line.band && {
    least: more(line.band.least, null),
    greatest: more(line.band.greatest, null),
  };
  const dotted: PlotValue[] = times.map((_, i) => (i < from ? null : undefined));
  dotted[from] = value;
  return {
    times: more(times, until),
    lines: [
      ...lines.map((one) => ({
        ...one,
        values: more(one.values, null),
        ...(one === line && band !== undefined && { band }),
      })),
      {
        label: labelOf(line.label),
        unit: line.unit ?? '',
        color: line.color,
        values: more(dotted, reached),
        isDashed: true,
      },
    ],
  };
}

interface ExpectedNotesProps {
  readonly expected: Expected;
  /** The covered share of the time that is shown; undefined where it does not count. */
  readonly coverage: number | undefined;
  readonly zone: string;
}

/** What the chart cannot show, as sentences. */
export function ExpectedNotes({ expected, coverage, zone }: ExpectedNotesProps) {
  const words = useWords(exploreWords);
  const { day, value } = useFormats();
  const { range, forecast, target, isTooLong } = expected;
  const notes: string[] = [];
  if (coverage !== undefined) notes.push(words.covered(Math.round(coverage * 100)));
  if (isTooLong) notes.push(words.longUsual);
  if (range?.method === 'NONE') notes.push(words.noUsual);
  const { reason = null, reachesAt = null, earliest = null, latest = null } = forecast ?? {};
  if (reason !== null) notes.push(words.noForecast[reason]);
  if (reachesAt !== null && earliest !== null && latest !== null) {
    const days = [reachesAt, earliest, latest].map((at) => day(at, zone)) as [
      string,
      string,
      string,
    ];
    notes.push(target === 0 ? words.empty(...days) : words.reaches(value(target), ...days));
  }
  return notes.map((note) => (
    <p key={note} className={`mute ${styles['said']}`} role="note">
      {note}
    </p>
  ));
}
