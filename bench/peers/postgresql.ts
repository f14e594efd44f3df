// PostgreSQL 15: COPY in, prepared statements out; one typed column per key under a primary key of series, time and sequence.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { type RunningServer, freePort, startServer } from '../load/server-process.ts';
import { isOfEach, type Query, type QueryName, dayMs, hourMs, lastSamples } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  deviceName,
  labels,
  textsAt,
} from '../load/workload.ts';
import { accountOf, folderBytes } from './debian-package.ts';
import { openPeerServer } from './peer-server.ts';
import { type Engine, keepsHours, type Peer } from './peer.ts';
import {
  type PostgresConnection,
  type Row,
  copyFrames,
  openPostgres,
  prepareFrames,
  queryFrame,
  runFrames,
} from './postgres-wire.ts';

const programs = '/usr/lib/postgresql/15/bin';

export const postgresql: Peer = {
  title: 'PostgreSQL',
  released: '2022',
  packages: ['postgresql-15', 'postgresql-client-15'],
  program: `${programs}/postgres`,
  durability: 'fsynced WAL (fsync and synchronous_commit on, the defaults)',
  model:
    'one typed column per key, primary key (series, ts, seq); hourly table of the five countable keys, filled after the load',
  exceptions: {},
  start,
};

const schema = `
create table series (id int primary key, device text not null, topic text not null, unique (device, topic));
create table sample (series int not null, ts bigint not null, seq smallint not null, temperature float8, humidity float8, co2 float8,
  "batteryLevel" float8, occupied boolean, label text, primary key (series, ts, seq));
create table hourly (series int not null, key text not null, hour bigint not null, count bigint not null, sum float8 not null,
  min float8 not null, max float8 not null, primary key (series, key, hour));`;

const fillHourly = `
insert into hourly select series, key, ts / ${hourMs} * ${hourMs}, count(*), sum(value), min(value), max(value) from sample,
  lateral (values ('temperature', temperature), ('humidity', humidity), ('co2', co2), ('batteryLevel', "batteryLevel"),
    ('occupied', occupied::int::float8)) as each (key, value)
  group by 1, 2, 3`;

const seriesOf = `(select id from series where device = $1 and topic = 'default')`;
const columns = 'temperature, humidity, co2, "batteryLevel", occupied, label';
const between = 'ts >= $2::bigint and ts < $3::bigint';
const hours = `series = ${seriesOf} and key = 'temperature' and hour >= $2::bigint and hour < $3::bigint`;
const many = 'series in (select id from series where device = any ($1::text[]))';

const statements: Record<QueryName, string> = {
  last100: `select ts, ${columns} from sample where series = ${seriesOf} order by ts desc, seq desc limit ${lastSamples}`,
  rawKpi24h: `select avg(temperature) from sample where series = ${seriesOf} and ${between}`,
  rawSeries24h: `select avg(temperature) from sample where series = ${seriesOf} and ${between} group by ts / ${hourMs} order by ts / ${hourMs}`,
  hourlyKpi: `select sum(sum) / sum(count) from hourly where ${hours}`,
  hourlySeries: `select sum(sum) / sum(count) from hourly where ${hours} group by hour / ${dayMs} order by hour / ${dayMs}`,
  rawSeries7d: `select avg(temperature) from sample where series = ${seriesOf} and ${between} group by ts / ${dayMs} order by ts / ${dayMs}`,
  hourlySeries7d: `select sum / count from hourly where ${hours} order by hour`,
  latestEach: `select id, newest.temperature from series, lateral (select ts, ${columns} from sample where series = id order by ts desc, seq desc limit 1) as newest
    where device = any ($1::text[]) and topic = 'default' and newest.ts >= $2::bigint and newest.ts < $3::bigint`,
  rawSum100: `select sum(temperature) from sample where ${many} and ${between}`,
  hourlyKpiAll: `select series, sum(sum) / sum(count) from hourly where ${many} and key = 'temperature' and hour >= $2::bigint and hour < $3::bigint group by series order by series`,
  averageAll: `select avg(temperature) from sample`,
  latest: `select ts, ${columns} from sample where series = ${seriesOf} order by ts desc, seq desc limit 1`,
  rawKpiSpan: `select avg(temperature) from sample where series = ${seriesOf} and ${between}`,
  rawKpi1000: `select series, avg(temperature) from sample where ${many} and ${between} group by series`,
};

