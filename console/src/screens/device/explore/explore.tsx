// Explore: values of one or several devices over a range, as a chart, a table, a request and a file.
import { useQueries, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Download, LayoutDashboard, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { curlOf, type CurlRequest } from '../../../api/curl.ts';
import { Legend, useIsolated } from '../../../charts/legend.tsx';
import { type PlotLine, withGaps } from '../../../../../src/dashboards/plot.ts';
import { LineChart } from '../../../charts/line-chart.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Segments } from '../../../ui/choice.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { late } from '../../../ui/late.tsx';
import { CodeBlock, Empty, Failure } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import type { ExploredLines } from '../../dashboards/save-line.ts';
import { colorOf, dataKeysOf, topicsOf } from '../data/data-keys.ts';
import { deviceQuery, schemaQuery } from '../data/device-queries.ts';
import { type Bucket, bucketsFor, isoInterval } from '../../../../../src/dashboards/buckets.ts';
import { intervalOf } from '../data/time-range.ts';
import { movedTo, useSeries } from '../data/use-series.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { deviceRoute } from '../device-search.ts';
import { AddAlarmButton } from '../../rules/chart-alarm/add-alarm-button.tsx';
import { deviceWords } from '../device-words.ts';
import { BeforeChoice, RangeChoice, useZoom } from '../overview/chart-choices.tsx';
import { sampleChangeWords } from '../sample-change-words.ts';
import { bandOf, ExpectedNotes, isLeveled, useExpected, withForecast } from './expected-band.tsx';
import { ExploreChoices } from './explore-choices.tsx';
import { type AccumulatorName, planOf, type ReadPlan } from './explore-search.ts';
import { exploreWords } from './explore-words.ts';
import styles from './explore.module.css';
import { csvOf, evenBucket, ndjsonOf, type SeriesTable, tableOf } from './series-table.ts';

// Request code: a request of the console as a program in the language of the reader.

const requestLanguages = ['curl', 'JavaScript', 'Python'] as const;
type RequestLanguage = (typeof requestLanguages)[number];

/** The key is a variable of the environment, because a secret does not belong on the clipboard. */
function requestCode(request: CurlRequest, origin: string, language: RequestLanguage): string {
  if (language === 'curl') return curlOf(request, origin);
  const address = JSON.stringify(origin + request.path);
  const body = JSON.stringify(request.body ?? null, null, 2);
  if (language === 'JavaScript')
    return `const answer = await fetch(${address}, {
  method: 'POST',
  headers: { 'x-api-key': process.env.API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),
});
if (!answer.ok) throw new Error(await answer.text());
console.log(await answer.json());`;
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${address},
    data=json.dumps(${pythonOf(request.body).replaceAll('\n', '\n    ')}).encode(),
    headers={"x-api-key": os.environ["API_KEY"], "content-type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`;
}

/** A literal of Python, in which three words of JSON have other names. */
function pythonOf(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${pythonOf(item, inner)}`);
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${pythonOf(member, inner)}`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

const path = '/v3/devices/query/batch/time-series';
const linesMax = 12;
const refetchMs = 60_000;
const paletteSize = 6;

export function Explore() {
  const words = useWords(exploreWords);
  const { device, zone } = useDeviceFrame();
  const exploration = useExploration();
  const { answer, body, lines, times, table, isTooMany, explored, expected, coverage } =
    exploration;
  const zoom = useZoom();
  const { shown, ...isolated } = useIsolated(lines);
  const request = { method: 'POST', path, body } as const;
  const isNothing = body.series.length === 0;
  return (
    <>
      <ExploreChoices {...exploration} />
      <Card
        title={words.title}
        note={<Why {...exploration} />}
        actions={
          <>
            <RangeChoice />
            {!isNothing && <DeleteButton topic={exploration.topic} />}
            {!isNothing && <SaveButton workspaceId={device.workspaceId} lines={explored} />}
            <AddAlarmButton workspaceId={device.workspaceId} sources={exploration.judgeable} />
          </>
        }
      >
        <BeforeChoice />
        <div className={styles['chart']} data-stale={answer.isPlaceholderData}>
          {isTooMany && <p className={styles['note']}>{words.tooMany}</p>}
          {isNothing && <Empty title={words.none} />}
          {answer.error !== null && (
            <Failure error={answer.error} retry={() => void answer.refetch()} curl={request} />
          )}
          {answer.data !== undefined && table.rows.length === 0 && <Empty title={words.noValues} />}
          {table.rows.length > 0 && (
            <LineChart
              times={times}
              lines={shown}
              zone={zone}
              label={words.chart}
              zoom={zoom.into}
              zoomBack={zoom.back}
            />
          )}
        </div>
        {lines.length > 1 && <Legend lines={lines} {...isolated} />}
        <ExpectedNotes expected={expected} coverage={coverage} zone={zone} />
      </Card>
      {table.rows.length > 0 && <TableCard table={table} name={device.name} zone={zone} />}
      {!isNothing && <RequestCard request={request} />}
    </>
  );
}

function Why({ plan }: { readonly plan: ReturnType<typeof planOf> }) {
  const words = useWords(exploreWords);
  const span = useFormats().duration(plan.bucket.seconds);
  const reasons = {
    short: words.whyRaw(span),
    whole: words.whyHourly(span),
    wanted: words.whyWanted,
    impossible: words.onlyRaw,
  };
  return reasons[plan.why];
}

function useExploration() {
  const { device, zone } = useDeviceFrame();
  const search = useSearch({ from: `${deviceRoute}/explore` });
  const [openedMs] = useState(() => Date.now());
  const schema = useQuery(schemaQuery(device.id));
  const compared = useCompared(search.with ?? []);
  const topics = useMemo(() => topicsOf(schema.data ?? {}), [schema.data]);
  const topic = topics.find((one) => one === search.topic) ?? topics[0] ?? 'default';
  const keys = useMemo(
    () => dataKeysOf(schema.data ?? {}, topic).filter(({ isNumber }) => isNumber),
    [schema.data, topic],
  );
  const first = keys[0];
  const chosen = search.keys ?? (first === undefined ? [] : [first.key]);
  const devices = [device, ...compared];
  const isUnique = (name: string) => devices.filter((one) => one.name === name).length === 1;
  const asked = [
    ...chosen.map((key) => ({ key, isFormula: false })),
    ...(search.formula === undefined ? [] : [{ key: search.formula, isFormula: true }]),
  ];
  const wanted = devices.flatMap(({ id, name, onlineTimeout }) =>
    asked.map(({ key, isFormula }) => {
      const { title = key, unit = '' } = keys.find((one) => one.key === key) ?? {};
      return {
        deviceId: id,
        silentAfterS: onlineTimeout,
        key,
        isFormula,
        unit,
        label:
          devices.length === 1 ? title : `${isUnique(name) ? name : `${name} ${id}`} · ${title}`,
      };
    }),
  );
  const accumulator = search.acc ?? 'AVG';
  const shown = wanted.slice(0, linesMax);
  const interval = intervalOf(search, openedMs);
  const read = (plan: ReadPlan) => ({
    search,
    questions: {
      series: shown.map(({ deviceId, key, isFormula }) => ({
        deviceId,
        topic,
        ...(isFormula ? { expression: key } : { dataKey: key }),
        accumulators: [accumulator],
      })),
      bucketInterval: plan.bucket.iso,
      timeZone: zone,
      source: plan.source,
    },
    refetchMs,
  });
  const finest = useSeries(read(planOf(search, interval)));
  // With another bucket the same request is sent again; with the same one both share an answer.
  const even = useEvenBucket(finest, accumulator);
  const plan = planOf(search, interval, even);
  const { answer, earlier, spanMs, body } = useSeries(read(plan));
  const plotted = usePlotted({
    series: answer.data?.series,
    earlier: earlier?.series,
    spanMs,
    shown,
    accumulator,
  });
  const { forecastOf } = useWords(exploreWords);
  const [only] = shown;
  // What is usual is known of data keys, not of formulas.
  const isKey = shown.length === 1 && shown[0]?.isFormula === false;
  const isSingle = isKey && search.before !== true && isLeveled(accumulator);
  const expected = useExpected(
    isSingle && only !== undefined
      ? { deviceId: only.deviceId, topic, dataKey: only.key, zone }
      : undefined,
  );
  const { range, forecast } = expected;
  const drawn = useMemo(() => {
    const [line] = plotted.lines;
    const isUsual = range !== undefined && range.method !== 'NONE' && line !== undefined;
    const lines = isUsual ? [{ ...line, band: bandOf(plotted.times, range) }] : plotted.lines;
    return forecast === undefined
      ? { times: plotted.times, lines }
      : withForecast(plotted.times, lines, forecast, forecastOf);
  }, [plotted, range, forecast, forecastOf]);
  return {
    answer,
    body,
    plan,
    topics,
    topic,
    keys,
    chosen,
    compared,
    accumulator,
    table: plotted.table,
    ...drawn,
    isSingle,
    expected,
    coverage: coverageOf(answer.data?.series ?? [], accumulator),
    isTooMany: wanted.length > linesMax,
    explored: exploredOf(shown, topic, accumulator),
    judgeable: shown
      .filter(({ isFormula }) => !isFormula)
      .map(({ deviceId, key, label, unit }) => ({
        deviceId,
        topic,
        dataKey: key,
        title: label,
        unit,
      })),
  };
}

/** The covered share of all buckets; undefined for accumulators that have none. */
function coverageOf(series: Answered, accumulator: string): number | undefined {
  const shares = series.flatMap(({ coverage }) => coverage?.[accumulator] ?? []);
  if (shares.length === 0) return undefined;
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** The automatic bucket in which the lines of the answer share rows; undefined for its own. */
function useEvenBucket(
  { answer, earlier, spanMs }: ReturnType<typeof useSeries>,
  accumulator: string,
): Bucket | undefined {
  const series = answer.isPlaceholderData ? undefined : answer.data?.series;
  const before = earlier?.series;
  return useMemo(() => {
    const [first] = series ?? [];
    if (series === undefined || first === undefined) return undefined;
    const moved = (before ?? []).map((one) => movedTo(first, one, spanMs));
    const columns = [...series, ...moved].map(({ dataPoints }) => dataPoints[accumulator] ?? []);
    const times = first.timestamps.map((at) => Date.parse(at) / 1_000);
    return evenBucket(times, columns, bucketsFor({ fromMs: 0, toMs: spanMs }));
  }, [series, before, spanMs, accumulator]);
}

type Wanted = {
  readonly deviceId: string;
  /** Undefined until it is known. */
  readonly silentAfterS: number | undefined;
  /** The text of the formula, if it is one. */
  readonly key: string;
  readonly isFormula: boolean;
  readonly unit: string;
  readonly label: string;
};
type Answered = Parameters<typeof tableOf>[0];

function exploredOf(
  shown: readonly Wanted[],
  topic: string,
  accumulator: AccumulatorName,
): ExploredLines {
  const series = shown.map(({ deviceId, key, isFormula, label, unit }) => ({
    deviceId,
    topic,
    ...(isFormula ? { expression: key } : { dataKey: key }),
    accumulator,
    label,
    ...(unit === '' ? {} : { unit }),
  }));
  return {
    title: shown
      .map(({ label }) => label)
      .slice(0, 3)
      .join(', '),
    series,
  };
}

interface Plotted {
  readonly series: Answered | undefined;
  /** Of the period before, in the same order. */
  readonly earlier: Answered | undefined;
  readonly spanMs: number;
  readonly shown: readonly Wanted[];
  readonly accumulator: string;
}

/** A line of the period before is dashed, in the color of the later one. */
function usePlotted({ series, earlier, spanMs, shown, accumulator }: Plotted) {
  const words = useWords(deviceWords);
  const naming = JSON.stringify(shown);
  return useMemo(() => {
    const named = JSON.parse(naming) as readonly Wanted[];
    // A device that was deleted meanwhile is omitted by the platform.
    const found = named.flatMap((one) => {
      const isOf = ({ deviceId, dataKey }: Answered[number]) =>
        deviceId === one.deviceId && dataKey === one.key;
      const own = series?.find(isOf);
      if (own?.dataPoints[accumulator] === undefined) return [];
      const before = earlier?.find(isOf);
      return [{ one, own, before: before === undefined ? [] : [movedTo(own, before, spanMs)] }];
    });
    const times = (found[0]?.own.timestamps ?? []).map((at) => Date.parse(at) / 1_000);
    const lines = found.flatMap(({ one: { label, unit, silentAfterS }, own, before }, at) =>
      [own, ...before].map(
        ({ dataPoints }, age): PlotLine => ({
          label: age === 0 ? label : words.before(label),
          unit,
          color: colorOf(at),
          values: withGaps(times, dataPoints[accumulator] ?? [], silentAfterS),
          isDashed: at >= paletteSize || age > 0,
        }),
      ),
    );
    const columns = lines.map(({ label, unit = '' }) =>
      unit === '' ? label : `${label} (${unit})`,
    );
    const table = tableOf(
      found.flatMap(({ own, before }) => [own, ...before]),
      accumulator,
      columns,
    );
    return { times, lines, table };
  }, [series, earlier, spanMs, naming, accumulator, words]);
}

// Hook on the devices that are compared with that of the page.

interface Compared {
  readonly id: string;
  /** The id until the name is known. */
  readonly name: string;
  /** Seconds after which it counts as silent; undefined until they are known. */
  readonly onlineTimeout: number | undefined;
}

function useCompared(ids: readonly string[]): readonly Compared[] {
  return useQueries({
    queries: ids.map((id) => deviceQuery(id)),
    combine: (answers) =>
      ids.map((id, at) => ({
        id,
        name: answers[at]?.data?.name ?? id,
        onlineTimeout: answers[at]?.data?.onlineTimeout,
      })),
  });
}

// Save button: keeps the explored lines on a dashboard; its dialog is loaded when it opens.

const SaveDialog = late('SaveDialog', async () => (await import('./save-dialog.tsx')).SaveDialog);

interface SaveButtonProps {
  readonly workspaceId: string;
  readonly lines: ExploredLines;
}

function SaveButton({ workspaceId, lines }: SaveButtonProps) {
  const words = useWords(exploreWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="dashboard: update" onClick={() => setOpen(true)}>
        <LayoutDashboard aria-hidden="true" />
        {words.save}
      </Button>
      {isOpen && (
        <SaveDialog workspaceId={workspaceId} lines={lines} close={() => setOpen(false)} />
      )}
    </>
  );
}

// Delete button: deletes the samples of the range that is shown, which may be dragged in the chart.

const DeleteDialog = late(
  'DeleteSamplesDialog',
  async () => (await import('../sample-changes.tsx')).DeleteSamplesDialog,
);

function DeleteButton({ topic }: { readonly topic: string }) {
  const words = useWords(sampleChangeWords);
  const { device, zone } = useDeviceFrame();
  const search = useSearch({ from: `${deviceRoute}/explore` });
  const [interval, setInterval] = useState<ReturnType<typeof isoInterval>>();
  return (
    <>
      <Button
        needs="asset: delete"
        onClick={() => setInterval(isoInterval(intervalOf(search, Date.now())))}
      >
        <Trash2 aria-hidden="true" />
        {words.deleteSamples}
      </Button>
      {interval !== undefined && (
        <DeleteDialog
          device={device}
          topic={topic}
          interval={interval}
          zone={zone}
          close={() => setInterval(undefined)}
        />
      )}
    </>
  );
}

// Request card: what the chart asked the platform for, as a program.

function RequestCard({ request }: { readonly request: CurlRequest }) {
  const words = useWords(exploreWords);
  const [language, setLanguage] = useState<RequestLanguage>('curl');
  const code = requestCode(request, location.origin, language);
  return (
    <Card
      title={words.request}
      isPadded
      actions={
        <>
          <Segments
            label={words.languages}
            options={requestLanguages.map((value) => ({ value, label: value }))}
            value={language}
            choose={setLanguage}
          />
          <CopyButton content={code} />
        </>
      }
    >
      <CodeBlock code={code} />
    </Card>
  );
}

// Table card: the values of the chart, the newest first, and the files of all of them.

/** What a person reads; all rows are in the files. */
const rowsShown = 100;

interface TableCardProps {
  readonly table: SeriesTable;
  /** Of the files. */
  readonly name: string;
  readonly zone: string;
}

export function TableCard({ table, name, zone }: TableCardProps) {
  const words = useWords(exploreWords);
  const formats = useFormats();
  const rows = table.rows.toReversed().slice(0, rowsShown);
  const all = table.rows.length;
  return (
    <Card
      title={words.table}
      note={words.rowsOf(rows.length, all)}
      actions={
        <>
          <span className="mute">{words.inZone(zone)}</span>
          <Button onClick={() => download(`${name}.csv`, 'text/csv', csvOf(table, zone))}>
            <Download aria-hidden="true" />
            {words.exportCsv(all)}
          </Button>
          <Button
            onClick={() =>
              download(`${name}.ndjson`, 'application/x-ndjson', ndjsonOf(table, zone))
            }
          >
            <Download aria-hidden="true" />
            {words.exportNdjson(all)}
          </Button>
        </>
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={words.table}>
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{words.time}</th>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ timestamp, values }) => (
              <tr key={timestamp}>
                <th scope="row">{formats.instant(timestamp, zone)}</th>
                {values.map((value, at) => (
                  <td key={table.columns[at]}>{value === null ? '' : formats.value(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function download(name: string, type: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
