// InfluxDB 1.6: line protocol in, InfluxQL out, one measurement with the device as a tag.
import { freePort, type RunningServer, startServer } from '../load/server-process.ts';
import { httpRequest, mustSucceed, openConnection, openPatientConnection } from '../load/http.ts';
import { isOfEach, type Query, type QueryName, lastSamples } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  deviceName,
  labels,
  textsAt,
} from '../load/workload.ts';
import { folderBytes, packageVersion, restingBytes } from './debian-package.ts';
import { openHttpLanes } from './http-lanes.ts';
import { openPeerServer } from './peer-server.ts';
import { type Engine, keepsHours, type Peer } from './peer.ts';

const fillHourly = `SELECT count(*), sum(*), min(*), max(*) INTO hourly FROM sample WHERE time >= '2026-01-01' AND time < '2027-01-01' GROUP BY time(1h), * FILL(none)`;

export const influxdb: Peer = {
  title: 'InfluxDB',
  released: '2018',
  packages: ['influxdb'],
  program: '/usr/bin/influxd',
  durability: 'fsynced WAL (wal-fsync-delay 0, the default)',
  model: 'one measurement, tags device and topic; hourly aggregates by SELECT INTO after the load',
  exceptions: {},
  start,
};

/** A server with the database `bench`, and a connection to it. */
export async function startInfluxdb(folder: string) {
  const [port, rpcPort] = [await freePort(), await freePort()];
  const launch = (): RunningServer =>
    startServer({
      command: influxdb.program,
      args: [],
      logPath: `${folder}/influxd.log`,
      env: environment(folder, port, rpcPort),
    });
  const target = { host: '127.0.0.1', port };
  const probe = async (): Promise<boolean> => {
    const trial = await openConnection(target);
    const answer = await trial.send(httpRequest('GET', '/ping', {}));
    trial.close();
    return answer.status === 204;
  };
  const server = await openPeerServer({
    launch,
    probe,
    connect: () => openPatientConnection(target),
  });
  const ask = async (statement: string): Promise<Series[]> => {
    const path = `/query?db=bench&epoch=ms&q=${encodeURIComponent(statement)}`;
    const body = mustSucceed(await server.connection().send(httpRequest('POST', path, {})));
    const result = (JSON.parse(body.toString()) as InfluxAnswer).results[0]!;
    if (result.error !== undefined) throw new Error(result.error);
    return result.series ?? [];
  };
  await ask('CREATE DATABASE bench');
  const { memoryBytes, processorUs, restart, stop } = server;
  return { target, memoryBytes, processorUs, ask, restart, stop };
}

async function start(folder: string, shape: WorkloadShape): Promise<Engine> {
  const dataFolders = [`${folder}/data`, `${folder}/wal`];
  const { target, ask, memoryBytes, restart, stop } = await startInfluxdb(folder);
  return {
    version: packageVersion('influxdb'),
    encode: encodeLines,
    openLanes: (count) => openHttpLanes(target, count),
    async settle() {
      if (!keepsHours(shape)) return '';
      const startMs = performance.now();
      await ask(fillHourly);
      const seconds = (performance.now() - startMs) / 1_000;
      return `hourly aggregates made afterwards in ${seconds.toFixed(1)} s`;
    },
    async bytesAtRest() {
      const both = await restingBytes(dataFolders);
      const log = folderBytes(`${folder}/wal`);
      return { samples: both - log, log };
    },
    memoryBytes,
    query: async (query) => numbersOf(query, await ask(statements[query.name](query))),
    restart,
    stop,
  };
}

