// ClickHouse 18.16: tab-separated rows over HTTP in and out; one wide table with fixed columns, hours by a materialized view.
import { mkdirSync, writeFileSync } from 'node:fs';
import { freePort, type RunningServer, startServer } from '../load/server-process.ts';
import { httpRequest, mustSucceed, openConnection, openPatientConnection } from '../load/http.ts';
import { isOfEach, type Query, type QueryName, dayMs, hourMs, lastSamples } from './queries.ts';
import {
  type SampleColumns,
  type WorkloadShape,
  deviceName,
  labels,
  textsAt,
} from '../load/workload.ts';
import { openHttpLanes } from './http-lanes.ts';
import { openPeerServer } from './peer-server.ts';
import { type Engine, keepsHours, type Peer } from './peer.ts';

const optimizeTimeoutMs = 3_600_000;

export const clickhouse: Peer = {
  title: 'ClickHouse',
  released: '2018',
  packages: ['clickhouse-server', 'clickhouse-client'],
  program: '/usr/sbin/clickhouse-server',
  durability: 'NOT durable: this version has no fsync before the answer',
  model:
    'MergeTree with one fixed column per key, ordered by device and time; hourly aggregates by a materialized view on insert',
  exceptions: {},
  start,
};

const keys = ['temperature', 'humidity', 'co2', 'batteryLevel', 'occupied'] as const;

const schema = [
  `create table sample (device String, topic String, ts Int64, temperature Float64, humidity Float64, co2 Float64, batteryLevel Float64, occupied UInt8, label String)
    engine = MergeTree partition by intDiv(ts, 2592000000) order by (device, topic, ts)`,
  `create table hourly (device String, topic String, hour Int64, count AggregateFunction(count), ${keys.map(hourColumns).join(', ')})
    engine = AggregatingMergeTree partition by intDiv(hour, 2592000000) order by (device, topic, hour)`,
  `create materialized view hourly_fill to hourly as select device, topic, intDiv(ts, ${hourMs}) * ${hourMs} as hour, countState() as count,
    ${keys.map(hourStates).join(', ')} from sample group by device, topic, hour`,
];

function hourColumns(key: string): string {
  const type = key === 'occupied' ? 'UInt8' : 'Float64';
  return ['sum', 'min', 'max']
    .map((each) => `${each}_${key} AggregateFunction(${each}, ${type})`)
    .join(', ');
}

function hourStates(key: string): string {
  return ['sum', 'min', 'max'].map((each) => `${each}State(${key}) as ${each}_${key}`).join(', ');
}

async function start(folder: string, shape: WorkloadShape): Promise<Engine> {
  const [port, tcpPort, interserverPort] = [await freePort(), await freePort(), await freePort()];
  mkdirSync(`${folder}/data`);
  const config = `${folder}/config.xml`;
  writeFileSync(config, configuration(folder, { port, tcpPort, interserverPort }));
  const launch = (): RunningServer =>
    startServer({
      command: clickhouse.program,
      args: [`--config-file=${config}`],
      logPath: `${folder}/clickhouse.log`,
    });
  const target = { host: '127.0.0.1', port };
  const probe = async (): Promise<boolean> => {
    const trial = await openConnection(target);
    const answer = await trial.send(httpRequest('GET', '/ping', {}));
    trial.close();
    return answer.status === 200;
  };
  const server = await openPeerServer({
    launch,
    probe,
    connect: () => openPatientConnection(target, optimizeTimeoutMs),
  });
  const ask = async (sql: string): Promise<string[][]> => {
    const text = mustSucceed(
      await server.connection().send(httpRequest('POST', '/', keepAlive, sql)),
    ).toString();
    return text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => line.split('\t'));
  };
  // The first table is that of samples, the others keep hours.
  for (const statement of schema.slice(0, keepsHours(shape) ? schema.length : 1))
    await ask(statement);
  return {
    version: (await ask('select version()'))[0]![0]!,
    encode,
    openLanes: (count) => openHttpLanes(target, count),
    async settle() {
      await ask('optimize table sample final');
      if (keepsHours(shape)) await ask('optimize table hourly final');
      return 'merged into one part per partition (OPTIMIZE FINAL)';
    },
    async bytesAtRest() {
      const parts = await ask(
        `select sum(bytes_on_disk) from system.parts where active and database = 'default'`,
      );
      return { samples: Number(parts[0]![0]), log: 0 };
    },
    memoryBytes: server.memoryBytes,
    query: async (query) => numbersOf(query, await ask(statements[query.name](query))),
    restart: server.restart,
    stop: server.stop,
  };
}

