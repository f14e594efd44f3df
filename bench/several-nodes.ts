// Several nodes against one process: uplinks at their owner and through another node, queries, and ClickHouse asked directly.
// node bench/several-nodes.ts [--seconds 4] [--rounds 3] [--devices 200] [--copies 1] [--write]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { leaseOfWorkspace } from '../src/cluster/leases/leases.ts';
import { startClickHouseCluster } from '../tests/servers/clickhouse-cluster.ts';
import { startRecordsCluster } from '../tests/servers/records-cluster.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { httpRequest } from './load/http.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { freePort, inTemporaryFolder } from './load/server-process.ts';
import {
  directRows,
  historyDays,
  keptDevices,
  loadHistory,
  queryRows,
  samplesPerDay,
  shipped,
  type Side,
} from './load/several-nodes-queries.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    devices: { type: 'string', default: '200' },
    'in-flight': { type: 'string', default: '64' },
    queries: { type: 'string', default: '40' },
    copies: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const deviceCount = Number(flags.devices);
const rounds = Number(flags.rounds);
const queryRounds = Number(flags.queries);

const movedMsMax = 60_000;

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
      RECORDS_URL: records.url,
      SAMPLES_URL: samples.url,
      NODE_URL: url,
      CLUSTER_SECRET: 'the secret of all nodes of this bench',
      SECRETS_KEY: 'the key of the secrets of this bench',
      JOURNAL_COPIES: flags.copies,
    });
    ends.push(() => node.stop());
    nodes.push(node);
    urls.push(url);
  }
  const [first, second] = nodes as [Platform, Platform];
  const one = await sideOf(embedded);
  const made = await sideOf(first);
  const isOfFirst = await holds(records.url, urls, leaseOfWorkspace(first.workspaceId));
  const [owner, other] = isOfFirst ? [first, second] : [second, first];
  const several = { ...made, platform: owner };
  const uplinks = await uplinkRows(one, several, other);
  for (const { platform, ids } of [one, several]) await loadHistory(platform, ids);
  await shipped(nodes);
  const queries = await queryRows(one, several, { other, queryRounds });
  const direct = await directRows(several, { url: samples.url, queryRounds });
  const text = `PostgreSQL 15 with its standard durability, ClickHouse 18.16 (one replica), two nodes with JOURNAL_COPIES=${flags.copies} and one embedded platform, all on this machine and started from the same program; ${deviceCount} devices on each side. Uplinks: single captures with a decoder, ${flags['in-flight']} in flight, ${rounds} rounds of ${flags.seconds} s in turns, medians; processor time is of the processes of the platform, with what they ship meanwhile. Queries: ${historyDays} days of ${samplesPerDay} samples a day and device, ${queryRounds} requests at most in turns, medians; first of devices that were not asked for before, then again of ${keptDevices} devices whose rows the owner keeps.

${markdownTable(['uplinks', 'a second', 'processor each, us', 'to embedded'], uplinks)}

${markdownTable(['query', 'embedded, ms', 'at its owner, ms', 'to embedded', 'through another node, ms', 'again: embedded, ms', 'at its owner, ms', 'to embedded', 'through another node, ms'], queries)}

${markdownTable(['query of many devices', 'Heliograph, ms', 'ClickHouse directly, ms', 'ratio'], direct)}`;
  publish(flags.copies === '1' ? 'Several nodes' : 'Several nodes with copies', [text], folder);
}

async function sideOf(platform: Platform): Promise<Side> {
  const flow = await createFlow(platform, hexDecoder);
  const names = Array.from({ length: deviceCount }, (_, i) => `device-${i}`);
  const ids = await createDevices(platform, flow, names);
  return { platform, secret: flow.uplinkSecret, names, ids };
}

/** Whether the first node holds the lease, when both have their share. */
async function holds(recordsUrl: string, urls: readonly string[], lease: string): Promise<boolean> {
  const client = new pg.Client(recordsUrl);
  await client.connect();
  try {
    const giveUpAt = performance.now() + movedMsMax;
    for (;;) {
      const { rows } = await client.query<{ name: string; url: string }>(
        `select l."name", n."url" from "leases" l join "nodes" n on n."id" = l."node"`,
      );
      const held = urls.map((url) => rows.filter((row) => row.url === url).length);
      if (held.every((count) => count > rows.length / 3))
        return rows.some(({ name, url }) => name === lease && url === urls[0]);
      if (performance.now() > giveUpAt) throw new Error(`The nodes hold ${held.join(' and ')}`);
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

async function uplinkRows(one: Side, several: Side, other: Platform): Promise<string[][]> {
  const nodes = [several.platform, other];
  const kinds: readonly (readonly [string, Side, readonly Platform[]])[] = [
    ['embedded', one, [one.platform]],
    ['at the owner', several, nodes],
    ['through another node', { ...several, platform: other }, nodes],
  ];
  const seen = kinds.map((): Measured[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [place, [, side, servers]] of kinds.entries())
      seen[place]?.push(await stormOn(side, servers));
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
  { platform, secret, names }: Side,
  servers: readonly Platform[],
): Promise<Measured> {
  const headers = { 'content-type': 'application/json' };
  const requests = names.map((name) => {
    const path = `/v3/capture?secret=${secret}&deviceId=${name}`;
    return httpRequest('POST', path, headers, '{"port":1,"payloadHex":"0108fd64"}');
  });
  const used = () => servers.reduce((sum, { server }) => sum + server.processorUs(), 0);
  const before = used();
  const result = await runStorm({
    target: platform.target,
    requests,
    inFlight: Number(flags['in-flight']),
    warmSeconds: 1,
    seconds: Number(flags.seconds),
  });
  if (Object.keys(result.refused).length > 0)
    throw new Error(`Uplinks are refused: ${JSON.stringify(result.refused)}`);
  return { perSecond: result.perSecond, us: (used() - before) / result.accepted };
}
