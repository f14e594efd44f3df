// Chart tile: lines and bars over the range of the dashboard, continued live, as the plot of the tile has them.
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { ask } from '../../../api/platform.ts';
import { Legend, useIsolated } from '../../../charts/legend.tsx';
import { LineChart } from '../../../charts/line-chart.tsx';
import { chartPlot, type Plot, type PlotLine } from '../../../../../src/dashboards/plot.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { zoneClock } from '../../../words/zone-times.ts';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { bandOf, isLeveled } from '../../device/explore/expected-band.tsx';
import { type Threshold, titleOf } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { barSeconds } from '../../../../../src/dashboards/bars.ts';
import { bucketOf, type DeviceSeries } from '../../../../../src/dashboards/plan.ts';
import { bucketShown, coverageOf, livePoints } from '../data/tile-values.ts';
import { useMay } from '../../../session/permissions.ts';
import { noteWords } from '../notes/note-words.ts';
import { NotesDialog } from '../notes/notes-button.tsx';
import { type ChartNotes, useChartNotes } from '../notes/use-notes.ts';
import { useReader } from '../dashboard-requests.ts';
import { type TileSeriesShown, useDevicesNote, useTileFrame, useTileSeries } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** What the platform answers at most. */
const expectedDaysMax = 92;
const expectedMs = 600_000;

export function ChartTile({ tile }: { readonly tile: BoundTile }) {
  const { isShared } = useReader();
  return isShared ? <Chart tile={tile} /> : <MarkedChart tile={tile} />;
}

/** A shared link has no session, which alone reads notes and alarms, and adds notes. */
function MarkedChart({ tile }: { readonly tile: BoundTile }) {
  const { workspaceId } = useTileFrame();
  const marked = useChartNotes(tile);
  const mayAdd = useMay(workspaceId, 'dashboard', 'create');
  return <Chart tile={tile} marked={marked} mayAdd={mayAdd} />;
}

interface ChartProps {
  readonly tile: BoundTile;
  readonly marked?: ChartNotes;
  readonly mayAdd?: boolean;
}

function Chart({ tile, marked, mayAdd = false }: ChartProps) {
  const shown = useTileSeries(tile);
  const { series, more, nameOf } = shown;
  const noteOf = useDevicesNote();
  const plot = usePlot(tile, shown);
  const ranges = useExpectedRanges(series);
  const banded = useMemo(
    () => withRanges(plot, series, ranges.known),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the name changes with the ranges
    [plot, ranges.name],
  );
  const bucket = useBucketNote(tile, series.length);
  const combined = series.map((one) => {
    const note = noteOf(one);
    return note !== undefined && series.length > 1 ? `${nameOf(one)}: ${note}` : note;
  });
  const notes = [bucket, useCoverageNote(series), ranges.note, ...new Set(combined)];
  const box = { tile, plot: banded, more, notes, mayAdd };
  return <ChartBox {...box} {...(marked && { marked })} />;
}

