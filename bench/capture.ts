// Single captures, synced before the answer, against a bare node:http server that parses and syncs: decoded, or passed through.
// node bench/capture.ts [--pass-through] [--seconds 10] [--in-flight 64] [--devices 1000]
// [--raw-uplinks P7D] [--edges 0] [--write]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { withBareServer } from './load/bare-server.ts';
import { captureRequests } from './load/capture-requests.ts';
import { type Goal, isReached, tellGoals } from './load/goals.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { countSamples, createDevices, createFlow, withPlatform } from './load/platform.ts';
import { runStorm, type Storm, type StormResult } from './load/request-storm.ts';
import type { RunningServer } from './load/server-process.ts';
import { figure, markdownTable, publish, summarize, verdict } from './load/measure.ts';
import { deviceName } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    'pass-through': { type: 'boolean', default: false },
    'raw-uplinks': { type: 'string', default: 'P7D' },
    edges: { type: 'string', default: '0' },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(flags.devices);
const passThrough = flags['pass-through'];
const what = passThrough ? 'passed through' : 'decoded';
const p99MsMax = 50;
const storm = {
  inFlight: Number(flags['in-flight']),
  warmSeconds: Number(flags.warm),
  seconds: Number(flags.seconds),
};

const before = await bareStorm();
const ours = await captureStorm();
const after = await bareStorm();
const goals = goalsOf();
tellGoals(goals);
publish(passThrough ? 'Single captures, passed through' : 'Single captures', report());
if (ours.stored !== ours.accepted) {
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

function bareStorm(): Promise<Measured> {
  return withBareServer('durable', (server, target) =>
    measuredStorm(server, {
      ...storm,
      target,
      requests: captureRequests('0'.repeat(32), devices, passThrough),
    }),
  );
}

function captureStorm(): Promise<Measured & { readonly stored: number }> {
  const settings = { RAW_UPLINK_RETENTION: flags['raw-uplinks'], EDGES: flags.edges };
  return withPlatform(settings, async (platform) => {
    const script = passThrough ? 'function consume() {}' : hexDecoder;
    const flow = await createFlow(platform, script, { passThrough });
    const names = Array.from({ length: devices }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    const { server, target } = platform;
    const requests = captureRequests(flow.uplinkSecret, devices, passThrough);
    const result = await measuredStorm(server, { ...storm, target, requests });
    // Every acknowledged capture must be there.
    return { ...result, stored: await countSamples(platform, ids) };
  });
}

/** On a quiet machine the bare server takes 21 us: the goals are 95 and 50 us, and 14,000 a second. */
function goalsOf(): Goal[] {
  const bareUs = (before.processorUs + after.processorUs) / 2;
  const barePerSecond = (before.perSecond + after.perSecond) / 2;
  const of = 'the bare server that parses and syncs';
  const cost: Goal = {
    what: `capture, ${what}: processor time`,
    figure: ours.processorUs / bareUs,
    of,
    goal: passThrough ? 2.4 : 4.5,
    best: 'low',
  };
  if (passThrough) return [cost];
  const rate = ours.perSecond / barePerSecond;
  return [cost, { what: `capture, ${what}: rate`, figure: rate, of, goal: 0.37, best: 'high' }];
}

function report(): string[] {
  const barePerSecond = (before.perSecond + after.perSecond) / 2;
  const head = ['what', 'per second', 'of the bare server', 'CPU', 'p50', 'p99', 'max', 'refused'];
  const rows = [
    row('bare node:http, JSON, synced', before, barePerSecond),
    row(`capture, ${what}, durable`, ours, barePerSecond),
    row('bare node:http, again', after, barePerSecond),
  ];
  const isMet = goals.every(isReached) && summarize(ours.durationsMs).p99Ms < p99MsMax;
  return [
    `${devices} devices, ${storm.inFlight} requests in flight over keep-alive connections, ${storm.seconds} s after ${storm.warmSeconds} s of warming; the generator is a thread on the same machine. Raw uplinks are kept for ${flags['raw-uplinks']}; EDGES=${flags.edges}.`,
    markdownTable(head, rows),
    `${goals.map((goal) => `${goal.what}: ${figure(goal.figure)} of ${goal.of}, goal ${goal.goal}`).join('; ')}; p99 under ${p99MsMax} ms: ${verdict(isMet)}.`,
    `${ours.accepted} acknowledged, ${ours.stored} found by a query afterwards.`,
  ];
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
