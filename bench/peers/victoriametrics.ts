// VictoriaMetrics 1.79: JSON lines in, MetricsQL out, one series per device and data key. It keeps no strings.
import { freePort, type RunningServer, startServer } from '../load/server-process.ts';
import { httpRequest, mustSucceed, openConnection, openPatientConnection } from '../load/http.ts';
import { type Query, type QueryName, dayMs, hourMs, isOfEach, lastSamples } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  deviceName,
  slotMsOf,
  textsAt,
} from '../load/workload.ts';
import { packageVersion, restingBytes } from './debian-package.ts';
import { openHttpLanes } from './http-lanes.ts';
import { openPeerServer } from './peer-server.ts';
import type { Engine, Peer } from './peer.ts';

const fromRaw = 'has no hourly aggregates, so it reads raw values';

export const victoriametrics: Peer = {
  title: 'VictoriaMetrics',
  released: '2022',
  packages: ['victoria-metrics'],
  program: '/usr/bin/victoria-metrics',
  durability: 'NOT durable: buffered in memory, no fsync before the answer',
  model:
    'one series per device and key; numbers and booleans only, the label is not kept; no hourly aggregates',
  exceptions: {
    last100: {
      words: 'exports the last 100 minutes of 5 series; no label',
      comparable: withoutLabels,
    },
    latest: { words: 'exports the last slot of 5 series; no label', comparable: withoutLabels },
    hourlyKpi: { words: fromRaw },
    hourlySeries: { words: fromRaw },
    hourlySeries7d: { words: fromRaw },
    hourlyKpiAll: { words: fromRaw },
    latestEach: { words: 'reads one key of the samples' },
  },
  start,
};

const keys = ['temperature', 'humidity', 'co2', 'batteryLevel', 'occupied'] as const;
type Key = (typeof keys)[number];

async function start(folder: string, shape: WorkloadShape): Promise<Engine> {
  const port = await freePort();
  const launch = (): RunningServer =>
    startServer({
      command: victoriametrics.program,
      args: [
        `-httpListenAddr=127.0.0.1:${port}`,
        `-storageDataPath=${folder}/data`,
        '-retentionPeriod=100y',
        '-search.maxPointsPerTimeseries=1000000',
        '-search.maxSamplesPerQuery=1000000000',
      ],
      logPath: `${folder}/victoria-metrics.log`,
    });
  const target = { host: '127.0.0.1', port };
  const probe = async (): Promise<boolean> => {
    const trial = await openConnection(target);
    const answer = await trial.send(httpRequest('GET', '/health', {}));
    trial.close();
    return answer.status === 200;
  };
  const server = await openPeerServer({
    launch,
    probe,
    connect: () => openPatientConnection(target),
  });
  const get = async (path: string): Promise<string> =>
    mustSucceed(await server.connection().send(httpRequest('GET', path, {}))).toString();
  return {
    version: packageVersion('victoria-metrics'),
    encode,
    openLanes: (count) => openHttpLanes(target, count),
    async settle() {
      await get('/internal/force_flush');
      await get('/internal/force_merge');
      return 'flushed and merged by force';
    },
    bytesAtRest: async () => ({ samples: await restingBytes([`${folder}/data`]), log: 0 }),
    memoryBytes: server.memoryBytes,
    query: async (query) => answerOf(query, await get(paths[query.name](query, slotMsOf(shape)))),
    restart: server.restart,
    stop: server.stop,
  };
}

/**
 * One line per series of the batch; a batch of one device gives long lines, a mixed one many short
 * ones.
 */
function encode(batch: SampleColumns): Buffer {
  const byDevice = new Map<number, number[]>();
  for (let i = 0; i < batch.length; i++) {
    const rows = byDevice.get(batch.device[i]!);
    if (rows === undefined) byDevice.set(batch.device[i]!, [i]);
    else rows.push(i);
  }
  let lines = '';
  for (const [device, rows] of byDevice) {
    const timestamps = rows.map((i) => batch.timestamp[i]!).join(',');
    for (const key of keys) {
      const values = rows.map((i) => valueTexts[key](batch, i)).join(',');
      lines += `{"metric":{"__name__":"${key}","device":"${deviceName(device)}","topic":"default"},"values":[${values}],"timestamps":[${timestamps}]}\n`;
    }
  }
  return httpRequest('POST', '/api/v1/import', {}, lines);
}

const valueTexts: Record<Key, (batch: SampleColumns, i: number) => string> = {
  temperature: (batch, i) => textsAt(batch, i).temperature,
  humidity: (batch, i) => textsAt(batch, i).humidity,
  co2: (batch, i) => String(batch.co2[i]!),
  batteryLevel: (batch, i) => textsAt(batch, i).battery,
  occupied: (batch, i) => String(batch.occupied[i]!),
};

