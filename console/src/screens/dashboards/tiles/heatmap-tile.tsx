// Heatmap tile: one value as a square for each hour of each day, the darker the greater.
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { heatmapOf, shareOf } from '../../../../../src/dashboards/distribution.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { zoneClock } from '../../../words/zone-times.ts';
import { colorIn } from '../../../../../src/dashboards/plot.ts';
import own from './heatmap-tile.module.css';
import { useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const hours = 24;
const cell = 10;

export function HeatmapTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const formats = useFormats();
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, nameOf } = useTileSeries(tile, 1);
  const [first] = series;
  if (first === undefined) return <p className={styles['note']}>{words.noSeries}</p>;
  const answer = data.series.get(first.key);
  const heatmap = heatmapOf(
    answer?.timestamps ?? [],
    answer?.dataPoints[first.accumulator] ?? [],
    zoneClock(data.zone),
  );
  if (heatmap === undefined)
    return <p className={styles['note']}>{data.isLoading ? '' : words.noValues}</p>;
  const { cells, days, least, greatest } = heatmap;
  const color = colorIn(first.color, 0);
  const span = `${formats.value(least)} – ${formats.value(greatest)} ${first.unit}`.trim();
  return (
    <figure className={own['figure']} data-stale={data.isStale}>
      <svg
        viewBox={`0 0 ${days * cell} ${hours * cell}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words.heatmap(titleOf(tile) || nameOf(first), span)}
      >
        {cells.map(({ day, hour, value, timestamp }) => (
          <rect
            key={timestamp}
            x={day * cell}
            y={hour * cell}
            width={cell}
            height={cell}
            fill={`color-mix(in srgb, var(${color}) ${Math.round(8 + 92 * shareOf(heatmap, value))}%, var(--surface))`}
          >
            <title>{`${formats.value(value)} ${first.unit}\n${formats.instant(timestamp, data.zone)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption className={own['ends']}>
        <span>{words.hoursByDay}</span>
        <span>{span}</span>
      </figcaption>
    </figure>
  );
}
