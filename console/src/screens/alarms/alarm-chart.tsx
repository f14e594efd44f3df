// Chart of an alarm: a value of its device around its time, with its changes as marks.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { LineChart } from '../../charts/line-chart.tsx';
import { type PlotLevel, type PlotMark, withGaps } from '../../../../src/dashboards/plot.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { Bone, Empty, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type DataKey, dataKeysOf, topicsOf, valueAt } from '../device/data/data-keys.ts';
import {
  deviceQuery,
  type ManySeriesBody,
  schemaQuery,
  seriesQuery,
} from '../device/data/device-queries.ts';
import { bucketFor, type Interval, isoInterval } from '../../../../src/dashboards/buckets.ts';
import type { Operator } from '../rules/rule-model.ts';
import { ruleOf } from '../rules/rule-requests.ts';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';
import { useExists } from './about-card.tsx';

/** More would not fit above the chart. */
const keysMax = 5;

export function AlarmChart({ alarm }: { readonly alarm: Alarm }) {
  const { workspaceId, device } = alarm;
  const isThere = useExists(workspaceId, 'DEVICE', device?.id);
  if (device === null || isThere !== true) return null;
  return <ChartOfDevice alarm={alarm} deviceId={device.id} />;
}

interface DeviceChartProps {
  readonly alarm: Alarm;
  readonly deviceId: string;
}

function ChartOfDevice({ alarm, deviceId }: DeviceChartProps) {
  const words = useWords(alarmsWords);
  const keys = useAlarmKeys(alarm, deviceId);
  const [chosen, choose] = useState<string>();
  const [openedMs] = useState(() => Date.now());
  if (keys === undefined)
    return (
      <Card title={<Bone width="10em" />}>
        <div className={styles['chart']} />
      </Card>
    );
  const shown = keys.find(({ key }) => key === chosen) ?? keys[0];
  if (shown === undefined) return null;
  return (
    <Card
      title={words.chart(shown.title)}
      note={shown.unit}
      actions={
        <>
          {keys.length > 1 && (
            <Segments
              label={words.chartKey}
              value={shown.key}
              options={keys.map(({ key, title }) => ({ value: key, label: title }))}
              choose={choose}
            />
          )}
          <ButtonLink
            look="ghost"
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId: alarm.workspaceId, deviceId }}
            search={{
              topic: shown.topic,
              key: shown.key,
              ...isoInterval(spanOf(alarm, openedMs)),
            }}
          >
            {words.openInExplorer}
          </ButtonLink>
        </>
      }
    >
      <Course alarm={alarm} deviceId={deviceId} shown={shown} />
    </Card>
  );
}

/** Numbers and flags of the device: those of the rule first, then those of the last trigger. */
function useAlarmKeys(alarm: Alarm, deviceId: string): readonly DataKey[] | undefined {
  const { workspaceId, rule, data } = alarm;
  const schemas = useQuery(schemaQuery(deviceId)).data;
  const hasRule = useExists(workspaceId, 'RULE', rule?.id);
  const read = useQuery({ ...ruleOf(rule?.id ?? ''), enabled: hasRule === true }).data;
  if (schemas === undefined || (hasRule === true && read === undefined)) return undefined;
  const judged = new Set(read?.logic.dataSources.map(({ dataKey }) => dataKey));
  const isShown = (key: string) =>
    judged.has(key) || ['boolean', 'number'].includes(typeof valueAt(data, key));
  const known = topicsOf(schemas).flatMap((topic) => dataKeysOf(schemas, topic));
  return known
    .filter(({ key }, at) => isShown(key) && known.findIndex((one) => one.key === key) === at)
    .toSorted((a, b) => Number(judged.has(b.key)) - Number(judged.has(a.key)))
    .slice(0, keysMax);
}

const operatorSigns: Readonly<Record<Operator, string>> = {
  EQ: '=',
  NEQ: '≠',
  GT: '>',
  GTE: '≥',
  LT: '<',
  LTE: '≤',
  NGT: '≤',
  NGTE: '<',
  NLT: '≥',
  NLTE: '>',
};