/** The same until its data changes. */
function usePlot(tile: BoundTile, { series, nameOf, timeoutOf }: TileSeriesShown): Plot {
  const words = useWords(tileWords);
  const formats = useFormats();
  const { data } = useTileFrame();
  const { interval, zone, earlier } = data;
  const { bucket, isOwn } = bucketShown(tile, data);
  const named = series.map((one) => ({ label: nameOf(one), silentAfterS: timeoutOf(one) }));
  const names = JSON.stringify(named);
  return useMemo(() => {
    const answered = series.map((one, at) => {
      const stored = data.series.get(one.key);
      const before = earlier?.series.get(one.key);
      const { label = '', silentAfterS = 0 } = named[at] ?? {};
      return {
        series: one,
        label,
        silentAfterS,
        timestamps: stored?.timestamps ?? [],
        dataPoints: stored?.dataPoints ?? {},
        live: livePoints(one, data),
        ...(earlier &&
          before && {
            earlier: {
              label: words.earlier(label),
              shiftS: earlier.byMs / 1_000,
              timestamps: before.timestamps,
              dataPoints: before.dataPoints,
            },
          }),
      };
    });
    return chartPlot(tile, answered, {
      from: interval.fromMs / 1_000,
      to: interval.toMs / 1_000,
      bucket: { seconds: bucket?.seconds ?? 1, isOwn },
      clock: zoneClock(zone),
      levelName: ({ from, tone, label }: Threshold) =>
        `${label || words.tones[tone]} ${formats.value(from)}`,
    });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- names and series follow from these
  }, [tile, names, data.series, data.live, data.seriesEndMs, earlier, zone, isOwn, words, formats]);
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
    known: new Map(asked.map((one, at) => [one, known[at]])),
    name: known.map((_, at) => found[at]?.dataUpdatedAt ?? 0).join(),
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
  plot: Plot,
  series: readonly DeviceSeries[],
  known: ReturnType<typeof useExpectedRanges>['known'],
): Plot {
  const lines = plot.lines.map((line, at): PlotLine => {
    const one = line.isFaint === true ? undefined : series[at];
    const range = one && known.get(one);
    if (range === undefined || range.method === 'NONE') return line;
    return { ...line, band: bandOf(plot.times, range) };
  });
  return { ...plot, lines };
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

/** What the tile names, and what is shown when that is too short for the range; the length of bars. */
function useBucketNote(tile: BoundTile, seriesCount: number): string | undefined {
  const words = useWords(tileWords);
  const { duration } = useFormats();
  const { data } = useTileFrame();
  const named = bucketOf(tile.bucketInterval ?? '');
  const { bucket, isOwn } = bucketShown(tile, data);
  if (bucket !== undefined && named !== undefined)
    return bucket.iso === named.iso
      ? words.perBar(duration(named.seconds))
      : words.tooShort(duration(named.seconds));
  if (tile.kind !== 'bar') return undefined;
  if (bucket !== undefined && isOwn) return words.perBar(duration(bucket.seconds));
  const { fromMs, toMs } = data.interval;
  const seconds = barSeconds((toMs - fromMs) / 1_000, bucket?.seconds ?? 1, seriesCount);
  return words.perBar(duration(seconds));
}

interface ChartBoxProps {
  readonly tile: BoundTile;
  readonly plot: Plot;
  readonly more: number;
  readonly notes: readonly (string | undefined)[];
  readonly marked?: ChartNotes;
  readonly mayAdd: boolean;
}

function ChartBox({ tile, plot, more, notes: wanted, marked, mayAdd }: ChartBoxProps) {
  const { lines } = plot;
  const notes = wanted.filter((note) => note !== undefined);
  const words = useWords(tileWords);
  const said = useWords(noteWords);
  const formats = useFormats();
  const { workspaceId, data, zoom } = useTileFrame();
  const [noteAt, setNoteAt] = useState<number>();
  const { box, height } = useElementHeight();
  const { shown, ...isolated } = useIsolated(lines);
  const figures = tile.legend?.figures ?? [];
  const isKeyShown = tile.legend?.place !== 'NONE';
  const hasNames = isKeyShown && (lines.length > 1 || figures.length > 0);
  const hasKey = hasNames || notes.length > 0 || more > 0;
  const timeOf = (seconds: number) =>
    formats.instant(new Date(seconds * 1_000).toISOString(), data.zone);
  const offer = { label: (seconds: number) => said.addAt(timeOf(seconds)), choose: setNoteAt };
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
            {...plot}
            lines={shown}
            zone={data.zone}
            height={Math.max(90, height)}
            label={words.chart(titleOf(tile), lines[0]?.unit ?? '')}
            zoom={(from, to) => zoom([from, to])}
            zoomBack={() => zoom()}
            {...(marked && { marks: marked.marks })}
            {...(mayAdd && { offer })}
          />
        )}
      </div>
      {marked !== undefined && noteAt !== undefined && (
        <NotesDialog
          workspaceId={workspaceId}
          title={titleOf(tile)}
          shown={marked}
          at={noteAt}
          zone={data.zone}
          close={() => setNoteAt(undefined)}
        />
      )}
    </div>
  );
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
