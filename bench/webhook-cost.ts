// Cost of a webhook output for captures: rates with and without one in alternation, and processor time per delivery.
// node bench/webhook-cost.ts [--rounds 3] [--seconds 5] [--warm 20] [--in-flight 64] [--devices 1000]
// [--pass-through] [--profile FOLDER] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type CountingWebhook, startCountingWebhook } from './load/counting-webhook.ts';
import { hexDecoder, hexPayload } from './load/hex-decoder.ts';
import { tellGoals } from './load/goals.ts';
import { httpRequest } from './load/http.ts';
import {
  createDevices,
  createFlow,
  type Platform,
  setOutputs,
  withPlatform,
} from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { figure, markdownTable, median, publish, verdict } from './load/measure.ts';
import type { RunningServer } from './load/server-process.ts';
import { deviceName, timeOrdered, workloadW } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    /** Before the first round, with the webhook: compilers take as much as the platform at first. */
    warm: { type: 'string', default: '20' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '1000' },
    'pass-through': { type: 'boolean', default: false },
    /** Where processor profiles of the threads of the platform are written when it stops. */
    profile: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(flags.devices);
const rounds = Number(flags.rounds);
const inFlight = Number(flags['in-flight']);
const storm = { inFlight, warmSeconds: 0, seconds: Number(flags.seconds) };
const requestsMax = 20_000;

interface Round {
  readonly perSecond: number;
  readonly captures: number;
  readonly deliveries: number;
  /** Deliveries that had arrived when the last capture was answered. */
  readonly inTime: number;
  /** Of the platform, on all threads, until the last delivery arrived. */
  readonly cpuMs: number;
  /** Of its main thread. */
  readonly mainMs: number;
  /** Of the thread of its HTTP client. */
  readonly httpMs: number;
  readonly caughtUpMs: number;
}

/** Of captures with a webhook to those without. */
const goal = 0.7;

