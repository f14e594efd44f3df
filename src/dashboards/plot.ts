// Plot of a chart: answers of queries as lines over the same times, for every way in which a chart is drawn (contract 39).
import { barSeconds, barsOf } from './bars.ts';
import type { Threshold, Tile } from './configuration.ts';
import { withGaps } from './gaps.ts';
import { type DeviceSeries, linesMax } from './plan.ts';

export type PlotValue = number | null | undefined;
export type PlotColor = `--${string}`;

export interface PlotLine {
  readonly label: string;
  readonly unit?: string;
  /** Token of the palette, such as `--c1`. */
  readonly color: PlotColor;
  /** A line crosses `undefined` and has a gap at `null`. */
  readonly values: readonly PlotValue[];
  /** Least and greatest values around the line, drawn as a band. */
  readonly band?: {
    readonly least: readonly PlotValue[];
    readonly greatest: readonly PlotValue[];
  };
  readonly isDashed?: boolean;
  /** Drawn as bars that begin at their times; the share of a bar's place that it fills. */
  readonly barShare?: number;
  /** On the second axis. */
  readonly isRight?: boolean;
}

/** An instant that a dashed line marks. */
export interface PlotMark {
  /** Epoch seconds. */
  readonly at: number;
  readonly label: string;
  readonly color: PlotColor;
}

/** A value that a dashed line marks, such as a threshold. */
export interface PlotLevel {
  readonly value: number;
  readonly label: string;
  readonly color: PlotColor;
}

export interface Plot {
  /** Epoch seconds, rising. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly marks?: readonly PlotMark[];
  readonly levels?: readonly PlotLevel[];
  /** Of the time axis, in epoch seconds; that of the times when absent. */
  readonly range?: readonly [from: number, to: number];
  readonly axes?: Tile['axes'];
}

/** A series with what a query answered. */
export interface AnsweredSeries {
  readonly series: DeviceSeries;
  readonly label: string;
  /** Start of each bucket. */
  readonly timestamps: readonly string[];
  /** By accumulator. */
  readonly dataPoints: Readonly<Record<string, readonly (number | null)[]>>;
}

export interface PlotFrame {
  /** Epoch seconds. */
  readonly from: number;
  readonly to: number;
  /** Length of the buckets of the answers, in seconds, and whether the tile names it. */
  readonly bucket: { readonly seconds: number; readonly isOwn: boolean };
  /** Epoch seconds to seconds that clocks of the zone show. */
  readonly clock: (seconds: number) => number;
}

const paletteSize = 6;
const paletteName = /^--c[1-6]$/;

/** The color that a series names, else the one of its place. */
export function colorIn(color: string | undefined, at: number): PlotColor {
  if (color !== undefined && paletteName.test(color)) return color as PlotColor;
  return `--c${(at % paletteSize) + 1}`;
}

const toneColors = { OK: '--ok', WARNING: '--warn', BAD: '--bad' } as const;

/** A line for each threshold of a drawn tile, unless it draws none. */
function levelsOf({
  thresholds,
  thresholdStyle,
}: Pick<Tile, 'thresholds' | 'thresholdStyle'>): readonly PlotLevel[] {
  if (thresholdStyle === 'NONE') return [];
  return (thresholds ?? []).map(({ from, label, tone }: Threshold) => ({
    value: from,
    label: label ?? String(from),
    color: toneColors[tone],
  }));
}

/** The plot of a line or bar tile, with as many of its series as it has room for. */
export function chartPlot(
  tile: Pick<Tile, 'kind' | 'thresholds' | 'thresholdStyle' | 'axes'>,
  answered: readonly AnsweredSeries[],
  frame: PlotFrame,
): Plot {
  const shown = answered.slice(0, linesMax);
  const levels = levelsOf(tile);
  return {
    ...(tile.kind === 'bar' ? barPlot(shown, frame) : linePlot(shown, frame)),
    ...(levels.length > 0 && { levels }),
    ...(tile.axes && { axes: tile.axes }),
  };
}

function linePlot(shown: readonly AnsweredSeries[], { from, to }: PlotFrame): Plot {
  const times = (shown[0]?.timestamps ?? []).map((timestamp) => Date.parse(timestamp) / 1_000);
  const isOnly = shown.length === 1;
  const lines = shown.map(({ series, label, dataPoints }, at): PlotLine => {
    const values = (name: string) => withGaps(times, dataPoints[name] ?? times.map(() => null));
    const hasBand = isOnly && series.accumulator === 'AVG' && dataPoints['MIN'] !== undefined;
    return {
      label,
      unit: series.unit,
      color: colorIn(series.color, at),
      values: values(series.accumulator),
      isDashed: at >= paletteSize,
      ...(hasBand && { band: { least: values('MIN'), greatest: values('MAX') } }),
    };
  });
  return { times, lines, range: [from, to] };
}

/** The bars of one time fill this share of their place; the rest divides them from the next. */
const filledShare = 0.78;

/** The bars of several series side by side. */
function barPlot(shown: readonly AnsweredSeries[], { from, to, bucket, clock }: PlotFrame): Plot {
  const seconds = bucket.isOwn
    ? bucket.seconds
    : barSeconds(to - from, bucket.seconds, shown.length);
  // Each bucket that the tile names is a bar, also one of a month.
  const length = bucket.isOwn ? 1 : seconds;
  const bars = shown.map(({ series: { accumulator }, timestamps, dataPoints }) =>
    barsOf(timestamps, dataPoints, { accumulator, seconds: length, clock }),
  );
  const starts = bars.find((one) => one.starts.length > 0)?.starts ?? [];
  const share = filledShare / Math.max(1, shown.length);
  // Each series has its own times, so that its bars are next to those of the others.
  const times = starts.flatMap((start) => shown.map((_, at) => start + at * seconds * share));
  const lines = shown.map(({ series, label }, at): PlotLine => {
    const values = starts.flatMap((_, bar) =>
      shown.map((__, other) => (other === at ? (bars[at]?.values[bar] ?? null) : undefined)),
    );
    const color = colorIn(series.color, at);
    return { label, unit: series.unit, color, values, barShare: share };
  });
  const [first = from, last = to] = [starts[0], starts.at(-1)];
  return { times, lines, range: [first, last + seconds] };
}
