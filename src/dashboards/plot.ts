// Plot of a chart: answers of queries as lines over the same times, for every way in which a chart is drawn (contract 39).
import { barSeconds, barsOf } from './bars.ts';
import type { Threshold, Tile } from './configuration.ts';
import { placesOf } from './earlier.ts';
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
  /** Holds each value until the next one. */
  readonly isStep?: boolean;
  /** Points without a line between them. */
  readonly isPoints?: boolean;
  /** Of an earlier period, which is drawn fainter. */
  readonly isFaint?: boolean;
  /** Drawn as bars that begin at their times; the share of a bar's place that it fills. */
  readonly barShare?: number;
  /** On the second axis. */
  readonly isRight?: boolean;
}

/** An instant that a dashed line marks, or a time that is shaded from it on. */
export interface PlotMark {
  /** Epoch seconds. */
  readonly at: number;
  readonly until?: number;
  readonly label: string;
  /** Shown at the pointer. */
  readonly note?: string;
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
  /** When the bar at each of the times begins, where bars of several series share a time. */
  readonly namedTimes?: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly marks?: readonly PlotMark[];
  readonly levels?: readonly PlotLevel[];
  /** Fills the space from each level to the next in place of a line at each. */
  readonly isBanded?: boolean;
  /** Of the time axis, in epoch seconds; that of the times when absent. */
  readonly range?: readonly [from: number, to: number];
  readonly axes?: Tile['axes'];
}

/** Values of a series in buckets. */
interface Buckets {
  /** Start of each bucket. */
  readonly timestamps: readonly string[];
  /** By accumulator. */
  readonly dataPoints: Readonly<Record<string, readonly (number | null)[]>>;
}

/** A series with what a query answered. */
export interface AnsweredSeries extends Buckets {
  readonly series: DeviceSeries;
  readonly label: string;
  /** How devices are combined, and how many of them have a value. */
  readonly combined?: {
    readonly across: NonNullable<DeviceSeries['combined']>['across'];
    readonly devices: number;
    readonly withValue: number;
  };
  /** After so many seconds the device counts as silent; 0 if it is not known. */
  readonly silentAfterS?: number;
  /** Values after the buckets, by epoch seconds. */
  readonly live?: ReadonlyMap<number, number>;
  /** The same series in an earlier period, which began `shiftS` seconds before. */
  readonly earlier?: Buckets & { readonly label: string; readonly shiftS: number };
}

export interface PlotFrame {
  /** Epoch seconds. */
  readonly from: number;
  readonly to: number;
  /** Length of the buckets of the answers, in seconds, and whether the tile names it. */
  readonly bucket: { readonly seconds: number; readonly isOwn: boolean };
  /** Epoch seconds to seconds that clocks of the zone show. */
  readonly clock: (seconds: number) => number;
  /** What is written at the line of a threshold. */
  readonly levelName: (threshold: Threshold) => string;
}

const paletteSize = 6;
const paletteName = /^--c[1-6]$/;

/** The color that a series names, else the one of its place. */
export function colorIn(color: string | undefined, at: number): PlotColor {
  if (color !== undefined && paletteName.test(color)) return color as PlotColor;
  return `--c${(at % paletteSize) + 1}`;
}

type ChartTile = Pick<Tile, 'kind' | 'thresholds' | 'thresholdStyle' | 'axes'>;

