// Line tile: the course of values over the range of the dashboard, continued live.
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { ask } from '../../../api/platform.ts';
import { Legend, useIsolated } from '../../../charts/legend.tsx';
import { LineChart } from '../../../charts/line-chart.tsx';
import { colorIn, type PlotLevel, type PlotLine } from '../../../../../src/dashboards/plot.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { zoneClock } from '../../../words/zone-times.ts';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { bandOf, isLeveled } from '../../device/explore/expected-band.tsx';
import { type Threshold, titleOf } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { barSeconds, barsOf } from '../../../../../src/dashboards/bars.ts';
import { bucketOf, type DeviceSeries, seriesKey } from '../../../../../src/dashboards/plan.ts';
import { bucketShown, coverageOf, type Lines, linesOf } from '../data/tile-values.ts';
import { useReader } from '../dashboard-requests.ts';
import type { DashboardData } from '../data/use-dashboard-data.ts';
import { useTileFrame, useTileSeries } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** What the platform answers at most. */
const expectedDaysMax = 92;
const expectedMs = 600_000;

export function LineTile({ tile }: { readonly tile: BoundTile }) {
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile);
  const names = series.map(nameOf);
  const lines = useMemo(
    () => linesOf(series, data, (one) => names[series.indexOf(one)] ?? one.dataKey),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- names and series follow from these
    [tile, names.join('\n'), data.series, data.live, data.seriesEndMs],
  );
  const ranges = useExpectedRanges(series);
  const banded = { ...lines, lines: withRanges(lines, ranges) };
  const notes = [useBucketNote(tile), useCoverageNote(series), ranges.note];
  return <ChartBox tile={tile} lines={banded} more={more} notes={notes} />;
}

/** What is usual for each series that asks for it, in the order of the series. */
function useExpectedRanges(series: readonly DeviceSeries[]) {
  const words = useWords(tileWords);
  const reader = useReader();
  const { data } = useTileFrame();
  const { fromMs, toMs } = data.interval;
  const isLong = toMs - fromMs > expectedDaysMax * dayMs;
  // Whole hours, so that a range that moves with the clock is asked for once an hour.
  const interval = {
    fromMs: Math.floor(fromMs / hourMs) * hourMs,
    toMs: Math.ceil(toMs / hourMs) * hourMs,
  };
  const asked = series.filter(
    ({ expected, isFormula, accumulator }) =>
      expected !== undefined && !isFormula && isLeveled(accumulator),
  );
  const found = useQueries({
    queries: (isLong ? [] : asked).map(({ deviceId, topic, dataKey, expected }) => ({
      queryKey: [
        'expected tile',
        reader.name,
        deviceId,
        topic,
        dataKey,
        expected,
        interval,
        data.zone,
      ],
      placeholderData: keepPreviousData,
      staleTime: expectedMs,
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { path: { deviceId } };
        const body = {
          topic,
          dataKey,
          interval: isoInterval(interval),
          sensitivity: expected ?? null,
          timeZone: data.zone,
        };
        const path = '/v3/devices/{deviceId}/query/expected';
        return ask(reader.requests.POST(path, { signal, params, body }));
      },
    })),
  });
  const known = found.map(({ data: range }) => range);
  const isNone = known.some((range) => range?.method === 'NONE');
  return {
    of: (one: DeviceSeries) => known[asked.indexOf(one)],
    series,
    note:
      asked.length === 0
        ? undefined
        : isLong
          ? words.longUsual
          : isNone
            ? words.noUsual
            : words.usual,
  };
}

/** What is usual takes the place of the least and greatest values of each bucket. */
function withRanges(
  { times, lines }: Lines,
  { of, series }: ReturnType<typeof useExpectedRanges>,
): readonly PlotLine[] {
  return lines.map((line, at) => {
    const one = series[at];
    const range = one && of(one);
    if (range === undefined || range.method === 'NONE') return line;
    return { ...line, band: bandOf(times, range) };
  });
}

/** How much of the time the values say something of, where that is not all of it. */
function useCoverageNote(series: readonly DeviceSeries[]): string | undefined {
  const words = useWords(tileWords);
  const { data } = useTileFrame();
  const coverage = coverageOf(series, data);
  if (coverage === undefined) return undefined;
  // Never 100 % where something is missing.
  const percent = Math.floor(coverage * 100);
  return percent < 100 ? words.covered(percent) : undefined;
}