async function start(folder: string, shape: WorkloadShape): Promise<Engine> {
  const port = await freePort();
  createCluster(folder);
  const open = (): Promise<PostgresConnection> => openPostgres(port, 'bench', 'postgres');
  const probe = async (): Promise<boolean> => {
    (await open()).close();
    return true;
  };
  const server = await openPeerServer({ launch: () => launch(folder, port), probe, connect: open });
  const ask = (sql: string): Promise<Row[]> => server.connection().exchange(queryFrame(sql));
  await ask(schema);
  const series = Array.from(
    { length: shape.devices },
    (_, i) => `(${i}, '${deviceName(i)}', 'default')`,
  );
  await ask(`insert into series values ${series.join(',')}; analyze series`);
  const prepare = async (): Promise<void> => {
    for (const [name, sql] of Object.entries(statements))
      await server.connection().exchange(prepareFrames(name, sql));
  };
  await prepare();
  return {
    version: (await ask('show server_version'))[0]![0]!.split(' ')[0]!,
    encode,
    async openLanes(count) {
      const lanes = await Promise.all(Array.from({ length: count }, open));
      for (const lane of lanes)
        await lane.exchange(
          prepareFrames('one', 'insert into sample values ($1, $2, 0, $3, $4, $5, $6, $7, $8)'),
        );
      return lanes.map((lane) => ({
        send: async (request) => void (await lane.exchange(request)),
        close: lane.close,
      }));
    },
    async settle() {
      const startMs = performance.now();
      if (keepsHours(shape)) await ask(fillHourly);
      const seconds = (performance.now() - startMs) / 1_000;
      await ask('vacuum analyze sample');
      await ask('vacuum analyze hourly');
      await ask('checkpoint');
      return `hourly table made afterwards in ${seconds.toFixed(1)} s; vacuumed; shared_buffers 1 GB`;
    },
    async bytesAtRest() {
      const tables = await ask(
        `select pg_total_relation_size('sample') + pg_total_relation_size('hourly')`,
      );
      return { samples: Number(tables[0]![0]), log: folderBytes(`${folder}/data/pg_wal`) };
    },
    memoryBytes: server.memoryBytes,
    query: async (query) =>
      numbersOf(
        query,
        await server.connection().exchange(runFrames(query.name, parametersOf(query))),
      ),
    async restart() {
      const startMs = await server.restart();
      await prepare();
      return startMs;
    },
    stop: server.stop,
  };
}

function createCluster(folder: string): void {
  const account = accountOf('postgres');
  const data = `${folder}/data`;
  mkdirSync(data);
  chmodSync(folder, 0o777);
  // The server writes its own folder, so that folder must be its own.
  if (account !== undefined) execFileSync('chown', [`${account.uid}:${account.gid}`, data]);
  const initialise = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
  execFileSync(`${programs}/initdb`, initialise, { stdio: 'ignore', ...account });
}

function launch(folder: string, port: number): RunningServer {
  const account = accountOf('postgres');
  const data = `${folder}/data`;
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '1GB',
    max_wal_size: '4GB',
  };
  return startServer({
    command: postgresql.program,
    args: [
      '-D',
      data,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    logPath: `${folder}/postgres.log`,
    stopSignal: 'SIGINT',
    ...(account === undefined ? {} : { account }),
  });
}

// One sample is one prepared insert, many are one COPY: each the quickest way for its size.
function encode(batch: SampleColumns): Buffer {
  if (batch.length === 1) {
    return runFrames('one', [
      String(batch.device[0]!),
      String(batch.timestamp[0]!),
      ...cellsAt(batch, 0),
    ]);
  }
  let rows = '';
  for (let i = 0; i < batch.length; i++) {
    rows += `${batch.device[i]!}\t${batch.timestamp[i]!}\t0\t${cellsAt(batch, i).join('\t')}\n`;
  }
  return copyFrames('copy sample from stdin', rows);
}

/** In the order of the columns. */
function cellsAt(batch: SampleColumns, row: number): string[] {
  const { temperature, humidity, battery } = textsAt(batch, row);
  const occupied = batch.occupied[row] === 1 ? 't' : 'f';
  return [
    temperature,
    humidity,
    String(batch.co2[row]!),
    battery,
    occupied,
    labels[batch.label[row]!]!,
  ];
}

function parametersOf({ name, devices, from, to }: Query): string[] {
  if (name === 'averageAll') return [];
  if (name === 'last100' || name === 'latest') return [deviceName(devices[0]!)];
  const many = name === 'rawSum100' || isOfEach(name);
  const which = many ? `{${devices.map(deviceName).join(',')}}` : deviceName(devices[0]!);
  return [which, String(from), String(to)];
}

function numbersOf(query: Query, rows: readonly Row[]): number[] {
  if (query.name === 'last100' || query.name === 'latest') return rows.flatMap(sampleNumbers);
  if (isOfEach(query.name)) {
    const bySeries = new Map(rows.map(([series, value]) => [Number(series), Number(value)]));
    return query.devices.map((device) => bySeries.get(device) ?? Number.NaN);
  }
  return rows.map(([value]) => Number(value));
}

function sampleNumbers(row: Row): number[] {
  const [ts, temperature, humidity, co2, battery, occupied, label] = row;
  const numbers = [ts, temperature, humidity, co2, battery].map(Number);
  return [...numbers, occupied === 't' ? 1 : 0, labels.indexOf(label as (typeof labels)[number])];
}
