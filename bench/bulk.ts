// Bulk over HTTP compared with InfluxDB in one run, by requests of one device and of many devices.
// node bench/bulk.ts [--samples 1000000] [--devices 1000,100000] [--lanes 4] [--rounds 1] [--only heliograph] [--lines] [--keys] [--node-options=--cpu-prof] [--write]
import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { existsSync } from 'node:fs';
import { deviceIdOf, multiplyDevices } from './load/device-copies.ts';
import { type Goal, tellGoals } from './load/goals.ts';
import { type HttpTarget, inLanes, mustSucceed, openConnections } from './load/http.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import { figure, markdownTable, publish, summarize } from './load/measure.ts';
import { type BulkForm, bulkRequest, samplesRequest } from './peers/heliograph.ts';
import { encodeLines, influxdb, startInfluxdb } from './peers/influxdb.ts';
import {
  deviceOrdered,
  minutesPerDay,
  type SampleColumns,
  timeOrdered,
  workloadW,
} from './load/workload.ts';

const batch = 1_000;
/** The first part of a run warms the server and is not timed. */
const warmShare = 0.2;
/** Devices made through the API; more are copies of them. */
const templates = 1_000;

const { values: flags } = parseArgs({
  options: {
    samples: { type: 'string', default: '1000000' },
    devices: { type: 'string', default: '1000,100000' },
    lanes: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'influxdb,heliograph' },
    'node-options': { type: 'string', default: '' },
    // Bodies of lines, and requests with an Idempotency-Key.
    lines: { type: 'boolean', default: false },
    keys: { type: 'boolean', default: false },
    // Without InfluxDB where it is not installed.
    installed: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const samples = Number(flags.samples);
const lanes = Number(flags.lanes);

interface Workload {
  readonly title: string;
  readonly devices: number;
  /** Whether each request is for one device. */
  readonly ofOneDevice: boolean;
}

interface Run {
  readonly perSecond: number;
  readonly cpuUsPerSample: number;
  readonly durationsMs: readonly number[];
  readonly load: number;
}

interface Server {
  readonly target: HttpTarget;
  processorUs(): number;
  stop(): Promise<void>;
}

/** What takes a workload: its title, its server and its requests. */
interface Contestant {
  readonly title: string;
  readonly takes: (workload: Workload) => boolean;
  readonly start: (folder: string, devices: number) => Promise<Server & { readonly ids: string[] }>;
  readonly encode: (columns: SampleColumns, ids: readonly string[]) => Buffer;
}

const contestants: Readonly<Record<string, readonly Contestant[]>> = {
  influxdb: [
    {
      title: 'InfluxDB, lines',
      takes: () => true,
      start: async (folder) => ({ ...(await startInfluxdb(folder)), ids: [] }),
      encode: (columns) => encodeLines(columns),
    },
  ],
  heliograph: [
    {
      title: 'Heliograph, one device a request',
      takes: ({ ofOneDevice }) => ofOneDevice,
      start: startOurs,
      encode: (columns, ids) => bulkRequest(columns, ids, bulkForm()),
    },
    {
      title: 'Heliograph, many devices a request',
      takes: () => true,
      start: startOurs,
      encode: (columns, ids) => samplesRequest(columns, ids, bulkForm()),
    },
  ],
};

const workloads = flags.devices.split(',').flatMap((count): Workload[] => {
  const devices = Number(count);
  const title = `${devices.toLocaleString('en-US')} devices`;
  const inTime = { title: `${title}, order of time`, devices, ofOneDevice: false };
  // Requests of one device are full only when there are enough samples of each.
  if (samples < devices * batch) return [inTime];
  return [{ title: `${title}, one after the other`, devices, ofOneDevice: true }, inTime];
});

const isSkipped = flags.installed && !existsSync(influxdb.program);
const names = flags.only.split(',').filter((name) => !(isSkipped && name === 'influxdb'));
const goals: Goal[] = [];
const rows: string[][] = [];
for (const workload of workloads) {
  const runs = new Map<Contestant, Run[]>();
  for (let round = 0; round < Number(flags.rounds); round++)
    for (const name of names)
      for (const contestant of contestants[name] ?? []) {
        if (!contestant.takes(workload)) continue;
        const run = await measured(contestant, workload);
        console.error(
          `${workload.title}: ${contestant.title}: ${figure(run.perSecond)}/s, ${figure(run.cpuUsPerSample)} us, load ${figure(run.load)}`,
        );
        runs.set(contestant, [...(runs.get(contestant) ?? []), run]);
      }
  rows.push(...rowsOf(workload, runs));
}
tellGoals(goals, isSkipped ? ['InfluxDB is skipped: it is not installed'] : []);
publish('Bulk over HTTP compared with InfluxDB', [
  `${figure(samples)} samples of six values in requests of ${batch}, ${lanes} in flight, acknowledged when synced; the first ${warmShare * 100} % warm. Requests are built before; the generator is one process for all. Processor time is that of the server, all threads.`,
  markdownTable(
    ['workload', 'server', 'samples/s', 'of InfluxDB', 'us a sample', 'p50', 'p99', 'load'],
    rows,
  ),
]);

function bulkForm(): BulkForm {
  return { isLines: flags.lines, key: flags.keys ? randomUUID() : undefined };
}

function rowsOf({ title }: Workload, runs: ReadonlyMap<Contestant, readonly Run[]>): string[][] {
  const mean = (of: readonly Run[], value: (run: Run) => number): number =>
    of.reduce((sum, run) => sum + value(run), 0) / of.length;
  const peer = runs.get(contestants['influxdb']![0]!);
  return [...runs].map(([contestant, of]) => {
    const perSecond = mean(of, (run) => run.perSecond);
    const ratio = peer === undefined ? Number.NaN : perSecond / mean(peer, (run) => run.perSecond);
    const { p50Ms, p99Ms } = summarize(of.flatMap((run) => run.durationsMs));
    if (peer !== undefined && of !== peer)
      goals.push({
        what: `samples a second: ${title}; ${contestant.title}`,
        figure: ratio,
        of: `InfluxDB (${influxdb.released})`,
        goal: 2,
        best: 'high',
      });
    return [
      title,
      contestant.title,
      figure(perSecond),
      figure(ratio),
      figure(mean(of, (run) => run.cpuUsPerSample)),
      `${figure(p50Ms)} ms`,
      `${figure(p99Ms)} ms`,
      figure(mean(of, (run) => run.load)),
    ];
  });
}

async function measured(contestant: Contestant, workload: Workload): Promise<Run> {
  return inTemporaryFolder('bulk', async (folder) => {
    const { devices, ofOneDevice } = workload;
    const server = await contestant.start(folder, devices);
    try {
      const shape = { ...workloadW, devices, days: samples / devices / minutesPerDay };
      const batches = ofOneDevice ? deviceOrdered(shape, batch) : timeOrdered(shape, batch);
      const requests: Buffer[] = [];
      for (const columns of batches) requests.push(contestant.encode(columns, server.ids));
      return await send(server, requests);
    } finally {
      await server.stop();
    }
  });
}

async function send(server: Server, requests: readonly Buffer[]): Promise<Run> {
  const connections = await openConnections(server.target, lanes);
  const warm = requests.slice(0, Math.floor(requests.length * warmShare));
  const timed = requests.slice(warm.length);
  const durationsMs: number[] = [];
  await inLanes(connections, warm, async (connection, request) => {
    mustSucceed(await connection.send(request));
  });
  const startUs = server.processorUs();
  const startMs = performance.now();
  await inLanes(connections, timed, async (connection, request) => {
    const sentMs = performance.now();
    mustSucceed(await connection.send(request));
    durationsMs.push(performance.now() - sentMs);
  });
  const seconds = (performance.now() - startMs) / 1_000;
  const count = timed.length * batch;
  for (const connection of connections) connection.close();
  return {
    perSecond: count / seconds,
    cpuUsPerSample: (server.processorUs() - startUs) / count,
    durationsMs,
    load: loadavg()[0]!,
  };
}

async function startOurs(folder: string, devices: number): Promise<Server & { ids: string[] }> {
  const settings = { NODE_OPTIONS: flags['node-options'] };
  let platform = await startPlatform(folder, settings);
  const flow = await createFlow(platform, 'function consume(event) {}');
  const made = Array.from({ length: Math.min(devices, templates) }, (_, i) => deviceIdOf(i));
  let ids = await createDevices(platform, flow, made);
  if (devices > templates) {
    await platform.stop();
    multiplyDevices(join(folder, 'data'), templates, devices);
    platform = await startPlatform(folder, settings);
    // Copies have random service ids: they are named by their physical ids.
    ids = Array.from({ length: devices }, (_, i) => deviceIdOf(i));
  }
  return { ...serverOf(platform), ids };
}

function serverOf({ target, server, stop }: Platform): Server {
  return { target, processorUs: server.processorUs, stop };
}
