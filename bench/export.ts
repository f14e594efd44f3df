// Export of all samples to a Parquet file: processor time and bytes a sample, beside hyparquet-writer with the same rows.
// node bench/export.ts [--samples 1000000] [--devices 100] [--rounds 3] [--format parquet] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { tellGoals } from './load/goals.ts';
import { inLanes, mustSucceed, openConnections } from './load/http.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';
import { createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import {
  dataAt,
  deviceName,
  minutesPerDay,
  type SampleColumns,
  timeOrdered,
  workloadW,
} from './load/workload.ts';
import { samplesRequest } from './peers/heliograph.ts';

const { values: flags } = parseArgs({
  options: {
    samples: { type: 'string', default: '1000000' },
    devices: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    format: { type: 'string', default: 'parquet' },
    write: { type: 'boolean', default: false },
  },
});
const samples = Number(flags.samples);
const devices = Number(flags.devices);
const shape = { ...workloadW, devices, days: samples / devices / minutesPerDay };
const batch = 1_000;
const lanes = 4;
const pollMs = 100;
/** Samples of a baseline: enough for two row groups. */
const baselineSamples = 30_000;

interface Run {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly bytes: number;
  /** Longest answer to a question for its progress, every 100 ms. */
  readonly answerMs?: number;
}

interface Export {
  readonly id: string;
  readonly state: string;
  readonly samples: number;
  readonly bytes: number;
}

const { runs, residentMiB } = await withPlatform({}, async (platform) => {
  await fill(platform);
  await quiet(platform);
  // The first one compiles the code.
  await exported(platform);
  const measured: Run[] = [];
  for (let i = 0; i < Number(flags.rounds); i++) measured.push(await exported(platform));
  return { runs: measured, residentMiB: platform.server.residentBytes() / 2 ** 20 };
});
const baselines = [stringified(), written()];

tellGoals([
  {
    what: `processor time of an exported sample, ${flags.format}`,
    figure: median(runs.map(({ cpuUs }) => cpuUs)) / baselines[1]!.cpuUs,
    of: 'hyparquet-writer with the same rows in memory',
    goal: 0.25,
    best: 'low',
  },
]);
publish('Export', [
  `${figure(samples)} samples of six values of ${devices} devices to ${flags.format}, median of ${flags.rounds}. Processor time of an export is that of the platform, all threads; baselines run in one thread over objects in memory, ${figure(baselineSamples)} samples.`,
  markdownTable(
    ['what', 'samples/s', 'us CPU a sample', 'bytes a sample'],
    [
      rowOf('export', {
        perSecond: median(runs.map(({ perSecond }) => perSecond)),
        cpuUs: median(runs.map(({ cpuUs }) => cpuUs)),
        bytes: median(runs.map(({ bytes }) => bytes)),
      }),
      rowOf('`JSON.stringify` of each sample', baselines[0]!),
      rowOf('hyparquet-writer, the same rows, snappy', baselines[1]!),
    ],
  ),
  `Resident memory afterwards: ${figure(residentMiB)} MiB. Longest answer to a question for the progress of an export: ${figure(median(runs.map(({ answerMs = 0 }) => answerMs)))} ms.`,
]);

function rowOf(name: string, { perSecond, cpuUs, bytes }: Run): string[] {
  return [name, figure(perSecond), figure(cpuUs), figure(bytes)];
}

async function fill(platform: Platform): Promise<void> {
  const flow = await createFlow(platform, '', { passThrough: true });
  const names = Array.from({ length: devices }, (_, i) => deviceName(i));
  const ids = await createDevices(platform, flow, names);
  const connections = await openConnections(platform.target, lanes);
  const requests: Buffer[] = [];
  for (const columns of timeOrdered(shape, batch))
    requests.push(samplesRequest(columns, ids, { isLines: false, key: undefined }));
  await inLanes(connections, requests, async (connection, request) => {
    mustSucceed(await connection.send(request));
  });
  for (const connection of connections) connection.close();
}

/** Resolves when the platform has sealed what came. */
async function quiet({ server }: Platform): Promise<void> {
  for (let before = -1; server.processorUs() - before > 10_000; ) {
    before = server.processorUs();
    await delay(1_000);
  }
}

async function exported({ call, server, workspaceId }: Platform): Promise<Run> {
  const startMs = performance.now();
  const startUs = server.processorUs();
  const { id } = await call<Export>('POST', '/v3/exports', { workspaceId, format: flags.format });
  for (let answerMs = 0; ; ) {
    const askedMs = performance.now();
    const found = await call<Export>('GET', `/v3/exports/${id}`);
    answerMs = Math.max(answerMs, performance.now() - askedMs);
    if (found.state === 'RUNNING') {
      await delay(pollMs);
      continue;
    }
    if (found.state !== 'COMPLETE' || found.samples !== samples)
      throw new Error(`The export is ${found.state} with ${found.samples} samples`);
    const tookMs = performance.now() - startMs;
    const cpuUs = (server.processorUs() - startUs) / samples;
    await call('DELETE', `/v3/exports/${id}`);
    return { perSecond: (samples * 1_000) / tookMs, cpuUs, bytes: found.bytes / samples, answerMs };
  }
}

/** Runs the work twice and measures the second time. */
function baseline(work: (columns: SampleColumns) => number): Run {
  const [columns] = timeOrdered(shape, baselineSamples);
  if (columns === undefined) throw new Error('The workload has no samples');
  work(columns);
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const bytes = work(columns) / columns.length;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = (columns.length * 1_000) / (performance.now() - startMs);
  return { perSecond, cpuUs: (user + system) / columns.length, bytes };
}

function stringified(): Run {
  return baseline((columns) => {
    let bytes = 0;
    for (let i = 0; i < columns.length; i++) {
      const deviceId = deviceName(columns.device[i]!);
      const timestamp = columns.timestamp[i]!;
      bytes += JSON.stringify({ timestamp, deviceId, data: dataAt(columns, i) }).length;
    }
    return bytes;
  });
}

function written(): Run {
  return baseline((columns) => {
    const rows = {
      time: [] as bigint[],
      device_id: [] as string[],
      key: [] as string[],
      number: [] as (number | null)[],
      text: [] as (string | null)[],
      boolean: [] as (boolean | null)[],
    };
    for (let i = 0; i < columns.length; i++)
      for (const [key, value] of Object.entries(dataAt(columns, i))) {
        rows.time.push(BigInt(columns.timestamp[i]!));
        rows.device_id.push(deviceName(columns.device[i]!));
        rows.key.push(key);
        rows.number.push(typeof value === 'number' ? value : null);
        rows.text.push(typeof value === 'string' ? value : null);
        rows.boolean.push(typeof value === 'boolean' ? value : null);
      }
    const file = parquetWriteBuffer({
      columnData: [
        { name: 'time', data: rows.time, type: 'TIMESTAMP', nullable: false },
        { name: 'device_id', data: rows.device_id, type: 'STRING', nullable: false },
        { name: 'key', data: rows.key, type: 'STRING', nullable: false },
        { name: 'number', data: rows.number, type: 'DOUBLE' },
        { name: 'text', data: rows.text, type: 'STRING' },
        { name: 'boolean', data: rows.boolean, type: 'BOOLEAN' },
      ],
    });
    return file.byteLength;
  });
}
