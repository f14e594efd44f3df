// Several nodes against one process: uplinks at their owner and through another node, queries, and ClickHouse asked directly.
// node bench/several-nodes.ts [--seconds 4] [--rounds 3] [--devices 200] [--write]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { leaseOfDevice } from '../src/leases/leases.ts';
import { hourMs } from '../src/model/instant.ts';
import { startClickHouseCluster } from '../tests/servers/clickhouse-cluster.ts';
import { startRecordsCluster } from '../tests/servers/records-cluster.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { httpRequest } from './load/http.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { freePort, inTemporaryFolder } from './load/server-process.ts';
import { conditions, figure, markdownTable, median, writeMeasurement } from './measure.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    devices: { type: 'string', default: '200' },
    'in-flight': { type: 'string', default: '64' },
    queries: { type: 'string', default: '40' },
    write: { type: 'boolean', default: false },
  },
});
const deviceCount = Number(flags.devices);
const rounds = Number(flags.rounds);
const queryRounds = Number(flags.queries);

/** History of each device: a sample every half hour, for so many days until the start of today. */
const historyDays = 30;
const samplesPerDay = 48;
const samplesPerRequest = 5_000;
const movedMsMax = 60_000;
const shippedMsMax = 180_000;

interface Side {
  readonly platform: Platform;
  readonly secret: string;
  /** Physical and service ids of its devices, in one order. */
  readonly names: readonly string[];
  readonly ids: readonly string[];
}

