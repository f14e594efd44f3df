// Our own platform in the shape of a peer: bulk backfill in, REST queries out, always over HTTP with an API key.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { httpRequest, mustSucceed, openConnections } from './http-load.ts';
import { folderBytes } from './peers/debian-package.ts';
import type { Engine, Lane } from './peers/peer.ts';
import { type Platform, apiKey, createDevices, createFlow, startPlatform } from './platform.ts';
import { type Query, lastSamples } from './queries.ts';
import { type SampleColumns, type WorkloadShape, dataJsonAt, deviceName, isoText, labels } from './workload.ts';
import type { WorkloadData } from './workload.ts';

export const heliographTitle = 'Heliograph';
export const heliographDurability = 'fsynced journal';

const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
const pageSize = 1_000;

// Single uplinks are decoded: the script is what a user would write for a device that names its values otherwise.
const decoder = `function consume(event) {
  const { t, h, c, b, o, l } = event.data;
  emit('sample', { data: { temperature: t, humidity: h, co2: c, batteryLevel: b, occupied: o === 1, label: l } });
}`;

export async function startHeliograph(folder: string, shape: WorkloadShape): Promise<Engine> {
  let platform = await startPlatform(folder);
  const flow = await createFlow(platform, decoder);
  const names = Array.from({ length: shape.devices }, (_, i) => deviceName(i));
  const ids = await createDevices(platform, flow, names);
  const version = await platform.call<{ info: { version: string } }>('GET', '/openapi.json').then(
    (document) => document.info.version,
    () => 'unreleased',
  );
  return {
    version,
    encode: (batch) => (batch.length === 1 ? captureRequest(batch, flow.uplinkSecret) : bulkRequest(batch, ids)),
    openLanes: (count) => lanesTo(platform, count),
    async settle() {
      // A clean stop seals what is open, and the figures afterwards are those of a platform that has been started again.
      await platform.stop();
      platform = await startPlatform(folder);
      const parts = readdirSync(join(folder, 'data')).map((name) => {
        const bytes = folderBytes(join(folder, 'data', name));
        return `${name} ${(bytes / 2 ** 20).toFixed(1)} MiB`;
      });
      return `stopped and started again; data folder: ${parts.join(', ')}`;
    },
    bytesAtRest: async () => folderBytes(join(folder, 'data')),
    residentBytes: () => platform.server.residentBytes(),
    query: (query) => ask(platform, query, ids),
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

function bulkRequest(batch: SampleColumns, ids: readonly string[]): Buffer {
  const device = batch.device[0]!;
  if (batch.device.some((each) => each !== device)) throw new Error('a bulk request is for one device');
  const iso = isoText();
  let items = '';
  for (let i = 0; i < batch.length; i++) {
    items += `${i === 0 ? '[' : ','}{"timestamp":"${iso(batch.timestamp[i]!)}","data":${dataJsonAt(batch, i)}}`;
  }
  return httpRequest('POST', `/v3/devices/${ids[device]!}/backfill/bulk`, headers, `${items}]`);
}

function captureRequest(batch: SampleColumns, secret: string): Buffer {
  const data = JSON.parse(dataJsonAt(batch, 0)) as WorkloadData;
  const { temperature: t, humidity: h, co2: c, batteryLevel: b, occupied, label: l } = data;
  const path = `/v3/capture?secret=${secret}&deviceId=${deviceName(batch.device[0]!)}`;
  const body = JSON.stringify({ t, h, c, b, o: occupied ? 1 : 0, l });
  return httpRequest('POST', path, { 'content-type': 'application/json' }, body);
}

async function ask(platform: Platform, query: Query, ids: readonly string[]): Promise<number[]> {
  const common = { topic: 'default', dataKey: 'temperature', accumulator: 'AVG' };
  const post = <T>(path: string, body: object): Promise<T> => platform.call<T>('POST', path, body);
  if (query.name === 'last100') {
    const body = { topic: 'default', limit: lastSamples };
    return (await post<SampleAnswer[]>(`/v3/devices/${ids[query.device]!}/query`, body)).flatMap(sampleNumbers);
  }
  const interval = { from: new Date(query.from).toISOString(), to: new Date(query.to).toISOString() };
  const body = { ...common, interval };
  switch (query.name) {
    case 'rawKpi24h':
      return [(await post<Kpi>(`/v3/devices/${ids[query.device]!}/query/raw/kpi`, body)).kpi];
    case 'hourlyKpi':
      return [(await post<Kpi>(`/v3/devices/${ids[query.device]!}/query/aggregated/hourly/kpi`, body)).kpi];
    case 'rawSeries24h':
      return series(post, `/v3/devices/${ids[query.device]!}/query/raw/time-series`, {
        ...body,
        bucketInterval: 'PT1H',
      });
    case 'hourlySeries':
      return series(post, `/v3/devices/${ids[query.device]!}/query/aggregated/hourly/time-series`, {
        ...body,
        bucketInterval: 'P1D',
      });
    case 'rawSum100':
      return [await accumulated(post, body, query.devices, ids, 'SUM')];
    case 'averageAll': {
      const sum = await accumulated(post, body, query.devices, ids, 'SUM');
      return [sum / (await accumulated(post, body, query.devices, ids, 'COUNT'))];
    }
    case 'hourlyKpiAll':
      return everyKpi(post, body, query.devices, ids);
  }
}

type Post = <T>(path: string, body: object) => Promise<T>;
type Kpi = { readonly deviceId: string; readonly kpi: number };
type SampleAnswer = { readonly timestamp: string; readonly data: WorkloadData };

async function series(post: Post, path: string, body: object): Promise<number[]> {
  return (await post<{ dataPoints: number[] }>(path, body)).dataPoints;
}

async function accumulated(
  post: Post,
  body: object,
  devices: readonly number[],
  ids: readonly string[],
  accumulator: 'SUM' | 'COUNT',
): Promise<number> {
  const deviceIds = devices.map((device) => ids[device]!);
  const path = '/v3/devices/query/batch/raw/accumulated-kpi';
  return (await post<{ kpi: number }>(path, { ...body, accumulator, deviceIds })).kpi;
}

async function everyKpi(
  post: Post,
  body: object,
  devices: readonly number[],
  ids: readonly string[],
): Promise<number[]> {
  const byDevice = new Map<string, number>();
  const deviceIds = devices.map((device) => ids[device]!);
  for (let page = 0; page * pageSize < devices.length; page++) {
    const path = `/v3/devices/query/batch/aggregated/hourly/kpi?page=${page}&size=${pageSize}`;
    const { content } = await post<{ content: Kpi[] }>(path, { ...body, deviceIds });
    for (const each of content) byDevice.set(each.deviceId, each.kpi);
  }
  return deviceIds.map((id) => byDevice.get(id) ?? Number.NaN);
}

function sampleNumbers({ timestamp, data }: SampleAnswer): number[] {
  const label = labels.indexOf(data.label as (typeof labels)[number]);
  const occupied = data.occupied ? 1 : 0;
  return [Date.parse(timestamp), data.temperature, data.humidity, data.co2, data.batteryLevel, occupied, label];
}
