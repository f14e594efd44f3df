// Heliograph as a peer: bulk backfill in, REST queries out, always over HTTP with an API key.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../load/measure.ts';
import { httpRequest, mustSucceed, openConnections } from '../load/http.ts';
import { folderBytes } from './debian-package.ts';
import type { Engine, Lane } from './peer.ts';
import {
  type Platform,
  apiKey,
  createDevices,
  createFlow,
  startPlatform,
} from '../load/platform.ts';
import { type Query, type QueryName, lastSamples } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  dataJsonAt,
  deviceName,
  labels,
} from '../load/workload.ts';
import type { WorkloadData } from '../load/workload.ts';

export const heliographTitle = 'Heliograph';
export const heliographDurability = 'fsynced journal';

const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
const pageSize = 1_000;

// Single uplinks are decoded: the script is what a user would write for a device that names its
// values otherwise.
const decoder = `function consume(event) {
  const { t, h, c, b, o, l } = event.data;
  emit('sample', { data: { temperature: t, humidity: h, co2: c, batteryLevel: b, occupied: o === 1, label: l } });
}`;

export async function startHeliograph(folder: string, shape: WorkloadShape): Promise<Engine> {
  let platform = await startPlatform(folder);
  const flow = await createFlow(platform, decoder);
  const names = Array.from({ length: shape.devices }, (_, i) => deviceName(i));
  const ids = await createDevices(platform, flow, names);
  const packageText = readFileSync(join(repositoryRoot, 'package.json'), 'utf8');
  const { version } = JSON.parse(packageText) as { readonly version: string };
  return {
    version,
    encode: (batch) =>
      batch.length === 1 ? captureRequest(batch, flow.uplinkSecret) : manyRequest(batch, ids),
    openLanes: (count) => lanesTo(platform, count),
    async settle() {
      // A clean stop seals what is open, and the figures afterwards are those of a platform that
      // has been started again.
      await platform.stop();
      platform = await startPlatform(folder);
      const parts = readdirSync(join(folder, 'data')).map((name) => {
        const bytes = folderBytes(join(folder, 'data', name));
        return `${name} ${(bytes / 2 ** 20).toFixed(1)} MiB`;
      });
      return `stopped and started again; data folder: ${parts.join(', ')}`;
    },
    async bytesAtRest() {
      // As at the peers, without records of devices and what is held back for a full disk.
      const all = folderBytes(join(folder, 'data', 'samples'));
      const log = folderBytes(join(folder, 'data', 'samples', 'journal'));
      return { samples: all - log, log };
    },
    memoryBytes: () => platform.server.memoryBytes(),
    query: (query) => ask(platform, query, ids),
    async restart() {
      await platform.stop();
      const startMs = performance.now();
      platform = await startPlatform(folder);
      return startMs;
    },
    stop: () => platform.stop(),
  };
}

async function lanesTo(platform: Platform, count: number): Promise<Lane[]> {
  const connections = await openConnections(platform.target, count);
  return connections.map((connection) => ({
    async send(request, samples) {
      const body = mustSucceed(await connection.send(request));
      if (samples === 1) return;
      const { accepted } = JSON.parse(body.toString()) as { accepted: number };
      if (accepted !== samples) throw new Error(`${accepted} of ${samples} samples accepted`);
    },
    close: connection.close,
  }));
}

/** How a bulk request is sent: as an array unless as lines, with an Idempotency-Key or without. */
export interface BulkForm {
  readonly isLines: boolean;
  readonly key?: string | undefined;
}

const plainForm: BulkForm = { isLines: false };

/** The samples of one device as a bulk backfill. */
export function bulkRequest(
  batch: SampleColumns,
  ids: readonly string[],
  form: BulkForm = plainForm,
): Buffer {
  const device = batch.device[0]!;
  if (batch.device.some((each) => each !== device))
    throw new Error('a bulk request is for one device');
  const path = `/v3/devices/${ids[device]!}/backfill/bulk`;
  return bodyRequest(path, batch, form, () => '');
}

function bodyRequest(
  path: string,
  batch: SampleColumns,
  { isLines, key }: BulkForm,
  nameOf: (row: number) => string,
): Buffer {
  const iso = isoText();
  const type = isLines ? 'application/x-ndjson' : 'application/json';
  const own = { ...headers, 'content-type': type, ...(key && { 'idempotency-key': key }) };
  let items = '';
  for (let i = 0; i < batch.length; i++) {
    const separator = i === 0 ? '' : isLines ? '\n' : ',';
    items += `${separator}{${nameOf(i)}"timestamp":"${iso(batch.timestamp[i]!)}","data":${dataJsonAt(batch, i)}}`;
  }
  return httpRequest('POST', path, own, isLines ? items : `[${items}]`);
}

function manyRequest(batch: SampleColumns, ids: readonly string[]): Buffer {
  const isOfOne = batch.device.every((device) => device === batch.device[0]);
  return isOfOne ? bulkRequest(batch, ids) : samplesRequest(batch, ids);
}

/** Samples that name their devices. */
export function samplesRequest(
  batch: SampleColumns,
  ids: readonly string[],
  form: BulkForm = plainForm,
): Buffer {
  const nameOf = (row: number): string => `"deviceId":"${ids[batch.device[row]!]!}",`;
  return bodyRequest('/v3/samples/bulk', batch, form, nameOf);
}