await inTemporaryFolder('several-nodes', async (folder) => {
  const ends: (() => Promise<void>)[] = [];
  try {
    await measure(folder, ends);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
});

async function measure(folder: string, ends: (() => Promise<void>)[]): Promise<void> {
  const own = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const records = await startRecordsCluster({});
  ends.push(() => records.stop());
  const samples = await startClickHouseCluster(own('clickhouse'), { shards: 1, replicas: 1 });
  ends.push(() => samples.stop());
  const embedded = await startPlatform(own('embedded'));
  ends.push(() => embedded.stop());
  const nodes: Platform[] = [];
  const urls: string[] = [];
  for (const name of ['node-1', 'node-2']) {
    const url = `http://127.0.0.1:${await freePort()}`;
    const node = await startPlatform(own(name), {
      ...{ RECORDS_URL: records.url, SAMPLES_URL: samples.url, NODE_URL: url },
      CLUSTER_SECRET: 'the secret of all nodes of this bench',
      SECRETS_KEY: 'the key of the secrets of this bench',
    });
    ends.push(() => node.stop());
    nodes.push(node);
    urls.push(url);
  }
  const [first, second] = nodes as [Platform, Platform];
  const one = await sideOf(embedded);
  const several = await sideOf(first);
  const isOfFirst = await devicesOf(records.url, urls[0] ?? '', several.ids);
  const uplinks = await uplinkRows(one, several, isOfFirst, [first, second]);
  for (const { platform, ids } of [one, several]) await loadHistory(platform, ids);
  await shipped(nodes);
  const queries = await queryRows(one, several, isOfFirst, second);
  const direct = await directRows(several, samples.url);
  const text = `${conditions(folder)}

PostgreSQL 15 with its standard durability, ClickHouse 18.16 (one replica), two nodes and one embedded platform, all on this machine and started from the same program; ${deviceCount} devices on each side. Uplinks: single captures with a decoder, ${flags['in-flight']} in flight, ${rounds} rounds of ${flags.seconds} s in turns, medians; processor time is of the processes of the platform, with what they ship meanwhile. Queries: ${historyDays} days of ${samplesPerDay} samples a day and device, ${queryRounds} requests each in turns, medians.

${markdownTable(['uplinks', 'a second', 'processor each, us', 'to embedded'], uplinks)}

${markdownTable(['query', 'embedded, ms', 'at its owner, ms', 'to embedded', 'through another node, ms'], queries)}

${markdownTable(['query of many devices', 'Heliograph, ms', 'ClickHouse directly, ms', 'ratio'], direct)}`;
  console.log(text);
  if (flags.write) writeMeasurement('Several nodes', text);
}

async function sideOf(platform: Platform): Promise<Side> {
  const flow = await createFlow(platform, hexDecoder);
  const names = Array.from({ length: deviceCount }, (_, i) => `device-${i}`);
  const ids = await createDevices(platform, flow, names);
  return { platform, secret: flow.uplinkSecret, names, ids };
}

/** Whether the first node owns a device, when both have their share. */
async function devicesOf(
  recordsUrl: string,
  url: string,
  ids: readonly string[],
): Promise<(id: string) => boolean> {
  const client = new pg.Client(recordsUrl);
  await client.connect();
  try {
    const giveUpAt = performance.now() + movedMsMax;
    for (;;) {
      const { rows } = await client.query<{ name: string }>(
        `select l."name" from "leases" l join "nodes" n on n."id" = l."node" where n."url" = $1`,
        [url],
      );
      const held = new Set(rows.map(({ name }) => name));
      const share = ids.filter((id) => held.has(leaseOfDevice(id))).length / ids.length;
      if (share > 0.3 && share < 0.7) return (id) => held.has(leaseOfDevice(id));
      if (performance.now() > giveUpAt) throw new Error(`A node holds ${share} of the devices`);
      await wait(500);
    }
  } finally {
    await client.end();
  }
}

interface Measured {
  readonly perSecond: number;
  readonly us: number;
}

async function uplinkRows(
  one: Side,
  several: Side,
  isOfFirst: (id: string) => boolean,
  nodes: readonly Platform[],
): Promise<string[][]> {
  const all = () => true;
  const kinds: readonly (readonly [string, Side, (id: string) => boolean, readonly Platform[]])[] =
    [
      ['embedded', one, all, [one.platform]],
      ['at the owner', several, isOfFirst, nodes],
      ['through another node', several, (id) => !isOfFirst(id), nodes],
    ];
  const seen = kinds.map((): Measured[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [place, [, side, isSent, servers]] of kinds.entries())
      seen[place]?.push(await stormOn(side, isSent, servers));
  const of = (place: number, what: keyof Measured): number =>
    median((seen[place] ?? []).map((each) => each[what]));
  return kinds.map(([name], place) => [
    name,
    figure(of(place, 'perSecond')),
    figure(of(place, 'us')),
    `x${figure(of(place, 'us') / of(0, 'us'))}`,
  ]);
}

async function stormOn(
  { platform, secret, names, ids }: Side,
  isSent: (id: string) => boolean,
  servers: readonly Platform[],
): Promise<Measured> {
  const headers = { 'content-type': 'application/json' };
  const requests = names
    .filter((_, place) => isSent(ids[place] ?? ''))
    .map((name) => {
      const path = `/v3/capture?secret=${secret}&deviceId=${name}`;
      return httpRequest('POST', path, headers, '{"port":1,"payloadHex":"0108fd64"}');
    });
  const used = () => servers.reduce((sum, { server }) => sum + server.processorUs(), 0);
  const before = used();
  const result = await runStorm({
    ...{ target: platform.target, requests, inFlight: Number(flags['in-flight']) },
    ...{ warmSeconds: 1, seconds: Number(flags.seconds) },
  });
  if (Object.keys(result.refused).length > 0)
    throw new Error(`Uplinks are refused: ${JSON.stringify(result.refused)}`);
  return { perSecond: result.perSecond, us: (used() - before) / result.accepted };
}

const today = Math.floor(Date.now() / (24 * hourMs)) * 24 * hourMs;
const historyFrom = today - historyDays * 24 * hourMs;

async function loadHistory(platform: Platform, ids: readonly string[]): Promise<void> {
  let samples: object[] = [];
  const send = async (): Promise<void> => {
    if (samples.length > 0) await platform.call('POST', '/v3/samples/bulk', samples);
    samples = [];
  };
  const stepMs = (24 * hourMs) / samplesPerDay;
  for (const [place, deviceId] of ids.entries())
    for (let at = historyFrom; at < today; at += stepMs) {
      const temperature = 20 + Math.sin(place + at / hourMs) * 5;
      const data = { temperature, humidity: 50 + place / 10 };
      samples.push({ deviceId, topic: 'history', timestamp: new Date(at).toISOString(), data });
      if (samples.length === samplesPerRequest) await send();
    }
  await send();
}

async function shipped(nodes: readonly Platform[]): Promise<void> {
  const giveUpAt = performance.now() + shippedMsMax;
  for (;;) {
    const open = await Promise.all(nodes.map(openSamples));
    if (open.every((count) => count === 0)) return;
    if (performance.now() > giveUpAt) throw new Error(`Not shipped: ${open.join(', ')} samples`);
    await wait(500);
  }
}

async function openSamples({ target }: Platform): Promise<number> {
  const answer = await fetch(`http://${target.host}:${target.port}/metrics`);
  const text = await answer.text();
  return Number(/^heliograph_shipping_open_samples (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

const history = { topic: 'history', dataKey: 'temperature' };
const wholeMonth = {
  from: new Date(historyFrom).toISOString(),
  to: new Date(today).toISOString(),
};
const lastDay = { from: new Date(today - 24 * hourMs).toISOString(), to: wholeMonth.to };
const hourly = {
  ...{ ...history, accumulator: 'AVG', interval: wholeMonth, bucketInterval: 'PT1H' },
};

const deviceQueries: readonly (readonly [string, string, object])[] = [
  ['last 100 samples', '', { topic: 'history', limit: 100 }],
  [
    'one day of samples by PT30M',
    '/raw/time-series',
    { ...hourly, interval: lastDay, bucketInterval: 'PT30M' },
  ],
  ['30 days by PT1H', '/aggregated/hourly/time-series', hourly],
  ['30 days as one average', '/aggregated/hourly/kpi', { ...hourly, bucketInterval: undefined }],
];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function queryRows(
  one: Side,
  several: Side,
  isOfFirst: (id: string) => boolean,
  second: Platform,
): Promise<string[][]> {
  const owned = several.ids.filter(isOfFirst);
  const rows: string[][] = [];
  for (const [name, path, body] of deviceQueries) {
    const times: [number[], number[], number[]] = [[], [], []];
    for (let turn = -5; turn < queryRounds; turn++) {
      const ask = (platform: Platform, id = '') =>
        timed(() => platform.call('POST', `/v3/devices/${id}/query${path}`, body));
      const place = (turn + 5) % owned.length;
      const took = [
        await ask(one.platform, one.ids[place]),
        await ask(several.platform, owned[place]),
        await ask(second, owned[place]),
      ];
      if (turn >= 0) for (const [i, ms] of took.entries()) times[i]?.push(ms);
    }
    const [embedded, atOwner, elsewhere] = times.map(median) as [number, number, number];
    rows.push([
      ...[name, figure(embedded), figure(atOwner)],
      ...[`x${figure(atOwner / embedded)}`, figure(elsewhere)],
    ]);
  }
  return rows;
}

/** The same questions, as somebody would ask the tables. */
async function directRows({ platform, ids }: Side, url: string): Promise<string[][]> {
  const devices = ids.map((id) => `'${id}'`).join(', ');
  const range = `hourAt >= ${historyFrom} and hourAt < ${today}`;
  const questions: readonly (readonly [string, string, object, string])[] = [
    [
      `${ids.length} devices, 30 days by PT1H`,
      '/v3/devices/query/batch/aggregated/hourly/time-series',
      { ...hourly, deviceIds: ids },
      `select device, hourAt, sum(numSum) / sum(numericCount) as mean from hours
        where topic = 'history' and key = '"temperature"' and device in (${devices}) and ${range}
        group by device, hourAt order by device, hourAt format JSONCompact`,
    ],
    [
      `${ids.length} devices, 30 days as one average each`,
      '/v3/devices/query/batch/aggregated/hourly/kpi',
      { ...hourly, bucketInterval: undefined, deviceIds: ids },
      `select device, sum(numSum) / sum(numericCount) as mean from hours
        where topic = 'history' and key = '"temperature"' and device in (${devices}) and ${range}
        group by device order by device format JSONCompact`,
    ],
  ];
  const rows: string[][] = [];
  for (const [name, path, body, sql] of questions) {
    const times: [number[], number[]] = [[], []];
    for (let turn = -2; turn < Math.max(5, queryRounds / 4); turn++) {
      const took = [
        await timed(() => platform.call('POST', path, body)),
        await timed(() => askClickHouse(url, sql)),
      ];
      if (turn >= 0) for (const [i, ms] of took.entries()) times[i]?.push(ms);
    }
    const [ours, theirs] = times.map(median) as [number, number];
    rows.push([name, figure(ours), figure(theirs), `x${figure(ours / theirs)}`]);
  }
  return rows;
}

async function askClickHouse(url: string, sql: string): Promise<void> {
  const { origin, username, password, pathname } = new URL(url);
  const answer = await fetch(`${origin}/?database=${pathname.slice(1) || 'default'}`, {
    ...{ method: 'POST', body: sql },
    headers: {
      ...(username !== '' && { 'x-clickhouse-user': username }),
      ...(password !== '' && { 'x-clickhouse-key': password }),
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  if ((JSON.parse(text) as { rows: number }).rows === 0) throw new Error('ClickHouse found nothing');
}
