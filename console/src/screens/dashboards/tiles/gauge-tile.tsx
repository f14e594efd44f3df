// Gauge tile: the newest value on an arc from the least to the greatest, with its thresholds.
import { type Tone, thresholdOf } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { colorIn } from '../../../../../src/dashboards/plot.ts';
import { newestValue } from '../data/tile-values.ts';
import own from './gauge-tile.module.css';
import { Shown, ThresholdChip } from './value-tiles.tsx';
import { useDevicesNote, useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const toneColors: Readonly<Record<Tone, string>> = { OK: '--ok', WARNING: '--warn', BAD: '--bad' };
const radius = 80;

export function GaugeTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const formats = useFormats();
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series } = useTileSeries(tile, 1);
  const noteOf = useDevicesNote();
  const [first] = series;
  if (first === undefined) return <p className={styles['note']}>{words.noSeries}</p>;
  const value = newestValue(first, data)?.value;
  const note = noteOf(first);
  const [least, greatest] = [tile.min ?? 0, tile.max ?? 100];
  const threshold = thresholdOf(value, tile.thresholds);
  const share = (at: number) => Math.min(1, Math.max(0, (at - least) / (greatest - least)));
  const color = threshold === undefined ? colorIn(first.color, 0) : toneColors[threshold.tone];
  const steps = (tile.thresholds ?? []).toSorted((a, b) => a.from - b.from);
  const said = typeof value === 'number' ? formats.value(value) : words.none;
  const label = words.gauge(
    titleOf(tile),
    `${said} ${first.unit}`.trim(),
    formats.value(least),
    formats.value(greatest),
  );
  return (
    <div className={own['gauge']}>
      <svg viewBox="0 0 200 112" role="img" aria-label={label}>
        <path className={own['track']} d={arc(0, 1, radius)} />
        {typeof value === 'number' && share(value) > 0 && (
          <path d={arc(0, share(value), radius)} stroke={`var(${color})`} />
        )}
        {steps.map(({ from, tone }, at) => (
          <path
            // oxlint-disable-next-line react/no-array-index-key -- thresholds have no other identity
            key={at}
            className={own['step']}
            d={arc(share(from), share(steps[at + 1]?.from ?? greatest), radius + 12)}
            stroke={`var(${toneColors[tone]})`}
          />
        ))}
        <text x="20" y="110" textAnchor="middle">
          {formats.value(least)}
        </text>
        <text x="180" y="110" textAnchor="middle">
          {formats.value(greatest)}
        </text>
      </svg>
      <p className={`${own['number']} num`} aria-hidden="true">
        <Shown value={value} />{' '}
        <span className="mute">{value === undefined ? '' : first.unit}</span>
      </p>
      <ThresholdChip threshold={threshold} />
      {note !== undefined && <p className="faint text-label">{note}</p>}
    </div>
  );
}

/** A part of the upper half of a circle, given from its left end as shares of it. */
function arc(from: number, to: number, size: number): string {
  const point = (share: number) => {
    const angle = Math.PI * (1 - share);
    return `${100 + size * Math.cos(angle)} ${96 - size * Math.sin(angle)}`;
  };
  return `M ${point(from)} A ${size} ${size} 0 0 1 ${point(to)}`;
}
