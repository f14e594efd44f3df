// Chart lines: a series of buckets, continued with the samples that arrived after its end.
import type { PlotLine } from '../../../charts/line-chart.tsx';
import { type DataKey, valueAt } from '../data/data-keys.ts';
import type { MetricSeries } from '../data/device-queries.ts';
import { movedTo } from '../data/period-before.ts';
import { withGaps } from '../data/gaps.ts';
import type { FeedRow } from '../data/sample-feed.ts';
import { colorOf } from './value-colors.ts';

type Shown = Pick<DataKey, 'topic' | 'key' | 'title' | 'unit'>;

interface Plot {
  /** Epoch seconds, rising. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
}

export interface SeriesAnswer {
  readonly series: readonly MetricSeries[];
  readonly interval: { readonly to: string };
}

/** The same value in the period before. */
export interface Earlier {
  readonly answer: SeriesAnswer;
  readonly spanMs: number;
  readonly label: string;
}

interface PlotParts {
  readonly answer: SeriesAnswer | undefined;
  /** Newest first; those before the end of the series are in it. */
  readonly rows: readonly FeedRow[];
  readonly shown: Shown;
  readonly colorAt: number;
  readonly earlier: Earlier | undefined;
  /** Seconds after which the device counts as silent. */
  readonly silentAfterS: number;
}

export function plotOf({ answer, rows, shown, colorAt, earlier, silentAfterS }: PlotParts): Plot {
  const [series] = answer?.series ?? [];
  if (answer === undefined || series === undefined) return { times: [], lines: [] };
  const live = pointsAfter(Date.parse(answer.interval.to), rows, shown);
  const liveValues = live.map(({ value }) => value);
  const stored = series.timestamps.map((timestamp) => Date.parse(timestamp) / 1_000);
  const times = [...stored, ...live.map(({ time }) => time)];
  const joined = (accumulator: string) =>
    withGaps(times, [...(series.dataPoints[accumulator] ?? []), ...liveValues], silentAfterS);
  const line: PlotLine = {
    label: shown.title,
    unit: shown.unit,
    color: colorOf(colorAt),
    values: joined('AVG'),
    band: { least: joined('MIN'), greatest: joined('MAX') },
  };
  return { times, lines: [line, ...earlierLines(earlier, series, times, line, silentAfterS)] };
}

/** Dashed, without a band, and empty where the live samples are. */
function earlierLines(
  earlier: Earlier | undefined,
  series: MetricSeries,
  times: readonly number[],
  { unit, color }: PlotLine,
  silentAfterS: number,
): readonly PlotLine[] {
  const [before] = earlier?.answer.series ?? [];
  if (earlier === undefined || before === undefined) return [];
  const known = movedTo(series, before, earlier.spanMs).dataPoints['AVG'] ?? [];
  const values = withGaps(
    times,
    [...known, ...times.slice(known.length).map(() => null)],
    silentAfterS,
  );
  const look = unit === undefined ? { color } : { color, unit };
  return [{ ...look, label: earlier.label, values, isDashed: true }];
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
