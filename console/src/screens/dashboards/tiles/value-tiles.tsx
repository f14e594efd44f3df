// Tiles of newest values: one value, a table, and states as words.
import { Ago } from '../../../ui/ago.tsx';
import { Chip, type Tone as ChipTone } from '../../../ui/chip.tsx';
import { Spark } from '../../../ui/spark.tsx';
import { Bone } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import {
  type Threshold,
  thresholdOf,
  type Tone,
} from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { colorIn } from '../../../../../src/dashboards/plot.ts';
import { newestValue, sparkOf } from '../data/tile-values.ts';
import { useDevicesNote, useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const rowsMax = 200;

export function TableTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile, rowsMax);
  const noteOf = useDevicesNote();
  if (series.length === 0) return <p className={styles['note']}>{words.noSeries}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} role="group" aria-label={titleOf(tile)} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.name}</th>
            <th scope="col">{words.value}</th>
            <th scope="col">{words.heard}</th>
          </tr>
        </thead>
        <tbody>
          {series.map((one, at) => {
            const newest = newestValue(one, data);
            return (
              // oxlint-disable-next-line react/no-array-index-key -- a series may be named twice
              <tr key={at}>
                <th scope="row">
                  {nameOf(one)} <span className="faint">{noteOf(one)}</span>
                </th>
                <td className="num">
                  <Shown value={newest?.value} /> <span className="mute">{one.unit}</span>
                </td>
                <td className="mute">{newest?.timestamp && <Ago at={newest.timestamp} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more > 0 && <p className={styles['note']}>{words.more(more)}</p>}
    </div>
  );
}

export function StateTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile, rowsMax);
  const noteOf = useDevicesNote();
  if (series.length === 0) return <p className={styles['note']}>{words.noSeries}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <ul className={styles['states']} tabIndex={0} aria-label={titleOf(tile)}>
      {series.map((one, at) => {
        const value = newestValue(one, data)?.value;
        const threshold = thresholdOf(value, tile.thresholds);
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a series may be named twice
          <li key={at}>
            <span>
              {nameOf(one)} <span className="faint">{noteOf(one)}</span>
            </span>
            <span className="num">
              {threshold === undefined ? (
                <Chip>
                  <Shown value={value} /> {value === undefined ? '' : one.unit}
                </Chip>
              ) : (
                <>
                  <Shown value={value} /> <span className="mute">{one.unit}</span>{' '}
                  <ThresholdChip threshold={threshold} />
                </>
              )}
            </span>
          </li>
        );
      })}
      {more > 0 && <li className="mute">{words.more(more)}</li>}
    </ul>
  );
}

// Value tile: the newest value with its unit, what it means, and its course over the range.

export function ValueTile({
  tile,
  colorAt,
}: {
  readonly tile: BoundTile;
  readonly colorAt: number;
}) {
  const words = useWords(tileWords);
  const { data } = useTileFrame();
  const { series } = useTileSeries(tile, 1);
  const noteOf = useDevicesNote();
  const [first] = series;
  if (first === undefined) return <p className={styles['note']}>{words.noSeries}</p>;
  const newest = newestValue(first, data);
  const note = noteOf(first);
  const points = sparkOf(first, data);
  return (
    <div className={styles['figure']}>
      <p className={`${styles['number']} num`}>
        {newest === undefined && data.isLoading ? (
          <Bone width="3em" />
        ) : (
          <Shown value={newest?.value} />
        )}
        {newest !== undefined && first.unit !== '' && (
          <span className={styles['unit']}>{first.unit}</span>
        )}
        <ThresholdChip threshold={thresholdOf(newest?.value, tile.thresholds)} />
      </p>
      {note !== undefined && <p className="faint text-label">{note}</p>}
      {!first.isOfRange && (
        <span className={styles['spark']} data-stale={data.isStale}>
          <Spark points={points} color={`var(${colorIn(first.color, colorAt)})`} />
        </span>
      )}
    </div>
  );
}

// Shown value: a value of any type in a word, and the chip of the threshold that it reached.

export function Shown({ value }: { readonly value: unknown }) {
  return useShown()(value);
}

/** The word of a value. */
export function useShown(): (value: unknown) => string {
  const words = useWords(tileWords);
  const formats = useFormats();
  return (value) => {
    if (value === undefined || value === null) return words.none;
    if (typeof value === 'number') return formats.value(value);
    if (typeof value === 'boolean') return value ? words.isTrue : words.isFalse;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
}

const tones: Readonly<Record<Tone, ChipTone>> = { OK: 'ok', WARNING: 'warn', BAD: 'bad' };

export function ThresholdChip({ threshold }: { readonly threshold: Threshold | undefined }) {
  const words = useWords(tileWords);
  if (threshold === undefined) return null;
  const { tone, label } = threshold;
  const hasLabel = label !== null && label !== undefined && label !== '';
  return <Chip tone={tones[tone]}>{hasLabel ? label : words.tones[tone]}</Chip>;
}