export function BarTile({ tile }: { readonly tile: BoundTile }) {
  const { data } = useTileFrame();
  const formats = useFormats();
  const words = useWords(tileWords);
  const { series, more, nameOf } = useTileSeries(tile);
  const names = series.map(nameOf);
  const { interval, zone } = data;
  const { bucket, isOwn } = bucketShown(tile, data);
  const bucketSeconds = bucket?.seconds ?? 1;
  const rangeSeconds = (interval.toMs - interval.fromMs) / 1_000;
  const seconds = isOwn ? bucketSeconds : barSeconds(rangeSeconds, bucketSeconds, series.length);
  const bars = useMemo(
    () => barLinesOf(series, data, { seconds, isOwn, nameOf: (_, at) => names[at] ?? '' }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- names and series follow from these
    [tile, names.join('\n'), data.series, seconds, zone],
  );
  const note = useBucketNote(tile) ?? words.perBar(formats.duration(seconds));
  const notes = [note, useCoverageNote(series)];
  return <ChartBox tile={tile} lines={bars} more={more} notes={notes} />;
}

/** What the tile names, and what is shown when that is too short for the range. */
function useBucketNote(tile: BoundTile): string | undefined {
  const words = useWords(tileWords);
  const { duration } = useFormats();
  const { data } = useTileFrame();
  const named = bucketOf(tile.bucketInterval ?? '');
  const { bucket, isOwn } = bucketShown(tile, data);
  if (named === undefined || bucket === undefined) return undefined;
  if (isOwn) return words.perBar(duration(named.seconds));
  return words.tooShort(duration(named.seconds));
}

interface ChartBoxProps {
  readonly tile: BoundTile;
  readonly lines: Lines & {
    readonly range?: readonly [from: number, to: number];
    readonly namedTimes?: readonly number[];
  };
  readonly more: number;
  readonly notes: readonly (string | undefined)[];
}

function ChartBox(props: ChartBoxProps) {
  const { tile, more } = props;
  const { times, lines, range, namedTimes } = props.lines;
  const notes = props.notes.filter((note) => note !== undefined);
  const words = useWords(tileWords);
  const { data, zoom } = useTileFrame();
  const { box, height } = useElementHeight();
  const { shown, ...isolated } = useIsolated(lines);
  const levels = useLevels(tile, lines);
  const figures = tile.legend?.figures ?? [];
  const isKeyShown = tile.legend?.place !== 'NONE';
  const hasNames = isKeyShown && (lines.length > 1 || figures.length > 0);
  const hasKey = hasNames || notes.length > 0 || more > 0;
  const isEmpty = lines.every(({ values }) => values.every((value) => (value ?? null) === null));
  return (
    <div className={styles['chart']} data-stale={data.isStale}>
      {!isEmpty && hasKey && (
        <Legend lines={hasNames ? lines : []} figures={figures} {...isolated}>
          {more > 0 && <li>{words.more(more)}</li>}
          {notes.map((note) => (
            <li key={note} className="faint">
              {note}
            </li>
          ))}
        </Legend>
      )}
      <div className={styles['plot']} ref={box}>
        {isEmpty && <p className={styles['note']}>{data.isLoading ? '' : words.noValues}</p>}
        {!isEmpty && height > 0 && (
          <LineChart
            times={times}
            lines={shown}
            zone={data.zone}
            height={Math.max(90, height)}
            label={words.chart(titleOf(tile), lines[0]?.unit ?? '')}
            zoom={(from, to) => zoom([from, to])}
            zoomBack={() => zoom()}
            levels={levels}
            isBanded={tile.thresholdStyle === 'BAND'}
            {...(range === undefined ? {} : { range })}
            {...(namedTimes === undefined ? {} : { namedTimes })}
          />
        )}
      </div>
    </div>
  );
}

// Levels: the thresholds of a tile, where its values come near them.

const toneColors = { OK: '--ok', WARNING: '--warn', BAD: '--bad' } as const;

/** The same array until a threshold or the reach of the values changes. */
function useLevels(tile: BoundTile, lines: readonly PlotLine[]): readonly PlotLevel[] {
  const words = useWords(tileWords);
  const formats = useFormats();
  const known = lines.flatMap(({ values }) => values.filter((value) => typeof value === 'number'));
  const least = known.reduce((found, value) => Math.min(found, value), Infinity);
  const greatest = known.reduce((found, value) => Math.max(found, value), -Infinity);
  const levels = levelsNear(tile, least, greatest).map(({ from, tone, label }) => ({
    value: from,
    label: `${label || words.tones[tone]} ${formats.value(from)}`,
    color: toneColors[tone],
  }));
  const key = JSON.stringify(levels);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the key names all of them
  return useMemo(() => levels, [key]);
}

/**
 * A threshold further away than the values reach would flatten them, and is left out; of those
 * below, the highest colors the lowest band.
 */
function levelsNear(
  { thresholds, thresholdStyle }: BoundTile,
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

// Height of an element: charts fill the tile that they are in.

function useElementHeight(): {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Of the content, in pixels; 0 before the first measure. */
  readonly height: number;
} {
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(([entry]) => {
      setHeight(Math.floor(entry?.contentRect.height ?? 0));
    });
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { box, height };
}

// Bar lines: the bars of several series side by side, as lines of one plot.

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

function barLinesOf(
  shown: readonly DeviceSeries[],
  data: DashboardData,
  { seconds, isOwn, nameOf }: BarOptions,
): BarLines {
  const bars = shown.map((series) => {
    const stored = data.series.get(seriesKey(series));
    const { accumulator } = series;
    // Each bucket that the tile names is a bar, also one of a month.
    const options = { accumulator, seconds: isOwn ? 1 : seconds, clock: zoneClock(data.zone) };
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
    const color = colorIn(series.color, at);
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
