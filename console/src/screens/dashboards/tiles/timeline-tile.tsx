// Timeline tile: which state each value had over the range, as stretches of color with their words.
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { type Interval, isoInterval } from '../../../../../src/dashboards/buckets.ts';
import type { DeviceSeries } from '../../../../../src/dashboards/plan.ts';
import { stateColors, type Stretch, stretchesOf } from '../../../../../src/dashboards/states.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { ask } from '../../../api/platform.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { valueAt } from '../../device/data/data-keys.ts';
import { useReader } from '../dashboard-requests.ts';
import { useShown } from './value-tiles.tsx';
import { useTileFrame, useTileSeries, useTitleOf } from './tile-data.ts';
import { tileWords } from './tile-words.ts';
import own from './timeline-tile.module.css';
import styles from './tiles.module.css';

const rowsMax = 20;
const samplesMax = 5_000;
const refreshMs = 30_000;

export function TimelineTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(tileWords);
  const titleOf = useTitleOf();
  const { data } = useTileFrame();
  const { series, more, nameOf } = useTileSeries(tile, rowsMax);
  const { interval, rows } = useStretches(series);
  if (series.length === 0) return <p className={styles['note']}>{words.noSeries}</p>;
  const values = rows.flatMap((row) => row.map(({ value }) => value));
  const colorOf = stateColors(tile.thresholds, values);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} role="group" aria-label={titleOf(tile)} tabIndex={0}>
      <ul className={own['rows']} data-stale={data.isStale}>
        {series.map((one, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a series may be named twice
          <li key={at}>
            <span className="cut">{nameOf(one)}</span>
            <Row
              stretches={rows[at] ?? []}
              interval={interval}
              name={nameOf(one)}
              colorOf={colorOf}
            />
          </li>
        ))}
      </ul>
      <Ends interval={interval} />
      {more > 0 && <p className={styles['note']}>{words.more(more)}</p>}
    </div>
  );
}

interface RowProps {
  readonly stretches: readonly Stretch[];
  readonly interval: Interval;
  readonly name: string;
  readonly colorOf: (value: unknown) => `--${string}`;
}

/** A word is shown where it has room. */
const wordShare = 0.08;

function Row({ stretches, interval, name, colorOf }: RowProps) {
  const words = useWords(tileWords);
  const shown = useShown();
  const formats = useFormats();
  const { data } = useTileFrame();
  const { fromMs, toMs } = interval;
  const share = (ms: number) => ms / (toMs - fromMs);
  const instant = (ms: number) => formats.instant(new Date(ms).toISOString(), data.zone);
  const last = stretches.at(-1);
  const label =
    last === undefined
      ? words.noStates(name)
      : words.states(name, shown(last.value), stretches.length - 1);
  return (
    <div className={own['bar']} role="img" aria-label={label}>
      {stretches.map((stretch) => {
        const width = share(stretch.toMs - stretch.fromMs);
        const word = shown(stretch.value);
        return (
          <span
            key={stretch.fromMs}
            title={`${word}\n${instant(stretch.fromMs)} – ${instant(stretch.toMs)}`}
            style={{
              left: `${share(stretch.fromMs - fromMs) * 100}%`,
              width: `${width * 100}%`,
              background: `color-mix(in srgb, var(${colorOf(stretch.value)}) 30%, var(--surface))`,
              borderColor: `var(${colorOf(stretch.value)})`,
            }}
          >
            {width > wordShare ? word : ''}
          </span>
        );
      })}
    </div>
  );
}

function Ends({ interval: { fromMs, toMs } }: { readonly interval: Interval }) {
  const formats = useFormats();
  const { data } = useTileFrame();
  return (
    <p className={own['ends']}>
      <span>{formats.instant(new Date(fromMs).toISOString(), data.zone)}</span>
      <span>{formats.instant(new Date(toMs).toISOString(), data.zone)}</span>
    </p>
  );
}

interface Stretches {
  readonly interval: Interval;
  /** In the order of the series. */
  readonly rows: readonly (readonly Stretch[])[];
}

/** One request for each device and topic, and one for what was before the range. */
function useStretches(series: readonly DeviceSeries[]): Stretches {
  const reader = useReader();
  const { data } = useTileFrame();
  const { range, isFixed } = data;
  const sources = new Map(
    series.map(({ deviceId, topic }) => [`${deviceId} ${topic}`, { deviceId, topic }]),
  );
  const found = useQueries({
    queries: [...sources.values()].map(({ deviceId, topic }) => ({
      queryKey: ['timeline', reader.name, deviceId, topic, range.name],
      placeholderData: keepPreviousData,
      refetchInterval: isFixed ? (false as const) : refreshMs,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const interval = range.intervalAt(Date.now());
        const { from, to } = isoInterval(interval);
        const params = { path: { deviceId } };
        const path = '/v3/devices/{deviceId}/query';
        const read = (timestamp: object, limit: number) =>
          ask(reader.requests.POST(path, { signal, params, body: { topic, timestamp, limit } }));
        const [within, before] = await Promise.all([
          read({ gte: from, lt: to }, samplesMax),
          read({ lt: from }, 1),
        ]);
        return { interval, samples: [...within, ...before] };
      },
    })),
  });
  const interval = found[0]?.data?.interval ?? data.interval;
  const answers = new Map([...sources.keys()].map((name, at) => [name, found[at]?.data]));
  const rows = series.map(({ deviceId, topic, dataKey }) =>
    stretchesOf(
      (answers.get(`${deviceId} ${topic}`)?.samples ?? []).map(({ timestamp, data: values }) => ({
        timestamp,
        value: valueAt(values, dataKey),
      })),
      interval,
    ),
  );
  return { interval, rows };
}