const keepAlive = { Connection: 'keep-alive' };

function configuration(
  folder: string,
  ports: { port: number; tcpPort: number; interserverPort: number },
): string {
  return `<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <http_port>${ports.port}</http_port><tcp_port>${ports.tcpPort}</tcp_port>
  <interserver_http_port>${ports.interserverPort}</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
  <listen_host>127.0.0.1</listen_host><keep_alive_timeout>600</keep_alive_timeout>
  <path>${folder}/data/</path><tmp_path>${folder}/data/tmp/</tmp_path><mark_cache_size>1073741824</mark_cache_size>
  <users_config>${folder}/config.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
  <profiles><default><max_memory_usage>10000000000</max_memory_usage></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
`;
}

function encode(batch: SampleColumns): Buffer {
  let rows = '';
  for (let i = 0; i < batch.length; i++) {
    const { temperature, humidity, battery } = textsAt(batch, i);
    rows += `${deviceName(batch.device[i]!)}\tdefault\t${batch.timestamp[i]!}\t${temperature}\t${humidity}\t${batch.co2[i]!}\t${battery}\t${batch.occupied[i]!}\t${labels[batch.label[i]!]!}\n`;
  }
  return httpRequest(
    'POST',
    `/?query=${encodeURIComponent('insert into sample format TabSeparated')}`,
    keepAlive,
    rows,
  );
}

const hourlyAverage = 'sumMerge(sum_temperature) / countMerge(count)';

const statements: Record<QueryName, (query: Query) => string> = {
  last100: (query) => newest(query, lastSamples),
  latest: (query) => newest(query, 1),
  rawKpiSpan: (query) =>
    `select avg(temperature) from sample where ${some(query)} and ${times('ts', query)}`,
  rawKpi1000: (query) =>
    `select device, avg(temperature) from sample where ${some(query)} and ${times('ts', query)} group by device`,
  rawKpi24h: (query) =>
    `select avg(temperature) from sample where ${some(query)} and ${times('ts', query)}`,
  rawSeries24h: (query) =>
    `select avg(temperature) from sample where ${some(query)} and ${times('ts', query)} group by intDiv(ts, ${hourMs}) as bucket order by bucket`,
  hourlyKpi: (query) =>
    `select ${hourlyAverage} from hourly where ${some(query)} and ${times('hour', query)}`,
  hourlySeries: (query) =>
    `select ${hourlyAverage} from hourly where ${some(query)} and ${times('hour', query)} group by intDiv(hour, ${dayMs}) as bucket order by bucket`,
  rawSeries7d: (query) =>
    `select avg(temperature) from sample where ${some(query)} and ${times('ts', query)} group by intDiv(ts, ${dayMs}) as bucket order by bucket`,
  hourlySeries7d: (query) =>
    `select ${hourlyAverage} from hourly where ${some(query)} and ${times('hour', query)} group by hour order by hour`,
  latestEach: (query) =>
    `select device, argMax(temperature, ts) from sample where ${some(query)} group by device`,
  rawSum100: (query) =>
    `select sum(temperature) from sample where ${some(query)} and ${times('ts', query)}`,
  hourlyKpiAll: (query) =>
    `select device, ${hourlyAverage} from hourly where topic = 'default' and ${times('hour', query)} group by device`,
  averageAll: () => 'select avg(temperature) from sample',
};

function newest(query: Query, count: number): string {
  return `select ts, ${keys.join(', ')}, label from sample where ${some(query)} order by ts desc limit ${count}`;
}

function some({ devices }: Query): string {
  return `device in (${devices.map((each) => `'${deviceName(each)}'`).join(', ')}) and topic = 'default'`;
}

function times(
  column: string,
  { from, to }: { readonly from: number; readonly to: number },
): string {
  return `${column} >= ${from} and ${column} < ${to}`;
}

function numbersOf(query: Query, rows: readonly (readonly string[])[]): number[] {
  if (isOfEach(query.name)) {
    const byDevice = new Map(rows.map(([device, value]) => [device, Number(value)]));
    return query.devices.map((device) => byDevice.get(deviceName(device)) ?? Number.NaN);
  }
  if (query.name !== 'last100' && query.name !== 'latest')
    return rows.map(([value]) => Number(value));
  return rows.flatMap((row) => [
    ...row.slice(0, 6).map(Number),
    labels.indexOf(row[6] as (typeof labels)[number]),
  ]);
}
