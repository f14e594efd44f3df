// Value chart: average line with least and greatest as a band, by range and zone, with live points.
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { CurlRequest } from '../../../api/curl.ts';
import { type PlotLine, type PlotMark, withGaps } from '../../../../../src/dashboards/plot.ts';
import { LineChart } from '../../../charts/line-chart.tsx';
import { Card } from '../../../ui/card.tsx';
import { Empty, Failure } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { colorOf, type DataKey, valueAt } from '../data/data-keys.ts';
import type { MetricSeries } from '../data/device-queries.ts';
import type { FeedRow } from '../data/sample-feed.ts';
import { bucketFor } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';
import { averageOf, movedTo, useSeries } from '../data/use-series.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute, type DeviceSearch } from '../device-search.ts';
import { AddAlarmButton } from '../../rules/chart-alarm/add-alarm-button.tsx';
import { deviceWords } from '../device-words.ts';
import styles from './overview.module.css';
import { BeforeChoice, RangeChoice, useZoom } from './chart-choices.tsx';
import { type Alarm, alarmsOfDevice } from '../../../api/alarms.ts';
import { useMay } from '../../../session/permissions.ts';

const refetchLeastMs = 30_000;
const path = '/v3/devices/query/batch/time-series';

interface ValueChartProps {
  readonly shown: DataKey | undefined;
  /** Place of the value among those that are numbers. */
  readonly colorAt: number;
}

export function ValueChart({ shown, colorAt }: ValueChartProps) {
  const words = useWords(deviceWords);
  if (shown === undefined)
    return (
      <Card title={words.noNumber} isPadded>
        <p className="mute">{words.noNumberNote}</p>
      </Card>
    );
  return <ChartOf shown={shown} colorAt={colorAt} />;
}

function ChartOf({ shown, colorAt }: { readonly shown: DataKey; readonly colorAt: number }) {
  const words = useWords(deviceWords);
  const formats = useFormats();
  const { device, zone } = useDeviceFrame();
  const search = useSearch({ from: deviceRoute });
  const { answer, earlier, bucket, request, times, lines } = useChart(shown, colorAt, search);
  const zoom = useZoom();
  const marks = useAlarmMarks(device.workspaceId, device.id);
  const { topic, key, title, unit } = shown;
  const sources = [{ deviceId: device.id, topic, dataKey: key, title, unit }];
  const isEmpty = lines.every(({ values }) => values.every((value) => (value ?? null) === null));
  return (
    <Card
      title={shown.title}
      note={
        <>
          {shown.unit !== '' && `${shown.unit} · `}
          {words.averagePer(formats.duration(bucket.seconds))} · {zone}
        </>
      }
      actions={
        <>
          <AddAlarmButton workspaceId={device.workspaceId} sources={sources} />
          <RangeChoice />
        </>
      }
    >
      <BeforeChoice>
        {earlier !== undefined && (
          <Comparison now={answer.data} before={earlier} unit={shown.unit} />
        )}
      </BeforeChoice>
      <div className={styles['chart']} data-stale={answer.isPlaceholderData}>
        {answer.error !== null && answer.data === undefined && (
          <Failure error={answer.error} retry={() => void answer.refetch()} curl={request} />
        )}
        {answer.data !== undefined && isEmpty && <Empty title={words.noValues} />}
        {answer.data !== undefined && !isEmpty && (
          <LineChart
            times={times}
            lines={lines}
            marks={marks}
            zone={zone}
            label={words.chart(shown.title, shown.unit)}
            zoom={zoom.into}
            zoomBack={zoom.back}
          />
        )}
      </div>
    </Card>
  );
}

function useChart(shown: DataKey, colorAt: number, search: DeviceSearch) {
  const words = useWords(deviceWords);
  const { device, feed, zone } = useDeviceFrame();
  const { topic, key, title, unit } = shown;
  const isFixed = search.from !== undefined;
  const [openedMs] = useState(() => Date.now());
  const bucket = bucketFor(intervalOf(search, openedMs));
  const accumulators = ['AVG', 'MIN', 'MAX', 'COUNT'] as const;
  const { answer, earlier, spanMs, body } = useSeries({
    search,
    questions: {
      series: [{ deviceId: device.id, topic, dataKey: key, accumulators: [...accumulators] }],
      bucketInterval: bucket.iso,
      timeZone: zone,
    },
    refetchMs: Math.max(refetchLeastMs, bucket.seconds * 1_000),
  });
  const label = words.before(title);
  const silentAfterS = device.onlineTimeout;
  const plot = useMemo(
    () =>
      plotOf({
        answer: answer.data,
        rows: isFixed ? [] : feed.rows,
        shown: { topic, key, title, unit },
        colorAt,
        earlier: earlier && { answer: earlier, spanMs, label },
        silentAfterS,
      }),
    [
      answer.data,
      isFixed,
      feed.rows,
      topic,
      key,
      title,
      unit,
      colorAt,
      earlier,
      spanMs,
      label,
      silentAfterS,
    ],
  );
  const request: CurlRequest = { method: 'POST', path, body };
  return { answer, earlier, bucket, request, ...plot };
}