// A window ends at its last millisecond and excludes the one before its start.
const paths: Record<QueryName, (query: Query, slotMs: number) => string> = {
  last100: (query, slotMs) => exportOf(query, lastSamples * slotMs),
  latest: (query, slotMs) => exportOf(query, slotMs),
  rawKpiSpan: (query) => instant(`avg_over_time(${one(query)}[${window(query)}])`, query.to),
  rawKpi1000: (query) => instant(`avg_over_time(${several(query)}[${window(query)}])`, query.to),
  rawKpi24h: (query) => instant(`avg_over_time(${one(query)}[${window(query)}])`, query.to),
  rawSeries24h: (query) => range(`avg_over_time(${one(query)}[1h])`, query, hourMs),
  hourlyKpi: (query) => instant(`avg_over_time(${one(query)}[${window(query)}])`, query.to),
  hourlySeries: (query) => range(`avg_over_time(${one(query)}[1d])`, query, dayMs),
  rawSeries7d: (query) => range(`avg_over_time(${one(query)}[1d])`, query, dayMs),
  hourlySeries7d: (query) => range(`avg_over_time(${one(query)}[1h])`, query, hourMs),
  latestEach: (query) => instant(`last_over_time(${several(query)}[1h])`, query.to),
  rawSum100: (query) =>
    instant(`sum(sum_over_time(${several(query)}[${window(query)}]))`, query.to),
  hourlyKpiAll: (query) => instant(`avg_over_time(temperature[${window(query)}])`, query.to),
  averageAll: (query) => {
    const each = `temperature[${window(query)}]`;
    return instant(`sum(sum_over_time(${each})) / sum(count_over_time(${each}))`, query.to);
  },
};

function exportOf({ devices, to }: Query, lastMs: number): string {
  const match = encodeURIComponent(`{device="${deviceName(devices[0]!)}"}`);
  return `/api/v1/export?match[]=${match}&start=${(to - lastMs) / 1_000}&end=${to / 1_000}`;
}

function several({ devices }: Query): string {
  return `temperature{device=~"${devices.map(deviceName).join('|')}"}`;
}

function window({ from, to }: Query): string {
  return `${(to - from) / 1_000}s`;
}

function one({ devices }: Query): string {
  return `temperature{device="${deviceName(devices[0]!)}",topic="default"}`;
}

function instant(expression: string, to: number): string {
  return `/api/v1/query?nocache=1&time=${(to - 1) / 1_000}&query=${encodeURIComponent(expression)}`;
}

function range(
  expression: string,
  { from, to }: { from: number; to: number },
  stepMs: number,
): string {
  const span = `start=${(from + stepMs - 1) / 1_000}&end=${(to - 1) / 1_000}&step=${stepMs / 1_000}s`;
  return `/api/v1/query_range?nocache=1&${span}&query=${encodeURIComponent(expression)}`;
}

interface PromResult {
  readonly metric: { readonly device?: string };
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

const seriesNames: ReadonlySet<QueryName> = new Set([
  'rawSeries24h',
  'rawSeries7d',
  'hourlySeries',
  'hourlySeries7d',
]);

function answerOf(query: Query, text: string): number[] {
  if (query.name === 'last100' || query.name === 'latest') return exported(text);
  const result = (JSON.parse(text) as { data: { result: PromResult[] } }).data.result;
  if (seriesNames.has(query.name)) {
    return (result[0]?.values ?? []).map(([, value]) => Number(value));
  }
  if (!isOfEach(query.name)) return result.map((each) => Number(each.value?.[1]));
  const byDevice = new Map(result.map((each) => [each.metric.device, Number(each.value?.[1])]));
  return query.devices.map((device) => byDevice.get(deviceName(device)) ?? Number.NaN);
}

function exported(text: string): number[] {
  const series = new Map<string, { values: number[]; timestamps: number[] }>();
  for (const line of text.trim().split('\n')) {
    const each = JSON.parse(line) as {
      metric: Record<string, string>;
      values: number[];
      timestamps: number[];
    };
    series.set(each.metric['__name__']!, each);
  }
  const timestamps = series.get('temperature')?.timestamps ?? [];
  return timestamps
    .flatMap((ms, i) => [[ms, ...keys.map((key) => series.get(key)?.values[i] ?? Number.NaN)]])
    .reverse()
    .flat();
}

function withoutLabels(wanted: readonly number[]): number[] {
  return wanted.filter((_, i) => i % 7 !== 6);
}