/** The plot of a line or bar tile, with as many of its series as it has room for. */
export function chartPlot(
  tile: ChartTile,
  answered: readonly AnsweredSeries[],
  frame: PlotFrame,
): Plot {
  const shown = answered.slice(0, linesMax);
  const styles = shown.map(({ series }) => series.style ?? (tile.kind === 'bar' ? 'BAR' : 'LINE'));
  const grid = tile.kind === 'bar' ? barGrid(shown, frame) : lineGrid(shown, frame);
  const { times, values, seconds, range } = grid;
  const bars = styles.flatMap((style, at) => (style === 'BAR' ? [at] : []));
  const share = filledShare / Math.max(1, bars.length);
  // The bars of one time stand side by side: each series of bars has a place of its own.
  const places = Math.max(1, bars.length);
  const spread = (list: readonly PlotValue[], own: number): readonly PlotValue[] =>
    places === 1
      ? list
      : list.flatMap((value) =>
          Array.from({ length: places }, (_, at) => (at === own ? value : undefined)),
        );
  const axisOf = ({ axis }: DeviceSeries) => tile.axes?.[axis === 'RIGHT' ? 'right' : 'left'];
  /** A logarithmic axis has no place for zero and less. */
  const onAxis = (list: readonly PlotValue[], series: DeviceSeries) =>
    axisOf(series)?.scale === 'LOG'
      ? list.map((value) => (typeof value === 'number' && value <= 0 ? null : value))
      : list;
  const lines = shown.map(({ series, label }, at): PlotLine => {
    const style = styles[at];
    const own = style === 'BAR' ? bars.indexOf(at) : 0;
    const placed = (list: readonly PlotValue[]) => spread(onAxis(list, series), own);
    const band = values[at]?.band;
    return {
      label,
      unit: series.unit,
      color: colorIn(series.color, at),
      values: placed(values[at]?.values ?? []),
      ...(series.axis === 'RIGHT' && { isRight: true }),
      ...(style === 'BAR' && { barShare: share }),
      ...(style === 'STEP' && { isStep: true }),
      ...(style === 'POINTS' && { isPoints: true }),
      ...(style !== 'BAR' && at >= paletteSize && { isDashed: true }),
      ...(band &&
        style === 'LINE' && {
          band: { least: placed(band.least), greatest: placed(band.greatest) },
        }),
    };
  });
  const earlier = shown.flatMap((one, at): PlotLine[] => {
    if (one.earlier === undefined || tile.kind === 'bar') return [];
    const { series } = one;
    const found = earlierValues(one.earlier, one, times);
    return [
      {
        label: one.earlier.label,
        unit: series.unit,
        color: colorIn(series.color, at),
        values: spread(onAxis(found, series), 0),
        isFaint: true,
        ...(series.axis === 'RIGHT' && { isRight: true }),
        ...((styles[at] === 'STEP' || styles[at] === 'BAR') && { isStep: true }),
        ...(styles[at] === 'POINTS' && { isPoints: true }),
      },
    ];
  });
  const levels = levelsOf(tile, lines, frame.levelName);
  const spreadTimes =
    places === 1
      ? times
      : times.flatMap((time) =>
          Array.from({ length: places }, (_, at) => time + at * seconds * share),
        );
  return {
    times: spreadTimes,
    ...(places > 1 && { namedTimes: times.flatMap((time) => Array<number>(places).fill(time)) }),
    lines: [...lines, ...earlier],
    range,
    ...(levels.length > 0 && { levels }),
    ...(tile.thresholdStyle === 'BAND' && { isBanded: true }),
    ...(tile.axes && { axes: tile.axes }),
  };
}

/** The bars of one time fill this share of their place; the rest divides them from the next. */
const filledShare = 0.78;

/** The values of all series at the same times. */
interface Grid {
  readonly times: readonly number[];
  /** In the order of the series. */
  readonly values: readonly {
    readonly band?: {
      readonly least: readonly PlotValue[];
      readonly greatest: readonly PlotValue[];
    };
    readonly values: readonly PlotValue[];
  }[];
  /** From one time to the next. */
  readonly seconds: number;
  readonly range: readonly [from: number, to: number];
}

const secondsOf = (timestamp: string): number => Date.parse(timestamp) / 1_000;

