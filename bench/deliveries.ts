// Deliveries to a local webhook: rate, cost for captures, and cost of a target that hangs for its neighbor.
// node bench/deliveries.ts [--backlog 20000] [--seconds 5] [--in-flight 32] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { httpRequest, mustSucceed, openConnections } from './load/http.ts';
import {
  type BenchFlow,
  createDevices,
  createFlow,
  type Platform,
  setOutputs,
  withPlatform,
} from './load/platform.ts';
import { runStorm, type StormResult } from './load/request-storm.ts';
import { startWebhook, type Webhook } from './load/webhook.ts';
import { figure, markdownTable, publish, summarize, type Summary } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    backlog: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '32' },
    write: { type: 'boolean', default: false },
  },
});
const backlog = Number(flags.backlog);
const seconds = Number(flags.seconds);
const inFlight = Number(flags['in-flight']);
const devices = 100;
const pacedPerSecond = 100;
const bulkMax = 1_000;
const warmSeconds = 1;
const decoder = "function consume(event) { emit('sample', { data: event.data }); }";
const names = Array.from({ length: devices }, (_, i) => `bench-${i}`);

interface Delivered {
  readonly perSecond: number;
  readonly count: number;
}

const [good, hanging] = [await startWebhook(), await startWebhook({ answers: false })];
try {
  await withPlatform({ EGRESS_ALLOW: '127.0.0.0/8' }, async (platform) => {
    const flow = await createFlow(platform, decoder);
    const ids = await createDevices(platform, flow, names);
    const hook = await createHook(platform, good);
    const stuck = await createHook(platform, hanging);
    const without = await storm(platform, flow);
    await setOutputs(platform, flow, [hook]);
    const beside = await storm(platform, flow);
    const caughtUpMs = await caughtUp(good);
    const drained = await drain(platform, ids, good);
    const alone = await lag(platform, flow, good);
    await setOutputs(platform, flow, [hook, stuck]);
    const besideHanging = await lag(platform, flow, good);
    report({ without, beside, caughtUpMs, drained, alone, besideHanging });
  });
} finally {
  await good.close();
  await hanging.close();
}

async function createHook({ call, workspaceId }: Platform, { url }: Webhook): Promise<string> {
  const webhook = { name: 'bench', workspaceId, type: 'WEBHOOK', webhookProperties: { uri: url } };
  return (await call<{ id: string }>('POST', '/v3/output-connectors', webhook)).id;
}

function requestOf(secret: string, i: number): Buffer {
  const path = `/v3/capture?secret=${secret}&deviceId=${names[i % devices]}`;
  return httpRequest(
    'POST',
    path,
    { 'content-type': 'application/json' },
    JSON.stringify({ t: i % 100, i }),
  );
}

async function storm({ target }: Platform, { uplinkSecret }: BenchFlow): Promise<StormResult> {
  const requests = Array.from({ length: 10_000 }, (_, i) => requestOf(uplinkSecret, i));
  return runStorm({ target, requests, inFlight, warmSeconds, seconds });
}

/** From the end of a storm until the last of its deliveries has arrived. */
async function caughtUp({ arrivals }: Webhook): Promise<number> {
  const startMs = performance.now();
  for (let before = -1; before !== arrivals.length; ) {
    before = arrivals.length;
    await delay(500);
  }
  return Math.max(0, (arrivals.at(-1)?.atMs ?? startMs) - startMs);
}

/** Many samples in one request, and their deliveries from the first to the last. */
async function drain(
  { call }: Platform,
  ids: readonly string[],
  { arrivals }: Webhook,
): Promise<Delivered> {
  const before = arrivals.length;
  const each = Math.ceil(backlog / devices);
  const data = Array.from({ length: each }, (_, i) => ({
    data: { i },
    timestamp: new Date(Date.now() - (each - i) * 1_000).toISOString(),
  }));
  for (const id of ids) {
    for (let i = 0; i < each; i += bulkMax)
      await call('POST', `/v3/devices/${id}/backfill/bulk`, data.slice(i, i + bulkMax));
  }
  const count = each * devices;
  while (arrivals.length < before + count) await delay(50);
  const tookMs = arrivals.at(-1)!.atMs - arrivals[before]!.atMs;
  return { count, perSecond: (count * 1_000) / tookMs };
}

/** Uplinks at a steady rate: from their time of receipt until they arrive at the good target. */
async function lag(
  { target }: Platform,
  { uplinkSecret }: BenchFlow,
  { arrivals }: Webhook,
): Promise<Summary> {
  const before = arrivals.length;
  const total = pacedPerSecond * seconds;
  const startMs = performance.now();
  const connections = await openConnections(target, 4);
  for (let i = 0; i < total; i++) {
    const waitMs = startMs + (i * 1_000) / pacedPerSecond - performance.now();
    if (waitMs > 0) await delay(waitMs);
    mustSucceed(await connections[i % connections.length]!.send(requestOf(uplinkSecret, i)));
  }
  for (const connection of connections) connection.close();
  const giveUpMs = performance.now() + 30_000;
  while (arrivals.length < before + total) {
    if (performance.now() > giveUpMs)
      throw new Error(`${arrivals.length - before} of ${total} deliveries arrived`);
    await delay(20);
  }
  return summarize(arrivals.slice(before).map(({ lagMs }) => lagMs));
}

function report(measured: {
  readonly without: StormResult;
  readonly beside: StormResult;
  readonly caughtUpMs: number;
  readonly drained: Delivered;
  readonly alone: Summary;
  readonly besideHanging: Summary;
}): void {
  const { without, beside, caughtUpMs, drained, alone, besideHanging } = measured;
  const captures = (name: string, { perSecond, durationsMs }: StormResult) => {
    const { p50Ms, p99Ms, maxMs } = summarize(durationsMs);
    return [name, figure(perSecond), ...[p50Ms, p99Ms, maxMs].map((ms) => `${figure(ms)} ms`)];
  };
  const lags = (name: string, { p50Ms, p99Ms, maxMs }: Summary) => [
    name,
    ...[p50Ms, p99Ms, maxMs].map((ms) => `${figure(ms)} ms`),
  ];
  publish('Deliveries', [
    `${devices} devices, each sample decoded by a script and fsynced before its answer; generator and receivers are on the same machine.`,
    `Deliveries of ${figure(drained.count)} samples of a bulk backfill: ${figure(drained.perSecond)} per second, each written to the delivery log before and after its attempt.`,
    markdownTable(
      [`capture, ${inFlight} in flight for ${seconds} s`, 'per second', 'p50', 'p99', 'max'],
      [captures('no output', without), captures('with a webhook output', beside)],
    ),
    `The last delivery of that run came ${figure(caughtUpMs / 1_000)} s after its end.`,
    markdownTable(
      [`uplink to arrival at the webhook, ${pacedPerSecond} uplinks a second`, 'p50', 'p99', 'max'],
      [
        lags('the only output', alone),
        lags('with an output whose target never answers', besideHanging),
      ],
    ),
  ]);
}
