// Bar lines: the bars of several series side by side, as lines of one plot.
import type { PlotLine } from '../../../charts/line-plot.ts';
import { barsOf } from './bars.ts';
import { type DeviceSeries, seriesKey } from './data-plan.ts';
import { colorIn, type Lines } from './tile-values.ts';
import type { DashboardData } from './use-dashboard-data.ts';

/** The bars of one time fill this share of their place; the rest divides them from the next. */
const filledShare = 0.78;

interface BarLines extends Lines {
  readonly range: readonly [from: number, to: number];
  /** When the bar at each of the times begins, which only the first series has in its place. */
  readonly namedTimes: readonly number[];
}

interface BarOptions {
  /** Length of a bar. */
  readonly seconds: number;
  /** Whether the tile names the buckets. */
  readonly isOwn: boolean;
  readonly nameOf: (series: DeviceSeries, at: number) => string;
}

export function barLinesOf(
  shown: readonly DeviceSeries[],
  data: DashboardData,
  { seconds, isOwn, nameOf }: BarOptions,
): BarLines {
  const bars = shown.map((series) => {
    const stored = data.series.get(seriesKey(series));
    const { accumulator } = series;
    // Each bucket that the tile names is a bar, also one of a month.
    const options = { accumulator, seconds: isOwn ? 1 : seconds, zone: data.zone };
    return barsOf(stored?.timestamps ?? [], stored?.dataPoints ?? {}, options);
  });
  const starts = bars.find((one) => one.starts.length > 0)?.starts ?? [];
  const share = filledShare / Math.max(1, shown.length);
  // Each series has its own times, so that its bars are next to those of the others.
  const times = starts.flatMap((start) => shown.map((_, at) => start + at * seconds * share));
  const lines = shown.map((series, at): PlotLine => {
    const values = starts.flatMap((_, bar) =>
      shown.map((__, other) => (other === at ? (bars[at]?.values[bar] ?? null) : undefined)),
    );
    const color = colorIn(series, at);
    return { label: nameOf(series, at), unit: series.unit, color, values, barShare: share };
  });
  const [first = 0, last = 0] = [starts[0], starts.at(-1)];
  return {
    times,
    lines,
    range: [first, last + seconds],
    namedTimes: starts.flatMap((start) => shown.map(() => start)),
  };
}