/** Each bucket, then each time of a live value. */
function lineGrid(shown: readonly AnsweredSeries[], { from, to, bucket }: PlotFrame): Grid {
  const stored =
    shown.find(({ timestamps }) => timestamps.length > 0)?.timestamps.map(secondsOf) ?? [];
  // A bar is of a whole bucket.
  const liveOf = ({ series, live }: AnsweredSeries) => (series.style === 'BAR' ? undefined : live);
  const later = [...new Set(shown.flatMap((one) => [...(liveOf(one)?.keys() ?? [])]))].toSorted(
    (a, b) => a - b,
  );
  const times = [...stored, ...later];
  const isOnly = shown.length === 1;
  const values = shown.map((one) => {
    const { series, dataPoints, silentAfterS } = one;
    const live = liveOf(one);
    const ofPoints = (name: string): readonly PlotValue[] => {
      const points = dataPoints[name] ?? [];
      const known = stored.map((_, at) => points[at] ?? null);
      if (series.style === 'BAR') return [...known, ...later.map(() => undefined)];
      const all = [...known, ...later.map((time) => live?.get(time) ?? null)];
      return continued(withGaps(times, all, silentAfterS), stored.length);
    };
    const hasBand = isOnly && series.accumulator === 'AVG' && dataPoints['MIN'] !== undefined;
    return {
      values: ofPoints(series.accumulator),
      ...(hasBand && { band: { least: ofPoints('MIN'), greatest: ofPoints('MAX') } }),
    };
  });
  const range = [from, Math.max(to, later.at(-1) ?? to)] as const;
  return { times, values, seconds: bucket.seconds, range };
}

/** Other series have live values where this one has none: its line continues, without a gap. */
function continued(values: readonly PlotValue[], storedCount: number): readonly PlotValue[] {
  if (values.length === storedCount) return values;
  const last = values.findLastIndex((value) => typeof value === 'number');
  return values.map((value, at) => (at >= storedCount && at < last ? (value ?? undefined) : value));
}

/** Buckets added up to few enough bars. */
function barGrid(shown: readonly AnsweredSeries[], { from, to, bucket, clock }: PlotFrame): Grid {
  const seconds = bucket.isOwn
    ? bucket.seconds
    : barSeconds(to - from, bucket.seconds, shown.length);
  // Each bucket that the tile names is a bar, also one of a month.
  const length = bucket.isOwn ? 1 : seconds;
  const bars = shown.map(({ series: { accumulator }, timestamps, dataPoints }) =>
    barsOf(timestamps, dataPoints, { accumulator, seconds: length, clock }),
  );
  const times = bars.find((one) => one.starts.length > 0)?.starts ?? [];
  const values = bars.map((one) => ({ values: times.map((_, at) => one.values[at] ?? null) }));
  const [first = from, last = to] = [times[0], times.at(-1)];
  return { times, values, seconds, range: [first, last + seconds] };
}

/** The values of the earlier period at the times of this one. */
function earlierValues(
  { timestamps, dataPoints, shiftS }: NonNullable<AnsweredSeries['earlier']>,
  { series, silentAfterS }: AnsweredSeries,
  times: readonly number[],
): readonly PlotValue[] {
  const points = dataPoints[series.accumulator] ?? [];
  const found = times.map((): number | null => null);
  const starts = times.map((time) => time * 1_000);
  for (const [at, place] of placesOf(starts, timestamps, shiftS * 1_000).entries())
    if (place >= 0) found[place] ??= points[at] ?? null;
  return withGaps(times, found, silentAfterS);
}

// Levels: the thresholds of a tile, where its values come near them.

const toneColors = { OK: '--ok', WARNING: '--warn', BAD: '--bad' } as const;

function levelsOf(
  tile: ChartTile,
  lines: readonly PlotLine[],
  nameOf: PlotFrame['levelName'],
): readonly PlotLevel[] {
  const [least, greatest] = reachOf(lines.map(({ values }) => values));
  return levelsNear(tile, least, greatest).map((threshold) => ({
    value: threshold.from,
    label: nameOf(threshold),
    color: toneColors[threshold.tone],
  }));
}