const settings = {
  EGRESS_ALLOW: '127.0.0.0/8',
  ...(flags.profile !== undefined && {
    NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${flags.profile}`,
  }),
};
const hook = await startCountingWebhook();
try {
  await withPlatform(settings, async (platform) => {
    const flow = await createFlow(platform, hexDecoder);
    await createDevices(
      platform,
      flow,
      Array.from({ length: devices }, (_, i) => deviceName(i)),
    );
    const webhookProperties = { uri: hook.url };
    const body = { name: 'bench', workspaceId: platform.workspaceId, type: 'WEBHOOK' };
    const made = await platform.call<{ id: string }>('POST', '/v3/output-connectors', {
      ...body,
      webhookProperties,
    });
    const requests = captureRequests(flow.uplinkSecret);
    await setOutputs(platform, flow, [made.id], flags['pass-through']);
    await runStorm({ ...storm, target: platform.target, requests, seconds: Number(flags.warm) });
    await arrived(hook);
    const [without, withHook]: [Round[], Round[]] = [[], []];
    for (let i = 0; i < rounds; i++) {
      await setOutputs(platform, flow, [], flags['pass-through']);
      without.push(await round(platform, requests, hook));
      await setOutputs(platform, flow, [made.id], flags['pass-through']);
      withHook.push(await round(platform, requests, hook));
    }
    report(without, withHook);
  });
} finally {
  await hook.close();
}

async function round(
  { target, server }: Platform,
  requests: readonly Uint8Array[],
  hook: CountingWebhook,
): Promise<Round> {
  const [countBefore, cpuBefore] = [hook.count, server.processorUs()];
  const [mainBefore, httpBefore] = [server.mainThreadUs(), httpUs(server)];
  const { perSecond, accepted } = await runStorm({ ...storm, target, requests });
  const endMs = performance.now();
  const inTime = hook.count - countBefore;
  const lastMs = await arrived(hook);
  return {
    perSecond,
    captures: accepted,
    deliveries: hook.count - countBefore,
    inTime,
    cpuMs: (server.processorUs() - cpuBefore) / 1_000,
    mainMs: (server.mainThreadUs() - mainBefore) / 1_000,
    httpMs: (httpUs(server) - httpBefore) / 1_000,
    caughtUpMs: Math.max(0, lastMs - endMs - 100),
  };
}

/** Resolves with the time of the last delivery when none has come for a while. */
async function arrived(hook: CountingWebhook): Promise<number> {
  let lastMs = performance.now();
  for (let seen = -1, still = 0; still < 5; ) {
    still = seen === hook.count ? still + 1 : 0;
    if (still === 0) lastMs = performance.now();
    seen = hook.count;
    await delay(100);
  }
  return lastMs;
}

function httpUs(server: RunningServer): number {
  return server.threadsUs().get('http') ?? 0;
}

function captureRequests(secret: string): Buffer[] {
  const requests: Buffer[] = [];
  for (const sample of timeOrdered({ ...workloadW, devices, days: 1_000 }, 1)) {
    const path = `/v3/capture?secret=${secret}&deviceId=${deviceName(sample.device[0]!)}`;
    const body = flags['pass-through']
      ? JSON.stringify({ temperature: requests.length % 40, humidity: 50 })
      : hexPayload(sample);
    requests.push(httpRequest('POST', path, { 'content-type': 'application/json' }, body));
    if (requests.length === requestsMax) break;
  }
  return requests;
}

/** Microseconds of processor time; those of a delivery are what a round without output lacks. */
function costsOf(time: 'cpuMs' | 'mainMs' | 'httpMs', without: readonly Round[]) {
  const perCapture = (one: Round) => (one[time] * 1_000) / one.captures;
  const quietUs = median(without.map(perCapture));
  const perDelivery = (one: Round) =>
    (one[time] * 1_000 - quietUs * one.captures) / Math.max(1, one.deliveries);
  return { perCapture, perDelivery };
}

function report(without: readonly Round[], withHook: readonly Round[]): void {
  const all = costsOf('cpuMs', without);
  const main = costsOf('mainMs', without);
  const http = costsOf('httpMs', without);
  const row = (name: string, one: Round) => [
    name,
    figure(one.perSecond),
    figure(all.perCapture(one)),
    figure(main.perCapture(one)),
    figure(one.deliveries),
    figure(one.inTime / Number(flags.seconds)),
    one.deliveries === 0 ? '' : figure(all.perDelivery(one)),
    one.deliveries === 0 ? '' : figure(main.perDelivery(one)),
    one.deliveries === 0 ? '' : figure(http.perDelivery(one)),
    `${figure(one.caughtUpMs)} ms`,
  ];
  const rows = without.flatMap((one, i) => [
    row('no output', one),
    row('webhook', withHook[i] ?? one),
  ]);
  const ratio = median(withHook.map((one, i) => one.perSecond / (without[i]?.perSecond ?? 1)));
  const ofTime = median(without.map(all.perCapture)) / median(withHook.map(all.perCapture));
  tellGoals([
    {
      what: 'captures a second with a webhook',
      figure: ratio,
      of: 'those without an output',
      goal,
      best: 'high',
    },
    {
      what: 'captures in the same processor time with a webhook',
      figure: ofTime,
      of: 'those without an output',
      goal,
      best: 'high',
    },
  ]);
  const kind = flags['pass-through'] ? 'passed through' : 'decoded by a script';
  publish('Webhook outputs', [
    `Captures ${kind}, ${devices} devices, ${inFlight} in flight for ${flags.seconds} s; generator and target are threads on the same machine. Processor time is that of the platform until the last delivery arrived, on all threads and on its main thread.`,
    markdownTable(
      [
        'run',
        'captures/s',
        'us CPU a capture',
        'main thread',
        'deliveries',
        'in time/s',
        'us CPU a delivery',
        'main thread',
        'HTTP thread',
        'caught up after',
      ],
      rows,
    ),
    `With a webhook captures come at ${figure(ratio)} of their rate without, and the same processor time is enough for ${figure(ofTime)} of them (medians of ${rounds}; goal ${goal}: ${verdict(ratio >= goal)}). A delivery with its request takes ${figure(median(withHook.map(all.perDelivery)))} us, ${figure(median(withHook.map(main.perDelivery)))} of them on the main thread and ${figure(median(withHook.map(http.perDelivery)))} on that of the HTTP client.`,
  ]);
}
