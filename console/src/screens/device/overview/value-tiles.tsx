// Value tiles: the newest value of each data key with its unit and the course of 24 hours.
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Ago } from '../../../ui/ago.tsx';
import { Button } from '../../../ui/button.tsx';
import { Spark } from '../../../ui/spark.tsx';
import { Bone } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { colorOf, type DataKey, valueAt } from '../data/data-keys.ts';
import { lastValuesQuery, newestQuery, seriesQuery } from '../data/device-queries.ts';
import { type FeedRow, newestByTopic } from '../data/sample-feed.ts';
import { isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';

const firstTiles = 12;
/** Lines of one request stay far below the points that an answer may have. */
const linesMax = 200;
const lineBucket = 'PT30M';
const lineMs = 300_000;

interface ValueTilesProps {
  readonly keys: readonly DataKey[];
  readonly shown: DataKey | undefined;
  readonly choose: (key: string) => void;
}

export function ValueTiles({ keys, shown, choose }: ValueTilesProps) {
  const words = useWords(deviceWords);
  const { device, feed } = useDeviceFrame();
  const [isWhole, setWhole] = useState(false);
  const newest = useQuery(newestQuery(device.id));
  const lines = useLines(device.id, keys);
  const names = useMemo(() => [...new Set(keys.map(({ key }) => key))], [keys]);
  const last = useQuery(lastValuesQuery(device.id, names)).data ?? {};
  const samples = useMemo(
    () => newestByTopic(feed.rows, newest.data ?? []),
    [feed.rows, newest.data],
  );
  const numbers = keys.filter(({ isNumber }) => isNumber);
  const visible = isWhole ? keys : keys.slice(0, firstTiles);
  return (
    <div className={styles['tiles']} role="group" aria-label={words.values}>
      {visible.map((dataKey) => {
        const line = lines.get(dataKey.key);
        const sample = samples.get(dataKey.topic);
        const value = sample === undefined ? undefined : valueAt(sample.data, dataKey.key);
        const earlier = last[dataKey.key];
        const before = earlier?.topic === dataKey.topic ? earlier : undefined;
        const current =
          value === undefined || value === null ? undefined : { value, at: sample?.timestamp };
        const known =
          current ??
          lastKnown(feed.rows, dataKey) ??
          (before && { value: before.value, at: before.timestamp });
        return (
          <Tile
            key={dataKey.key}
            dataKey={dataKey}
            value={known?.value ?? line?.last}
            at={known?.at}
            points={line?.average}
            color={colorOf(numbers.indexOf(dataKey))}
            isShown={dataKey === shown}
            isLoading={newest.isPending && sample === undefined}
            choose={choose}
          />
        );
      })}
      {visible.length < keys.length && (
        <Button look="ghost" onClick={() => setWhole(true)}>
          {words.showAll(keys.length)}
        </Button>
      )}
    </div>
  );
}

/** The newest sample can lack the key. */
function lastKnown(rows: readonly FeedRow[], { topic, key }: DataKey): Known | undefined {
  const has = ({ sample }: FeedRow) =>
    sample.topic === topic && (valueAt(sample.data, key) ?? null) !== null;
  const found = rows.find(has)?.sample;
  return found && { value: valueAt(found.data, key), at: found.timestamp };
}

/** A value and the time of its sample. */
interface Known {
  readonly value: unknown;
  readonly at: string | undefined;
}

interface TileProps {
  readonly dataKey: DataKey;
  readonly value: unknown;
  /** Time of the sample with the value; undefined when it is not known. */
  readonly at: string | undefined;
  readonly points: readonly (number | null)[] | undefined;
  readonly color: `--${string}`;
  readonly isShown: boolean;
  readonly isLoading: boolean;
  readonly choose: (key: string) => void;
}

function Tile({ dataKey, value, at, points, color, isShown, isLoading, choose }: TileProps) {
  const words = useWords(deviceWords);
  const { title, unit, key, isNumber, isInferred } = dataKey;
  const content = (
    <>
      <span className="cut mute text-label" title={isInferred ? `${key} (${words.inferred})` : key}>
        {title}
        {isInferred && (
          <span className={styles['inferred']}>
            <span aria-hidden="true">*</span>
            <span className="sr">{words.inferred}</span>
          </span>
        )}
      </span>
      <b className={`${styles['value']} num`}>
        {isLoading ? <Bone width="3em" /> : <Value value={value} />}
        {value !== undefined && unit !== '' && <span className={styles['unit']}>{unit}</span>}
      </b>
      <small className="faint text-tiny">{at !== undefined && <Ago at={at} />}</small>
      {isNumber && (
        <span className={styles['line']}>
          <Spark points={points ?? []} color={`var(${color})`} />
        </span>
      )}
    </>
  );
  if (!isNumber) return <div className={styles['tile']}>{content}</div>;
  return (
    <button
      type="button"
      className={styles['tile']}
      aria-pressed={isShown}
      onClick={() => choose(key)}
    >
      {content}
    </button>
  );
}

function Value({ value }: { readonly value: unknown }) {
  const words = useWords(deviceWords);
  const formats = useFormats();
  if (value === undefined || value === null) return words.none;
  if (typeof value === 'number') return formats.value(value);
  if (typeof value === 'boolean') return value ? words.isTrue : words.isFalse;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Line {
  readonly average: readonly (number | null)[];
  /** The last value of the 24 hours. */
  readonly last: number | undefined;
}

function useLines(deviceId: string, keys: readonly DataKey[]): ReadonlyMap<string, Line> {
  const wanted = keys.filter(({ isNumber }) => isNumber).slice(0, linesMax);
  const names = wanted.map(({ topic, key }) => [topic, key]);
  const lines = useQuery({
    ...seriesQuery(
      ['lines', deviceId, names],
      (nowMs) => ({
        series: wanted.map(({ topic, key }) => ({
          deviceId,
          topic,
          dataKey: key,
          accumulators: ['AVG', 'LAST'],
        })),
        interval: isoInterval(intervalOf({ range: '24h' }, nowMs)),
        bucketInterval: lineBucket,
      }),
      lineMs,
    ),
    enabled: wanted.length > 0,
  });
  return useMemo(() => {
    const found = lines.data?.series ?? [];
    return new Map(
      found.map(({ dataKey, dataPoints }) => [
        dataKey ?? '',
        {
          average: dataPoints['AVG'] ?? [],
          last: dataPoints['LAST']?.findLast((point) => point !== null) ?? undefined,
        },
      ]),
    );
  }, [lines.data]);
}
