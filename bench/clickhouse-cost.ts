// Cost of samples and raw uplinks in ClickHouse: processor time of the platform and of two replicas, and bytes.
// node bench/clickhouse-cost.ts [--samples 300000] [--write]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ClickHouseUplinks } from '../src/storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { openClickHouseSamples } from '../src/storage/samples/clickhouse/testing-clickhouse.ts';
import type { ClickHouse } from '../src/storage/clickhouse/clickhouse.ts';
import type { RawUplink } from '../src/model/uplink.ts';
import { missing } from '../src/structures/missing.ts';
import {
  type ClickHouseCluster,
  startClickHouseCluster,
} from '../tests/servers/clickhouse-cluster.ts';
import { entriesOf } from './load/workload-entries.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import { figure, markdownTable, publish } from './load/measure.ts';
import { dataAt, deviceName, timeOrdered, workloadW } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    samples: { type: 'string', default: '300000' },
    write: { type: 'boolean', default: false },
  },
});
const samplesMax = Number(flags.samples);
const batchSize = 1_000;
/** So much of the samples comes before the measurement. */
const warmShare = 0.2;
/** Of the processor times in /proc. */
const tickUs = 10_000;

interface Cost {
  readonly count: number;
  readonly seconds: number;
  /** Microseconds of processor time for each: of this process, of the two replicas. */
  readonly own: number;
  readonly replicas: readonly number[];
}

await inTemporaryFolder('clickhouse-cost', async (folder) => {
  const cluster = await startClickHouseCluster(folder, { shards: 1, replicas: 2 });
  try {
    await measure(folder, cluster);
  } finally {
    await cluster.stop();
  }
});

async function measure(folder: string, cluster: ClickHouseCluster): Promise<void> {
  const samples = await openClickHouseSamples({
    directory: folder,
    url: cluster.url,
    now: Date.now,
  });
  const { clickhouse } = samples;
  const entries = async (from: number, to: number): Promise<void> => {
    let at = 0;
    for (const batch of timeOrdered({ ...workloadW, days: 1 }, batchSize)) {
      if (at >= to) break;
      if (at >= from) await Promise.all(entriesOf(batch).map((entry) => samples.append(entry)));
      at += batch.length;
    }
  };
  const stored = await costOf(cluster, entries, () => samples.store.flushHours());
  const sampleBytes = await bytesOf(clickhouse, ['samples', 'points', 'hours', 'shapes']);
  const uplinks = await costOfUplinks(cluster, clickhouse);
  const uplinkBytes = await bytesOf(clickhouse, ['uplinks']);
  const rows = [
    rowOf('sample of six values', stored, sampleBytes / samplesMax),
    rowOf('raw uplink', uplinks, uplinkBytes / samplesMax),
  ];
  const { version } = clickhouse;
  await samples.close();
  const head = [
    'what',
    'a second',
    'platform, us',
    'replica that takes it, us',
    'other replica, us',
    'bytes on each replica',
  ];
  const words = `ClickHouse ${version}, one shard of two replicas, ZooKeeper, and the platform's store in the process of the bench, all on this machine. ${figure(samplesMax)} of each, of 1,000 devices in the order of time; the first ${warmShare * 100} % are not counted. Processor time is of all threads until everything was shipped, with the merges until then and not those of later days. The platform's part contains making the samples and its journal.`;
  publish('Samples in ClickHouse', [words, markdownTable(head, rows)], folder);
}

async function costOf(
  { shards }: ClickHouseCluster,
  send: (from: number, to: number) => Promise<void>,
  flush: () => Promise<void>,
): Promise<Cost> {
  const warm = samplesMax * warmShare;
  await send(0, warm);
  await flush();
  const servers = shards.flat().map(({ pid }) => pid);
  const before = servers.map(processorUs);
  const [own, startMs] = [process.cpuUsage(), performance.now()];
  await send(warm, samplesMax);
  await flush();
  const seconds = (performance.now() - startMs) / 1_000;
  const used = process.cpuUsage(own);
  const count = samplesMax - warm;
  return {
    count,
    seconds,
    own: (used.user + used.system) / count,
    replicas: servers.map((pid, i) => (processorUs(pid) - (before[i] ?? 0)) / count),
  };
}

async function costOfUplinks(cluster: ClickHouseCluster, clickHouse: ClickHouse): Promise<Cost> {
  const clock = { now: 0 };
  const store = await ClickHouseUplinks.open({
    clickHouse,
    shardOf: () => clickHouse.shards[0] ?? missing('shard'),
    journal: 1,
    position: 0,
    now: () => clock.now,
    retentionMs: 7 * 86_400_000,
    bytesMax: Number.POSITIVE_INFINITY,
    failed: (error) => console.error(error),
  });
  const send = async (from: number, to: number): Promise<void> => {
    let at = 0;
    for (const batch of timeOrdered({ ...workloadW, days: 1 }, batchSize)) {
      if (at >= to) break;
      const uplinks: RawUplink[] = [];
      for (let i = 0; i < batch.length; i++) {
        const deviceId = deviceName(batch.device[i] ?? 0);
        const [body, timestamp] = [dataAt(batch, i), batch.timestamp[i] ?? 0];
        clock.now = Math.max(clock.now, timestamp);
        uplinks.push({
          id: `a0b1c2d3-e4f5-4a6b-8c7d-${String(at + i).padStart(12, '0')}`,
          deviceId,
          position: at + i,
          receivedAt: timestamp,
          payload: { topic: null, timestamp: null, body: { ...body }, bodyBytes: 100 },
          samples: [{ deviceId, topic: 'default', timestamp, data: { ...body } }],
          duplicates: 0,
        });
      }
      if (at >= from) await store.add(uplinks, at + batch.length);
      at += batch.length;
    }
  };
  return costOf(cluster, send, async () => {
    clock.now += 60_000;
    await store.syncWhenDue();
  });
}

function processorUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

async function bytesOf({ shards }: ClickHouse, tables: readonly string[]): Promise<number> {
  const names = tables.map((name) => `'${name}'`).join(', ');
  const rows = await shards[0]?.select<{ size: number }>(
    `select sum(bytes_on_disk) as size from system.parts where active and database = currentDatabase() and table in (${names})`,
  );
  return rows?.[0]?.size ?? 0;
}

function rowOf(what: string, { count, seconds, own, replicas }: Cost, bytes: number): string[] {
  return [what, figure(count / seconds), figure(own), ...replicas.map(figure), figure(bytes)];
}
