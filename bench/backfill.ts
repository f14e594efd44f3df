// Bulk backfill over HTTP, fsynced before each answer, against a bare node:http server that parses the same bodies.
// node bench/backfill.ts [--samples 600000] [--batch 1000] [--lanes 4] [--write]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { withBareServer } from './load/bare-server.ts';
import { type HttpTarget, inLanes, mustSucceed, openConnections } from './load/http.ts';
import { countSamples, createDevices, createFlow, withPlatform } from './load/platform.ts';
import { figure, markdownTable, publish, summarize, verdict } from './load/measure.ts';
import { bulkRequest } from './peers/heliograph.ts';
import { deviceName, deviceOrdered, minutesPerDay, workloadW } from './load/workload.ts';

const goalPerSecond = 150_000;
const warmShare = 0.2;

interface Run {
  readonly perSecond: number;
  readonly durationsMs: readonly number[];
  readonly mebibytesPerSecond: number;
}

const { values: flags } = parseArgs({
  options: {
    samples: { type: 'string', default: '600000' },
    batch: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '4' },
    devices: { type: 'string', default: '60' },
    write: { type: 'boolean', default: false },
  },
});
const samples = Number(flags.samples);
const batch = Number(flags.batch);
const lanes = Number(flags.lanes);
const devices = Number(flags.devices);
const shape = { ...workloadW, devices, days: samples / devices / minutesPerDay };

const passThrough = 'function consume(event) { emit("sample", { data: event.data }); }';
const placeholders = Array.from({ length: devices }, (_, i) => deviceName(i).padStart(16, '0'));

const before = await bareRun();
const { run: ours, stored } = await platformRun();
const after = await bareRun();
publish('Bulk backfill', report());
if (stored !== samples) {
  console.error(`${samples} samples were acknowledged and ${stored} are there`);
  process.exitCode = 1;
}

function bareRun(): Promise<Run> {
  return withBareServer('parse', (_, target) => send(target, requests(placeholders)));
}

function platformRun(): Promise<{ readonly run: Run; readonly stored: number }> {
  return withPlatform({}, async (platform) => {
    const flow = await createFlow(platform, passThrough);
    const names = Array.from({ length: devices }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    const run = await send(platform.target, requests(ids));
    const toMs = shape.startMs + Math.ceil(shape.days) * 86_400_000;
    return { run, stored: await countSamples(platform, ids, { fromMs: shape.startMs, toMs }) };
  });
}

function requests(ids: readonly string[]): Buffer[] {
  const all: Buffer[] = [];
  for (const columns of deviceOrdered(shape, batch)) all.push(bulkRequest(columns, ids));
  return all;
}

/** The first part warms and is not timed. */
async function send(target: HttpTarget, all: readonly Buffer[]): Promise<Run> {
  const connections = await openConnections(target, lanes);
  const durationsMs: number[] = [];
  const warm = all.slice(0, Math.floor(all.length * warmShare));
  const timed = all.slice(warm.length);
  await inLanes(
    connections,
    warm,
    async (connection, request) => void mustSucceed(await connection.send(request)),
  );
  const startMs = performance.now();
  await inLanes(connections, timed, async (connection, request) => {
    const sentMs = performance.now();
    mustSucceed(await connection.send(request));
    durationsMs.push(performance.now() - sentMs);
  });
  const seconds = (performance.now() - startMs) / 1_000;
  for (const connection of connections) connection.close();
  const bytes = timed.reduce((sum, request) => sum + request.length, 0);
  return {
    perSecond: (samples * timed.length) / all.length / seconds,
    durationsMs,
    mebibytesPerSecond: bytes / 2 ** 20 / seconds,
  };
}

function report(): string[] {
  const barePerSecond = (before.perSecond + after.perSecond) / 2;
  const row = (what: string, run: Run): string[] => {
    const { p50Ms, p99Ms, maxMs } = summarize(run.durationsMs);
    return [
      what,
      figure(run.perSecond),
      `${figure(run.mebibytesPerSecond)} MiB/s`,
      figure(run.perSecond / barePerSecond),
      ...[p50Ms, p99Ms, maxMs].map((ms) => `${figure(ms)} ms`),
    ];
  };
  const head = ['what', 'samples a second', 'bodies', 'of the bare server', 'p50', 'p99', 'max'];
  const rows = [
    row('bare node:http, JSON.parse', before),
    row('bulk backfill, durable', ours),
    row('bare node:http, again', after),
  ];
  const reached = verdict(ours.perSecond >= goalPerSecond);
  return [
    `${figure(samples)} samples of ${devices} devices in requests of ${batch}, ${lanes} at a time; the first ${warmShare * 100} % warm. The generator is a process on the same machine.`,
    markdownTable(head, rows),
    `Goal: ${figure(goalPerSecond)} samples/s: ${reached}. ${samples} sent, ${stored} found by a query afterwards.`,
  ];
}