function environment(folder: string, port: number, rpcPort: number): Record<string, string> {
  return {
    INFLUXDB_REPORTING_DISABLED: 'true',
    INFLUXDB_BIND_ADDRESS: `127.0.0.1:${rpcPort}`,
    INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${port}`,
    INFLUXDB_HTTP_LOG_ENABLED: 'false',
    INFLUXDB_HTTP_MAX_ROW_LIMIT: '0',
    INFLUXDB_MONITOR_STORE_ENABLED: 'false',
    INFLUXDB_META_DIR: `${folder}/meta`,
    INFLUXDB_DATA_DIR: `${folder}/data`,
    INFLUXDB_DATA_WAL_DIR: `${folder}/wal`,
    INFLUXDB_DATA_INDEX_VERSION: 'tsi1',
    // Cold data is written out and compacted soon, so that bytes at rest can be read after a short
    // wait.
    INFLUXDB_DATA_CACHE_SNAPSHOT_WRITE_COLD_DURATION: '5s',
    INFLUXDB_DATA_COMPACT_FULL_WRITE_COLD_DURATION: '5s',
  };
}

interface Series {
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly (number | string | boolean | null)[])[];
}

interface InfluxAnswer {
  readonly results: readonly { readonly series?: Series[]; readonly error?: string }[];
}

/** A write in line protocol. */
export function encodeLines(batch: SampleColumns, path = '/write?db=bench&precision=ms'): Buffer {
  let lines = '';
  for (let i = 0; i < batch.length; i++) {
    const { temperature, humidity, battery } = textsAt(batch, i);
    const occupied = batch.occupied[i] === 1 ? 'true' : 'false';
    const label = labels[batch.label[i]!]!;
    lines += `sample,device=${deviceName(batch.device[i]!)},topic=default temperature=${temperature},humidity=${humidity},co2=${batch.co2[i]!},batteryLevel=${battery},occupied=${occupied},label="${label}" ${batch.timestamp[i]!}\n`;
  }
  return httpRequest('POST', path, {}, lines);
}

const statements: Record<QueryName, (query: Query) => string> = {
  last100: (query) =>
    `SELECT * FROM sample WHERE ${one(query)} ORDER BY time DESC LIMIT ${lastSamples}`,
  rawKpi24h: (query) =>
    `SELECT mean(temperature) FROM sample WHERE ${one(query)} AND ${times(query)}`,
  rawSeries24h: (query) =>
    `SELECT mean(temperature) FROM sample WHERE ${one(query)} AND ${times(query)} GROUP BY time(1h)`,
  hourlyKpi: (query) =>
    `SELECT sum(sum_temperature) / sum(count_temperature) FROM hourly WHERE ${one(query)} AND ${times(query)}`,
  hourlySeries: (query) =>
    `SELECT sum(sum_temperature) / sum(count_temperature) FROM hourly WHERE ${one(query)} AND ${times(query)} GROUP BY time(1d)`,
  rawSeries7d: (query) =>
    `SELECT mean(temperature) FROM sample WHERE ${one(query)} AND ${times(query)} GROUP BY time(1d)`,
  hourlySeries7d: (query) =>
    `SELECT sum(sum_temperature) / sum(count_temperature) FROM hourly WHERE ${one(query)} AND ${times(query)} GROUP BY time(1h)`,
  latestEach: (query) =>
    `SELECT last(temperature) FROM sample WHERE ${several(query)} GROUP BY device`,
  rawSum100: (query) =>
    `SELECT sum(temperature) FROM sample WHERE ${several(query)} AND ${times(query)}`,
  hourlyKpiAll: (query) =>
    `SELECT sum(sum_temperature) / sum(count_temperature) FROM hourly WHERE ${times(query)} GROUP BY device`,
  averageAll: () => 'SELECT mean(temperature) FROM sample',
  latest: (query) => `SELECT * FROM sample WHERE ${one(query)} ORDER BY time DESC LIMIT 1`,
  rawKpiSpan: (query) =>
    `SELECT mean(temperature) FROM sample WHERE ${one(query)} AND ${times(query)}`,
  rawKpi1000: (query) =>
    `SELECT mean(temperature) FROM sample WHERE ${several(query)} AND ${times(query)} GROUP BY device`,
};

function one({ devices }: Query): string {
  return `device = '${deviceName(devices[0]!)}' AND topic = 'default'`;
}

function several({ devices }: Query): string {
  return `device =~ /^(${devices.map(deviceName).join('|')})$/`;
}

function times({ from, to }: { readonly from: number; readonly to: number }): string {
  return `time >= ${from}ms AND time < ${to}ms`;
}

function numbersOf(query: Query, series: readonly Series[]): number[] {
  if (query.name === 'last100' || query.name === 'latest') return series.flatMap(samplesOfSeries);
  if (!isOfEach(query.name))
    return (series[0]?.values ?? []).map((row) => Number(row[1] ?? Number.NaN));
  const byDevice = new Map(
    series.map((each) => [each.tags?.['device'], Number(each.values[0]?.[1])]),
  );
  return query.devices.map((device) => byDevice.get(deviceName(device)) ?? Number.NaN);
}

function samplesOfSeries(series: Series): number[] {
  const at = (name: string): number => series.columns.indexOf(name);
  const numeric = ['time', 'temperature', 'humidity', 'co2', 'batteryLevel', 'occupied'].map(at);
  const label = at('label');
  return series.values.flatMap((row) => [
    ...numeric.map((column) => Number(row[column])),
    labels.indexOf(row[label] as (typeof labels)[number]),
  ]);
}