function captureRequest(batch: SampleColumns, secret: string): Buffer {
  const data = JSON.parse(dataJsonAt(batch, 0)) as WorkloadData;
  const { temperature: t, humidity: h, co2: c, batteryLevel: b, occupied, label: l } = data;
  const path = `/v3/capture?secret=${secret}&deviceId=${deviceName(batch.device[0]!)}`;
  const body = JSON.stringify({ t, h, c, b, o: occupied ? 1 : 0, l });
  return httpRequest('POST', path, { 'content-type': 'application/json' }, body);
}

function ask(platform: Platform, query: Query, ids: readonly string[]): Promise<number[]> {
  const asked: Asked = {
    post: (path, body) => platform.call('POST', path, body),
    deviceIds: query.devices.map((device) => ids[device]!),
    body: {
      topic: 'default',
      dataKey: 'temperature',
      accumulator: 'AVG',
      interval: { from: new Date(query.from).toISOString(), to: new Date(query.to).toISOString() },
    },
  };
  return questions[query.name](asked);
}

interface Asked {
  readonly post: <T>(path: string, body: object) => Promise<T>;
  readonly deviceIds: readonly string[];
  /** The fields that KPI and time-series queries have in common. */
  readonly body: object;
}

const questions: Record<QueryName, (asked: Asked) => Promise<number[]>> = {
  last100: async ({ post, deviceIds }) => {
    const body = { topic: 'default', limit: lastSamples };
    return (await post<SampleAnswer[]>(`/v3/devices/${deviceIds[0]!}/query`, body)).flatMap(
      sampleNumbers,
    );
  },
  rawKpi24h: (asked) => kpi(asked, 'raw'),
  rawSeries24h: (asked) => series(asked, 'raw', 'PT1H'),
  hourlyKpi: (asked) => kpi(asked, 'aggregated/hourly'),
  hourlySeries: (asked) => series(asked, 'aggregated/hourly', 'P1D'),
  rawSum100: async (asked) => [await accumulated(asked, 'SUM')],
  rawSeries7d: (asked) => series(asked, 'raw', 'P1D'),
  hourlySeries7d: (asked) => series(asked, 'aggregated/hourly', 'PT1H'),
  latestEach: async ({ post, deviceIds }) => {
    const { content } = await post<LatestAnswer>('/v3/devices/query/latest', { deviceIds });
    return content.map(({ samples }) => samples[0]?.data.temperature ?? Number.NaN);
  },
  hourlyKpiAll: (asked) => everyKpi(asked, 'aggregated/hourly'),
  latest: async ({ post, deviceIds }) => {
    const body = { topic: 'default', limit: 1 };
    return (await post<SampleAnswer[]>(`/v3/devices/${deviceIds[0]!}/query`, body)).flatMap(
      sampleNumbers,
    );
  },
  rawKpiSpan: (asked) => kpi(asked, 'raw'),
  rawKpi1000: (asked) => everyKpi(asked, 'raw'),
  averageAll: async (asked) => [
    (await accumulated(asked, 'SUM')) / (await accumulated(asked, 'COUNT')),
  ],
};

type Source = 'raw' | 'aggregated/hourly';
type Kpi = { readonly deviceId: string; readonly kpi: number };
type LatestAnswer = {
  readonly content: readonly { readonly samples: readonly { readonly data: WorkloadData }[] }[];
};
type SampleAnswer = { readonly timestamp: string; readonly data: WorkloadData };

async function kpi({ post, deviceIds, body }: Asked, source: Source): Promise<number[]> {
  return [(await post<Kpi>(`/v3/devices/${deviceIds[0]!}/query/${source}/kpi`, body)).kpi];
}

async function series(
  { post, deviceIds, body }: Asked,
  source: Source,
  bucketInterval: string,
): Promise<number[]> {
  const path = `/v3/devices/${deviceIds[0]!}/query/${source}/time-series`;
  return (await post<{ dataPoints: number[] }>(path, { ...body, bucketInterval })).dataPoints;
}

async function accumulated(
  { post, deviceIds, body }: Asked,
  accumulator: 'SUM' | 'COUNT',
): Promise<number> {
  const path = '/v3/devices/query/batch/raw/accumulated-kpi';
  return (await post<{ kpi: number }>(path, { ...body, accumulator, deviceIds })).kpi;
}

async function everyKpi({ post, deviceIds, body }: Asked, source: Source): Promise<number[]> {
  const byDevice = new Map<string, number>();
  for (let page = 0; page * pageSize < deviceIds.length; page++) {
    const path = `/v3/devices/query/batch/${source}/kpi?page=${page}&size=${pageSize}`;
    const { content } = await post<{ content: Kpi[] }>(path, { ...body, deviceIds });
    for (const each of content) byDevice.set(each.deviceId, each.kpi);
  }
  return deviceIds.map((id) => byDevice.get(id) ?? Number.NaN);
}

function sampleNumbers({ timestamp, data }: SampleAnswer): number[] {
  const label = labels.indexOf(data.label as (typeof labels)[number]);
  const occupied = data.occupied ? 1 : 0;
  return [
    Date.parse(timestamp),
    data.temperature,
    data.humidity,
    data.co2,
    data.batteryLevel,
    occupied,
    label,
  ];
}

/** Formats `YYYY-MM-DDTHH:mm:ss.SSSZ`; caches the second, which neighbors share. */
function isoText(): (ms: number) => string {
  let second = Number.NaN;
  let prefix = '';
  return (ms) => {
    const whole = Math.floor(ms / 1_000);
    if (whole !== second) {
      second = whole;
      prefix = new Date(whole * 1_000).toISOString().slice(0, 20);
    }
    return `${prefix}${String(ms - whole * 1_000).padStart(3, '0')}Z`;
  };
}
