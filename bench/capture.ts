// Single captures per second, fsynced before the answer, against a bare node:http server: decoded, or passed through.
// node bench/capture.ts [--pass-through] [--seconds 10] [--in-flight 64] [--devices 1000]
// [--raw-uplinks P7D] [--write]
import { tmpdir } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { bareServerCommand } from './load/bare-server.ts';
import { hexDecoder, hexPayload } from './load/hex-decoder.ts';
import { httpRequest } from './load/http.ts';
import {
  type BenchFlow,
  type Platform,
  createDevices,
  createFlow,
  platformMissing,
  startPlatform,
} from './load/platform.ts';
import { type Storm, type StormResult, runStorm } from './load/request-storm.ts';
import {
  freePort,
  inTemporaryFolder,
  type RunningServer,
  startServer,
  untilListening,
} from './load/server-process.ts';
import { conditions, figure, markdownTable, summarize, writeMeasurement } from './measure.ts';
import { dataJsonAt, deviceName, timeOrdered, workloadW } from './workload.ts';

const requestsMax = 20_000;
const idsPerCount = 1_000;

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    'pass-through': { type: 'boolean', default: false },
    'raw-uplinks': { type: 'string', default: 'P7D' },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(flags.devices);
const passThrough = flags['pass-through'];
/** Processor time is that of all threads of the platform, for one capture. */
const goal = passThrough
  ? { perSecond: 15_000, processorUs: 70, p99Ms: 50 }
  : { perSecond: 9_000, processorUs: 150, p99Ms: 50 };
const storm = {
  inFlight: Number(flags['in-flight']),
  warmSeconds: Number(flags.warm),
  seconds: Number(flags.seconds),
};

const before = await bareStorm();
const missing = platformMissing();
const ours = missing === undefined ? await inTemporaryFolder('capture', captureStorm) : undefined;
const after = ours === undefined ? before : await bareStorm();
const text = report();
console.log(text);
if (flags.write)
  writeMeasurement(passThrough ? 'Single captures, passed through' : 'Single captures', text);
if (ours !== undefined && ours.stored !== ours.accepted) {
  console.error(`${ours.accepted} captures were acknowledged and ${ours.stored} samples are there`);
  process.exitCode = 1;
}

interface Measured extends StormResult {
  readonly processorUs: number;
}

/** With the processor time of the server for one answer, those of the warm part included. */
async function measuredStorm(server: RunningServer, settings: Storm): Promise<Measured> {
  const before = server.processorUs();
  const result = await runStorm(settings);
  return { ...result, processorUs: (server.processorUs() - before) / result.accepted };
}

async function bareStorm(): Promise<Measured> {
  return inTemporaryFolder('bare', async (folder) => {
    const target = { host: '127.0.0.1', port: await freePort() };
    const server = startServer(bareServerCommand(folder, target.port));
    await untilListening(server, target.port);
    const requests = captureRequests('0'.repeat(32));
    const result = await measuredStorm(server, { ...storm, target, requests });
    await server.stop();
    return result;
  });
}

async function captureStorm(folder: string): Promise<Measured & { readonly stored: number }> {
  const platform = await startPlatform(folder, { RAW_UPLINK_RETENTION: flags['raw-uplinks'] });
  try {
    const script = passThrough ? 'function consume() {}' : hexDecoder;
    const flow: BenchFlow = await createFlow(platform, script, { passThrough });
    const names = Array.from({ length: devices }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    const everything: Storm = {
      ...storm,
      target: platform.target,
      requests: captureRequests(flow.uplinkSecret),
    };
    const result = await measuredStorm(platform.server, everything);
    return { ...result, stored: await storedSamples(platform, ids) };
  } finally {
    await platform.stop();
  }
}

/** What the platform finds when asked: every acknowledged capture must be there. */
async function storedSamples(platform: Platform, ids: readonly string[]): Promise<number> {
  const interval = {
    from: new Date(Date.now() - 86_400_000).toISOString(),
    to: new Date(Date.now() + 60_000).toISOString(),
  };
  let stored = 0;
  for (let i = 0; i < ids.length; i += idsPerCount) {
    const deviceIds = ids.slice(i, i + idsPerCount);
    const body = {
      deviceIds,
      topic: 'default',
      dataKey: 'temperature',
      accumulator: 'COUNT',
      interval,
    };
    const path = '/v3/devices/query/batch/raw/accumulated-kpi';
    stored += (await platform.call<{ kpi: number | null }>('POST', path, body)).kpi ?? 0;
  }
  return stored;
}

function captureRequests(secret: string): Buffer[] {
  const requests: Buffer[] = [];
  for (const sample of timeOrdered({ ...workloadW, devices, days: 1_000 }, 1)) {
    const path = `/v3/capture?secret=${secret}&deviceId=${deviceName(sample.device[0]!)}`;
    const body = passThrough ? dataJsonAt(sample, 0) : hexPayload(sample);
    requests.push(httpRequest('POST', path, { 'content-type': 'application/json' }, body));
    if (requests.length === requestsMax) break;
  }
  return requests;
}

function report(): string {
  const barePerSecond = (before.perSecond + after.perSecond) / 2;
  const rows = [row('bare node:http, answers 201', before, barePerSecond)];
  if (ours !== undefined) {
    rows.push(
      row(`capture, ${passThrough ? 'passed through' : 'decoded'}, durable`, ours, barePerSecond),
      row('bare node:http, again', after, barePerSecond),
    );
  }
  const head = ['what', 'per second', 'of the bare server', 'CPU', 'p50', 'p99', 'max', 'refused'];
  const lines = [
    conditions(tmpdir()),
    `${devices} devices, ${storm.inFlight} requests in flight over keep-alive connections, ${storm.seconds} s after ${storm.warmSeconds} s of warming; the generator is a thread on the same machine. Raw uplinks are kept for ${flags['raw-uplinks']}.`,
    markdownTable(head, rows),
  ];
  if (missing !== undefined) lines.push(missing);
  if (ours !== undefined) {
    const { p99Ms } = summarize(ours.durationsMs);
    const reached =
      ours.perSecond >= goal.perSecond &&
      ours.processorUs <= goal.processorUs &&
      p99Ms < goal.p99Ms;
    lines.push(
      `Goal: ${figure(goal.perSecond)}/s with at most ${goal.processorUs} us CPU and p99 under ${goal.p99Ms} ms: ${reached ? 'reached' : 'not reached'}.`,
    );
    lines.push(`${ours.accepted} acknowledged, ${ours.stored} found by a query afterwards.`);
  }
  return lines.join('\n\n');
}

function row(what: string, result: Measured, barePerSecond: number): string[] {
  const { p50Ms, p99Ms, maxMs } = summarize(result.durationsMs);
  const refused = Object.entries(result.refused).map(([status, count]) => `${count} x ${status}`);
  return [
    what,
    figure(result.perSecond),
    figure(result.perSecond / barePerSecond),
    `${figure(result.processorUs)} us`,
    ...[p50Ms, p99Ms, maxMs].map((ms) => `${figure(ms)} ms`),
    refused.join(', ') || 'none',
  ];
}