/**
 * A threshold further away than the values reach would flatten them, and is left out; of those
 * below, the highest colors the lowest band.
 */
function levelsNear(
  { thresholds, thresholdStyle }: ChartTile,
  least: number,
  greatest: number,
): readonly Threshold[] {
  if (thresholdStyle === 'NONE' || least > greatest) return [];
  const reach = greatest - least || Math.abs(greatest) || 1;
  const rising = (thresholds ?? []).toSorted((a, b) => a.from - b.from);
  const near = rising.filter(({ from }) => from >= least - reach && from <= greatest + reach);
  const below = rising.findLast(({ from }) => from < least - reach);
  if (thresholdStyle !== 'BAND' || below === undefined) return near;
  return [{ ...below, from: Math.min(least, near[0]?.from ?? least) }, ...near];
}

/** The least and the greatest number; the first above the second without any. */
function reachOf(lists: readonly (readonly PlotValue[])[]): [least: number, greatest: number] {
  let [least, greatest] = [Infinity, -Infinity];
  for (const list of lists)
    for (const value of list)
      if (typeof value === 'number') {
        least = Math.min(least, value);
        greatest = Math.max(greatest, value);
      }
  return [least, greatest];
}

// Axes.

export type Side = 'left' | 'right';

interface ValueRange {
  readonly least: number;
  readonly most: number;
  /** Both ends are greater than zero. */
  readonly isLog: boolean;
}

/** The side of the thresholds: the right one only where all lines are on it. */
export function levelSide({ lines }: { readonly lines: readonly PlotLine[] }): Side {
  return lines.length > 0 && lines.every(({ isRight }) => isRight === true) ? 'right' : 'left';
}

const spareShare = 0.08;
/** Of a logarithmic axis, on both sides. */
const spareFactor = 1.2;

/** What an axis reaches: the bounds that the tile names, else its lines, levels and, with bars, zero. */
export function valueRange(plot: Pick<Plot, 'lines' | 'levels' | 'axes'>, side: Side): ValueRange {
  const lines = plot.lines.filter(({ isRight = false }) => isRight === (side === 'right'));
  const levels = levelSide(plot) === side ? (plot.levels ?? []) : [];
  const fixed = plot.axes?.[side];
  const lists = lines.flatMap(({ values, band }) =>
    band === undefined ? [values] : [values, band.least, band.greatest],
  );
  const all = [...lists, levels.map(({ value }) => value)];
  const [given, end] = [fixed?.min ?? undefined, fixed?.max ?? undefined];
  const isLog = fixed?.scale === 'LOG' && (given ?? 1) > 0 && (end ?? 1) > 0;
  if (isLog) return logRange(all, given, end);
  const hasBars = lines.some(({ barShare }) => barShare !== undefined);
  let [low, high] = reachOf(hasBars ? [...all, [0]] : all);
  if (low > high) [low, high] = [0, 1];
  const spare = (high - low || Math.abs(high) || 1) * spareShare;
  const least = given ?? (hasBars && low === 0 ? 0 : low - spare);
  const most = end ?? (hasBars && high === 0 ? 0 : high + spare);
  // A bound that is named may be beyond all values.
  if (least < most) return { least, most, isLog };
  const length = Math.abs(least) || 1;
  return given === undefined
    ? { least: most - length, most, isLog }
    : { least, most: least + length, isLog };
}

function logRange(
  lists: readonly (readonly PlotValue[])[],
  min: number | undefined,
  max: number | undefined,
): ValueRange {
  const positive = lists.map((list) =>
    list.filter((value) => typeof value === 'number' && value > 0),
  );
  let [low, high] = reachOf(positive);
  if (low > high) [low, high] = [1, 10];
  const least = min ?? Math.min(low / spareFactor, (max ?? Infinity) / 10);
  const most = max ?? Math.max(high * spareFactor, least * 10);
  return { least, most: Math.max(most, least * spareFactor), isLog: true };
}

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