// Comparison: the average of a range, and how much more or less it is than in the period before.

interface ComparisonProps {
  readonly now: SeriesAnswer | undefined;
  readonly before: SeriesAnswer;
  readonly unit: string;
}

/** Nothing until both were measured. */
function Comparison({ now, before, unit }: ComparisonProps) {
  const words = useWords(deviceWords);
  const { value } = useFormats();
  const [mean, meanBefore] = [now, before].map((answer) => {
    const [series] = answer?.series ?? [];
    return series === undefined ? undefined : averageOf(series);
  });
  if (mean === undefined || meanBefore === undefined) return null;
  const said = (amount: number) => `${value(amount)} ${unit}`.trim();
  const difference = mean - meanBefore;
  const change = difference > 0 ? words.higher : words.lower;
  const by = difference === 0 ? words.same : change(said(Math.abs(difference)));
  return (
    <span className="num">
      {words.average(said(mean))}, {by}
    </span>
  );
}

// Chart lines: a series of buckets, continued with the samples that arrived after its end.

type Shown = Pick<DataKey, 'topic' | 'key' | 'title' | 'unit'>;

interface Plot {
  /** Epoch seconds, rising. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
}

interface SeriesAnswer {
  readonly series: readonly MetricSeries[];
  readonly interval: { readonly to: string };
}

/** The same value in the period before. */
interface Earlier {
  readonly answer: SeriesAnswer;
  readonly spanMs: number;
  readonly label: string;
}

interface PlotParts {
  readonly answer: SeriesAnswer | undefined;
  /** Newest first; those before the end of the series are in it. */
  readonly rows: readonly FeedRow[];
  readonly shown: Shown;
  readonly colorAt: number;
  readonly earlier: Earlier | undefined;
  /** Seconds after which the device counts as silent. */
  readonly silentAfterS: number;
}

function plotOf({ answer, rows, shown, colorAt, earlier, silentAfterS }: PlotParts): Plot {
  const [series] = answer?.series ?? [];
  if (answer === undefined || series === undefined) return { times: [], lines: [] };
  const live = pointsAfter(Date.parse(answer.interval.to), rows, shown);
  const liveValues = live.map(({ value }) => value);
  const stored = series.timestamps.map((timestamp) => Date.parse(timestamp) / 1_000);
  const times = [...stored, ...live.map(({ time }) => time)];
  const joined = (accumulator: string) =>
    withGaps(times, [...(series.dataPoints[accumulator] ?? []), ...liveValues], silentAfterS);
  const line: PlotLine = {
    label: shown.title,
    unit: shown.unit,
    color: colorOf(colorAt),
    values: joined('AVG'),
    band: { least: joined('MIN'), greatest: joined('MAX') },
  };
  return { times, lines: [line, ...earlierLines(earlier, series, times, line, silentAfterS)] };
}

/** Dashed, without a band, and empty where the live samples are. */
function earlierLines(
  earlier: Earlier | undefined,
  series: MetricSeries,
  times: readonly number[],
  { unit, color }: PlotLine,
  silentAfterS: number,
): readonly PlotLine[] {
  const [before] = earlier?.answer.series ?? [];
  if (earlier === undefined || before === undefined) return [];
  const known = movedTo(series, before, earlier.spanMs).dataPoints['AVG'] ?? [];
  const values = withGaps(
    times,
    [...known, ...times.slice(known.length).map(() => null)],
    silentAfterS,
  );
  const look = unit === undefined ? { color } : { color, unit };
  return [{ ...look, label: earlier.label, values, isDashed: true }];
}

function pointsAfter(endMs: number, rows: readonly FeedRow[], { topic, key }: Shown) {
  return rows
    .filter(({ sample }) => sample.topic === topic && Date.parse(sample.timestamp) >= endMs)
    .flatMap(({ sample }) => {
      const value = valueAt(sample.data, key);
      const time = Date.parse(sample.timestamp) / 1_000;
      return typeof value === 'number' ? [{ time, value }] : [];
    })
    .toReversed()
    .filter(({ time }, at, all) => all[at + 1]?.time !== time);
}

// Alarm marks: when alarms of a device opened, on the chart of its values.

/** With more, their names would cover each other, so that only the lines stay. */
const namesMax = 3;

/** Empty for a caller without permission to read alarms. */
function useAlarmMarks(workspaceId: string, deviceId: string): readonly PlotMark[] {
  const mayRead = useMay(workspaceId, 'rule', 'read');
  const { data } = useQuery({ ...alarmsOfDevice(workspaceId, deviceId), enabled: mayRead });
  return useMemo(() => marksOf(data?.content ?? []), [data]);
}

export function marksOf(alarms: readonly Alarm[]): PlotMark[] {
  const isNamed = alarms.length <= namesMax;
  return alarms.map(({ firstTriggered, name, severity }) => ({
    at: Date.parse(firstTriggered) / 1_000,
    label: isNamed ? name : '',
    color: severity === 'CRITICAL' || severity === 'MAJOR' ? '--bad' : '--warn',
  }));
}
