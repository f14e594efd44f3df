// Captures a second with edge threads and without, in turns, and which thread is the busiest.
// node bench/edges.ts [--edges 0,1,2] [--rounds 3] [--seconds 4] [--warm 8] [--in-flight 64] [--devices 1000]
// [--pass-through] [--write]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { withBareServer } from './load/bare-server.ts';
import { captureRequests } from './load/capture-requests.ts';
import { tellGoals } from './load/goals.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { countSamples, createDevices, createFlow, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';
import { deviceName } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    edges: { type: 'string', default: '0,1,2' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    warm: { type: 'string', default: '8' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    'pass-through': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const passThrough = flags['pass-through'];
const devices = Number(flags.devices);
const seconds = Number(flags.seconds);
const inFlight = Number(flags['in-flight']);
/** Of one round. Processor time is for one capture. */
interface Round {
  readonly perSecond: number;
  readonly processorUs: number;
  readonly threadUs: ReadonlyMap<string, number>;
  readonly residentMiB: number;
}

const settings = flags.edges.split(',').map(Number);
const rounds = new Map<number, Round[]>(settings.map((edges) => [edges, []]));
const bare: number[] = [];
for (let round = 0; round < Number(flags.rounds); round++) {
  bare.push(await bareUs());
  for (const edges of settings) rounds.get(edges)?.push(await captureRound(edges));
}
publish(passThrough ? 'Edge threads, passed through' : 'Edge threads', report());

/** Processor time of one answer of a bare server. */
function bareUs(): Promise<number> {
  return withBareServer('durable', async (server, target) => {
    const requests = captureRequests('0'.repeat(32), devices, passThrough);
    await runStorm({ inFlight, warmSeconds: 0, seconds: 1, target, requests });
    const before = server.processorUs();
    const { accepted } = await runStorm({ inFlight, warmSeconds: 0, seconds, target, requests });
    return (server.processorUs() - before) / accepted;
  });
}

function captureRound(edges: number): Promise<Round> {
  return withPlatform({ EDGES: String(edges) }, async (platform) => {
    const script = passThrough ? 'function consume() {}' : hexDecoder;
    const flow = await createFlow(platform, script, { passThrough });
    const names = Array.from({ length: devices }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    const { server, target } = platform;
    const requests = captureRequests(flow.uplinkSecret, devices, passThrough);
    const warmed = await runStorm({
      inFlight,
      warmSeconds: 0,
      seconds: Number(flags.warm),
      target,
      requests,
    });
    const before = server.threadsUs();
    const measured = await runStorm({ inFlight, warmSeconds: 0, seconds, target, requests });
    const { accepted } = measured;
    const threadUs = new Map(
      [...server.threadsUs()].map(([name, us]) => [
        name,
        (us - (before.get(name) ?? 0)) / accepted,
      ]),
    );
    const stored = await countSamples(platform, ids);
    if (stored !== warmed.accepted + accepted) {
      console.error(`${warmed.accepted + accepted} were acknowledged and ${stored} are there`);
      process.exitCode = 1;
    }
    return {
      perSecond: accepted / seconds,
      processorUs: [...threadUs.values()].reduce((sum, us) => sum + us, 0),
      threadUs,
      residentMiB: server.residentBytes() / 2 ** 20,
    };
  });
}

/** Medians of a setting, microseconds. */
function threadsOf(edges: number) {
  const all = rounds.get(edges) ?? [];
  const of = (name: string) => median(all.map(({ threadUs }) => threadUs.get(name) ?? 0));
  const main = of('node-MainThread');
  // Edge threads share their work.
  const edge = edges === 0 ? 0 : of('edge') / edges;
  const script = of('script');
  return { main, edge, script, most: 1e6 / Math.max(main, edge, script) };
}

function report(): string[] {
  const bareMedian = median(bare);
  if (settings.includes(0) && settings.includes(2))
    tellGoals([
      {
        what: 'captures that the busiest thread allows with two edge threads',
        figure: threadsOf(2).most / threadsOf(0).most,
        of: 'those without edge threads',
        goal: 1.7,
        best: 'high',
      },
    ]);
  const rows = settings.map((edges) => {
    const all = rounds.get(edges) ?? [];
    const { main, edge, script, most } = threadsOf(edges);
    const processorUs = median(all.map((round) => round.processorUs));
    return [
      String(edges),
      figure(median(all.map(({ perSecond }) => perSecond))),
      `${figure(processorUs)} us`,
      figure(processorUs / bareMedian),
      `${figure(main)} us`,
      edges === 0 ? '' : `${figure(edge * edges)} us`,
      `${figure(script)} us`,
      figure(most),
      `${figure(median(all.map(({ residentMiB }) => residentMiB)))} MiB`,
    ];
  });
  return [
    `${devices} devices, ${inFlight} requests in flight over keep-alive connections; medians of ${flags.rounds} rounds of ${seconds} s, in turns, each after ${flags.warm} s of warming. Processor time is that of one capture, in all and by thread; a bare node:http server that parses and syncs takes ${figure(bareMedian)} us. The last but one column is what the busiest thread allows on a machine with enough cores. Every acknowledged capture was found by a query.`,
    markdownTable(
      [
        'EDGES',
        'per second',
        'CPU',
        'bare servers',
        'main thread',
        'edge threads',
        'script threads',
        'at most, per second',
        'resident',
      ],
      rows,
    ),
  ];
}