/** The values that the rule compares the key with. */
function useLevels(alarm: Alarm, { key, topic }: DataKey): readonly PlotLevel[] {
  const { value: said } = useFormats();
  const hasRule = useExists(alarm.workspaceId, 'RULE', alarm.rule?.id);
  const logic = useQuery({ ...ruleOf(alarm.rule?.id ?? ''), enabled: hasRule === true }).data
    ?.logic;
  return useMemo(() => {
    const sources = logic?.dataSources.filter(
      ({ dataKey, dataTopic }) => dataKey === key && dataTopic === topic,
    );
    const isJudged = (id: string | null) => sources?.some((one) => one.id === id) === true;
    const conditions = (logic?.logicBlocks ?? []).flatMap((block) => block.conditions);
    return conditions.flatMap(({ operandFirst, operator, operandSecond }) => {
      const level = operandSecond.type === 'CONSTANT' ? operandSecond.value : undefined;
      // The result of a formula is not a value of the key.
      if (operandFirst.type !== 'DATA_SOURCE' || typeof level !== 'number') return [];
      if (!isJudged(operandFirst.dataSourceId)) return [];
      const label = `${operatorSigns[operator]} ${said(level)}`;
      return [{ value: level, label, color: '--warn' as const }];
    });
  }, [logic, key, topic, said]);
}

function Course({ alarm, deviceId, shown }: DeviceChartProps & { readonly shown: DataKey }) {
  const words = useWords(alarmsWords);
  const { zone } = useFormats();
  const { topic, key, title, unit } = shown;
  const { firstTriggered, lastTriggered, cleared } = alarm;
  const bodyAt = (nowMs: number): ManySeriesBody => {
    const span = spanOf(alarm, nowMs);
    return {
      series: [{ deviceId, topic, dataKey: key, accumulators: ['AVG'] }],
      interval: isoInterval(span),
      bucketInterval: bucketFor(span).iso,
      timeZone: zone,
    };
  };
  const times = [firstTriggered, lastTriggered, cleared?.at];
  const answer = useQuery({
    ...seriesQuery(['alarm', deviceId, topic, key, ...times], bodyAt, false),
    placeholderData: keepPreviousData,
  });
  const silentAfterS = useQuery(deviceQuery(deviceId)).data?.onlineTimeout;
  const plot = useMemo(() => {
    const [series] = answer.data?.series ?? [];
    const at = series?.timestamps.map((timestamp) => Date.parse(timestamp) / 1_000) ?? [];
    const values = withGaps(at, series?.dataPoints['AVG'] ?? [], silentAfterS);
    return { at, lines: [{ label: title, unit, color: '--c1' as const, values }] };
  }, [answer.data, title, unit, silentAfterS]);
  const marks = useMarks(alarm);
  const levels = useLevels(alarm, shown);
  const isEmpty = plot.lines.every(({ values }) => values.every((one) => (one ?? null) === null));
  if (answer.data === undefined && answer.error !== null)
    return <Failure error={answer.error} retry={() => void answer.refetch()} />;
  if (answer.data !== undefined && isEmpty) return <Empty title={words.noChart} />;
  return (
    <div className={styles['chart']}>
      {!isEmpty && (
        <LineChart
          times={plot.at}
          lines={plot.lines}
          marks={marks}
          levels={levels}
          zone={zone}
          height={220}
          label={[words.chartLabel(title), ...levels.map(({ label }) => label)].join(', ')}
        />
      )}
    </div>
  );
}

function useMarks({ firstTriggered, acknowledged, cleared }: Alarm): readonly PlotMark[] {
  const words = useWords(alarmsWords);
  const [acknowledgedAt, clearedAt] = [acknowledged?.at, cleared?.at];
  return useMemo(() => {
    const mark = (at: string | undefined, label: string, color: PlotMark['color']) =>
      at === undefined ? [] : [{ at: Date.parse(at) / 1_000, label, color }];
    return [
      ...mark(firstTriggered, words.opened, '--bad'),
      ...mark(acknowledgedAt, words.tabs.acknowledged, '--warn'),
      ...mark(clearedAt, words.tabs.cleared, '--ok'),
    ];
  }, [firstTriggered, acknowledgedAt, clearedAt, words]);
}

// Span of an alarm: the time that its chart shows, with something before it and after it.

const leastAroundMs = 15 * 60_000;
const mostAroundMs = 24 * 3_600_000;

type Times = Pick<Alarm, 'cleared' | 'firstTriggered' | 'lastTriggered'>;

/** Half of its length on each side, and nothing after now. */
export function spanOf({ firstTriggered, lastTriggered, cleared }: Times, nowMs: number): Interval {
  const begin = Date.parse(firstTriggered);
  const end = Math.max(Date.parse(lastTriggered), Date.parse(cleared?.at ?? lastTriggered));
  const around = Math.min(mostAroundMs, Math.max(leastAroundMs, (end - begin) / 2));
  const toMs = Math.max(end + 1_000, Math.min(nowMs, end + around));
  return { fromMs: begin - around, toMs };
}
