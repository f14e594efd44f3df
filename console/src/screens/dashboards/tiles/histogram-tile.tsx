// Histogram tile: how often values occurred in the range, from the newest samples of each series.
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { histogramOf } from '../../../../../src/dashboards/distribution.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { ask } from '../../../api/platform.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { valueAt } from '../../device/data/data-keys.ts';
import { useReader } from '../dashboard-requests.ts';
import { colorIn } from '../../../../../src/dashboards/plot.ts';
import own from './histogram-tile.module.css';
import { useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const seriesMax = 6;
/** What one request reads, of all series together. */
const samplesMax = 10_000;
const refreshMs = 60_000;

export function HistogramTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const formats = useFormats();
  const titleOf = useTitleOf();
  const reader = useReader();
  const { data } = useTileFrame();
  const { series, more } = useTileSeries(tile, seriesMax);
  const { range, isFixed } = data;
  const limit = Math.floor(samplesMax / Math.max(1, series.length));
  const found = useQueries({
    queries: series.map(({ deviceId, topic }) => ({
      queryKey: ['histogram', reader.name, deviceId, topic, range.name, limit],
      placeholderData: keepPreviousData,
      refetchInterval: isFixed ? (false as const) : refreshMs,
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const { from, to } = isoInterval(range.intervalAt(Date.now()));
        const body = { topic, timestamp: { gte: from, lt: to }, limit };
        const params = { path: { deviceId } };
        const path = '/v3/devices/{deviceId}/query';
        return ask(reader.requests.POST(path, { signal, params, body }));
      },
    })),
  });
  const [first] = series;
  if (first === undefined) return <p className={styles['note']}>{words.noSeries}</p>;
  const values = series.flatMap(({ dataKey }, at) =>
    (found[at]?.data ?? []).flatMap(({ data: sample }) => {
      const value = valueAt(sample, dataKey);
      return typeof value === 'number' ? [value] : [];
    }),
  );
  const histogram = histogramOf(values);
  if (histogram === undefined)
    return (
      <p className={styles['note']}>
        {found.some(({ isPending }) => isPending) ? '' : words.noValues}
      </p>
    );
  const { from, width, counts } = histogram;
  const most = Math.max(...counts);
  const edge = (at: number) => formats.value(from + at * width);
  const isCut = found.some(({ data: samples }) => samples?.length === limit);
  return (
    <figure className={own['figure']}>
      <ol className={own['bins']} aria-label={titleOf(tile)}>
        {counts.map((count, at) => {
          const said = words.bin(edge(at), edge(at + 1), first.unit, count);
          return (
            // oxlint-disable-next-line react/no-array-index-key -- a bin is its place
            <li key={at} title={said}>
              <span
                style={{
                  height: `${(count / most) * 100}%`,
                  background: `var(${colorIn(first.color, 0)})`,
                }}
              />
              <span className="sr">{said}</span>
            </li>
          );
        })}
      </ol>
      <figcaption className={own['ends']}>
        <span>{edge(0)}</span>
        <span>
          {isCut ? words.newestOf(values.length) : words.valuesCounted(values.length)}
          {more > 0 && ` · ${words.more(more)}`}
        </span>
        <span>
          {edge(counts.length)} {first.unit}
        </span>
      </figcaption>
    </figure>
  );
}
