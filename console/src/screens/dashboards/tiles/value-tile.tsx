// Value tile: the newest value with its unit, what it means, and its course over the range.
import { Spark } from '../../../ui/spark.tsx';
import { Bone } from '../../../ui/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { thresholdOf, type Tile } from '../dashboard-model.ts';
import { colorIn, newestValue, sparkOf } from '../data/tile-values.ts';
import { Shown, ThresholdChip } from './shown-value.tsx';
import { useTileFrame, useTileSeries } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import styles from './tiles.module.css';

export function ValueTile({ tile, colorAt }: { readonly tile: Tile; readonly colorAt: number }) {
  const words = useWords(tileWords);
  const { data } = useTileFrame();
  const { series } = useTileSeries(tile, 1);
  const [first] = series;
  if (first === undefined) return <p className={styles['note']}>{words.noSeries}</p>;
  const newest = newestValue(first, data);
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
      <span className={styles['spark']} data-stale={data.isStale}>
        <Spark points={points} color={`var(${colorIn(first, colorAt)})`} />
      </span>
    </div>
  );
}
