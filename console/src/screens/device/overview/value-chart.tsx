// Value chart: average line with least and greatest as a band, by range and zone, with live points.
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { CurlRequest } from '../../../api/curl.ts';
import { LineChart } from '../../../charts/line-chart.tsx';
import { Card } from '../../../parts/card.tsx';
import { Empty, Failure } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { DataKey } from '../data/data-keys.ts';
import { bucketFor, intervalOf } from '../data/time-range.ts';
import { useSeries } from '../data/use-series.ts';
import { useZoom } from '../data/use-zoom.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute, type DeviceSearch } from '../device-search.ts';
import { deviceWords } from '../device-words.ts';
import { useAlarmMarks } from './alarm-marks.ts';
import { BeforeChoice } from './before-choice.tsx';
import { plotOf } from './chart-lines.ts';
import { Comparison } from './comparison.tsx';
import { RangeChoice } from './range-choice.tsx';
import styles from './overview.module.css';

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
      actions={<RangeChoice />}
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
