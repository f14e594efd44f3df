// Line tile: the course of values over the range of the dashboard, continued live.
import { useMemo } from 'react';
import { useElementHeight } from './use-element-height.ts';
import { Legend, useIsolated } from '../../../charts/legend.tsx';
import { LineChart } from '../../../charts/line-chart.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { type Tile, titleOf } from '../dashboard-model.ts';
import { barSeconds } from '../data/bars.ts';
import { bucketOf } from '../data/tile-buckets.ts';
import { bucketShown, type Lines, linesOf } from '../data/tile-values.ts';
import { barLinesOf } from '../data/bar-lines.ts';
import { useTileFrame, useTileSeries } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

export function LineTile({ tile }: { readonly tile: Tile }) {
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile);
  const names = series.map(nameOf);
  const lines = useMemo(
    () => linesOf(series, data, (one) => names[series.indexOf(one)] ?? one.dataKey),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- names and series follow from these
    [tile, names.join('\n'), data.series, data.live, data.seriesEndMs],
  );
  return <ChartBox tile={tile} lines={lines} more={more} note={useBucketNote(tile)} />;
}

export function BarTile({ tile }: { readonly tile: Tile }) {
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
  return <ChartBox tile={tile} lines={bars} more={more} note={note} />;
}

/** What the tile names, and what is shown when that is too short for the range. */
function useBucketNote(tile: Tile): string | undefined {
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
  readonly tile: Tile;
  readonly lines: Lines & {
    readonly range?: readonly [from: number, to: number];
    readonly namedTimes?: readonly number[];
  };
  readonly more: number;
  readonly note?: string | undefined;
}

function ChartBox({ tile, lines: { times, lines, range, namedTimes }, more, note }: ChartBoxProps) {
  const words = useWords(tileWords);
  const { data, zoom } = useTileFrame();
  const { box, height } = useElementHeight();
  const { shown, ...isolated } = useIsolated(lines);
  const hasKey = lines.length > 1 || note !== undefined || more > 0;
  const isEmpty = lines.every(({ values }) => values.every((value) => (value ?? null) === null));
  return (
    <div className={styles['chart']} data-stale={data.isStale}>
      {!isEmpty && hasKey && (
        <Legend lines={lines.length > 1 ? lines : []} {...isolated}>
          {more > 0 && <li>{words.more(more)}</li>}
          {note !== undefined && <li className="faint">{note}</li>}
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
            {...(range === undefined ? {} : { range })}
            {...(namedTimes === undefined ? {} : { namedTimes })}
          />
        )}
      </div>
    </div>
  );
}
