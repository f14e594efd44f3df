// Table and state tiles: the newest values of many series, as a list and as words.
import { Ago } from '../../../ui/ago.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { useWords } from '../../../words/language.tsx';
import { thresholdOf, type Tile } from '../dashboard-model.ts';
import { newestValue } from '../data/tile-values.ts';
import { Shown, ThresholdChip } from './shown-value.tsx';
import { useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

const rowsMax = 200;

export function TableTile({ tile }: { readonly tile: Tile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile, rowsMax);
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
                <th scope="row">{nameOf(one)}</th>
                <td className="num">
                  <Shown value={newest?.value} /> <span className="mute">{one.unit}</span>
                </td>
                <td className="mute">{newest !== undefined && <Ago at={newest.timestamp} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more > 0 && <p className={styles['note']}>{words.more(more)}</p>}
    </div>
  );
}

export function StateTile({ tile }: { readonly tile: Tile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile, rowsMax);
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
            <span>{nameOf(one)}</span>
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
