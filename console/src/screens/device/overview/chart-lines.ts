// Chart lines: a series of buckets, continued with the samples that arrived after its end.
import type { PlotLine } from '../../../charts/line-chart.tsx';
import { type DataKey, valueAt } from '../data/data-keys.ts';
import type { MetricSeries } from '../data/device-queries.ts';
import { withGaps } from '../data/gaps.ts';
import type { FeedRow } from '../data/sample-feed.ts';
import { colorOf } from './value-colors.ts';

type Shown = Pick<DataKey, 'topic' | 'key' | 'title' | 'unit'>;

interface Plot {
  /** Epoch seconds, rising. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
}

interface SeriesAnswer {
  readonly series: readonly MetricSeries[];
  readonly interval: { readonly to: string };
}

/** Rows are newest first; those before the end of the series are in it. */
export function plotOf(
  answer: SeriesAnswer | undefined,
  rows: readonly FeedRow[],
  shown: Shown,
  colorAt: number,
): Plot {
  const [series] = answer?.series ?? [];
  if (answer === undefined || series === undefined) return { times: [], lines: [] };
  const live = pointsAfter(Date.parse(answer.interval.to), rows, shown);
  const liveValues = live.map(({ value }) => value);
  const stored = series.timestamps.map((timestamp) => Date.parse(timestamp) / 1_000);
  const times = [...stored, ...live.map(({ time }) => time)];
  const joined = (accumulator: string) =>
    withGaps(times, [...(series.dataPoints[accumulator] ?? []), ...liveValues]);
  const line: PlotLine = {
    label: shown.title,
    unit: shown.unit,
    color: colorOf(colorAt),
    values: joined('AVG'),
    band: { least: joined('MIN'), greatest: joined('MAX') },
  };
  return { times, lines: [line] };
}

function pointsAfter(endMs: number, rows: readonly FeedRow[], { topic, key }: Shown) {
  return rows
    .filter(({ sample }) => sample.topic === topic && Date.parse(sample.timestamp) >= endMs)
    .flatMap(({ sample }) => {
      const value = valueAt(sample.data, key);
      const time = Date.parse(sample.timestamp) / 1_000;
      return typeof value === 'number' ? [{ time, value }] : [];
    })
    .toReversed()
    .filter(({ time }, at, all) => all[at + 1]?.time !== time);
}
