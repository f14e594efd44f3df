// Soak: mixed load for 15 minutes with figures per minute; fails when memory keeps growing.
// node bench/soak.ts [--minutes 15] [--rate 200]; with --minutes 2 it is the short form: is it flat
// after two fifths of the time?
import { parseArgs } from 'node:util';
import { databaseConnectorId } from '../src/model/ids.ts';
import { createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { freePort } from './load/server-process.ts';
import { startFlappingTarget } from './load/flapping-target.ts';
import { type SoakLoad, startSoakLoad } from './load/soak-load.ts';
import { median } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: { minutes: { type: 'string', default: '15' }, rate: { type: 'string', default: '200' } },
});
const minutes = Number(flags.minutes);
const rate = Number(flags.rate);
const devicesCount = 20;
const sampleEveryMs = 5_000;
/**
 * What memory may grow by from the middle part of the run to the last one: caches fill slowly, and
 * leaks do not stop.
 */
const growth = { share: 0.1, bytes: 32 * 1024 * 1024 } as const;
const script = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { ...event.data, count } });
}`;

interface Figures {
  readonly atMs: number;
  readonly rss: number;
  readonly heap: number;
  readonly descriptors: number;
  readonly loopP99Ms: number;
  readonly waiting: number;
}

const mqttPort = await freePort();
const target = await startFlappingTarget();
const settings = { MQTT_PORT: String(mqttPort), EGRESS_ALLOW: '127.0.0.0/8' };
try {
  await withPlatform(settings, soak);
} finally {
  await target.close();
}

async function soak(platform: Platform): Promise<void> {
  let load: SoakLoad | undefined;
  try {
    load = await startSoakLoad(platform, {
      ...(await setUp(platform, target.url)),
      mqttPort,
      rate,
    });
    const seen = await watch(platform, load);
    judge(seen);
  } finally {
    await load?.stop();
  }
}

/**
 * A scripted flow with devices, an output to the flapping target, rules on the devices, and a
 * connector for MQTT.
 */
async function setUp(platform: Platform, url: string) {
  type Made = { readonly id: string };
  const { workspaceId } = platform;
  const flow = await createFlow(platform, script);
  const webhookProperties = { uri: url, method: 'POST', headers: {}, authType: 'NONE' };
  const output = await platform.call<Made>('POST', '/v3/output-connectors', {
    name: 'flapping',
    workspaceId,
    scope: 'DATA_FLOW',
    type: 'WEBHOOK',
    webhookProperties,
  });
  const ids = await createDevices(
    platform,
    flow,
    Array.from({ length: devicesCount }, (_, i) => `soak-${i}`),
  );
  const mqtt = await platform.call<Made & { uplinkSecret: string }>(
    'POST',
    '/v3/device-connectors',
    {
      name: 'mqtt',
      workspaceId,
      connectivity: 'MQTT',
    },
  );
  const mqttFlow = await platform.call<Made>('POST', '/v3/data-flows', {
    name: 'mqtt',
    workspaceId,
    deviceConnector: { id: mqtt.id },
    deviceType: null,
    outputConnectors: [
      { id: databaseConnectorId, topic: '*' },
      { id: output.id, topic: '*' },
    ],
    passThrough: true,
  });
  const device = {
    name: 'mqtt',
    deviceId: 'soak-mqtt',
    workspaceId,
    dataFlowId: mqttFlow.id,
    connectivity: 'MQTT',
  };
  await platform.call('POST', '/v3/devices', device);
  for (const [i, id] of ids.slice(0, 6).entries()) await createRule(platform, id, i);
  return {
    ids,
    uplinkSecret: flow.uplinkSecret,
    mqtt: { userName: mqtt.id, password: mqtt.uplinkSecret },
  };
}

async function createRule(
  { call, workspaceId }: Platform,
  deviceId: string,
  i: number,
): Promise<void> {
  const source = {
    id: 's',
    inputIds: [deviceId],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
  };
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's' };
  const conditions = [
    { operandFirst, operator: 'GT', operandSecond: { type: 'CONSTANT', value: i * 5 } },
  ];
  const logic = {
    type: 'COMPARISON',
    dataSources: [source],
    logicBlocks: [{ conditions, actionIds: [] }],
  };
  const inputs = [{ id: deviceId, type: 'DEVICE' }];
  await call('POST', '/v3/rules', { name: `rule ${i}`, workspaceId, inputs, logic, actions: [] });
}

async function watch({ target }: Platform, load: SoakLoad): Promise<Figures[]> {
  const startedAt = performance.now();
  const seen: Figures[] = [];
  let printed = 0;
  for (let at = 0; at < minutes * 60_000; at = performance.now() - startedAt) {
    await new Promise((resolve) => void setTimeout(resolve, sampleEveryMs));
    const text = await (await fetch(`http://${target.host}:${target.port}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    seen.push({
      atMs: performance.now() - startedAt,
      rss: value('process_resident_memory_bytes'),
      heap: value('nodejs_heap_size_used_bytes'),
      descriptors: value('process_open_fds'),
      loopP99Ms: value('nodejs_eventloop_lag_p99_seconds') * 1_000,
      waiting: value('heliograph_deliveries_pending'),
    });
    if (Math.floor(seen.at(-1)!.atMs / 60_000) <= printed) continue;
    printed++;
    console.log(
      lineOf(
        printed,
        seen.filter(({ atMs }) => atMs >= (printed - 1) * 60_000),
        load,
      ),
    );
  }
  return seen;
}

function lineOf(minute: number, of: readonly Figures[], { counts }: SoakLoad): string {
  const { sent, failed } = counts();
  const [rss, heap] = (['rss', 'heap'] as const).map((name) =>
    mebibytes(median(of.map((one) => one[name]))),
  );
  const loop = Math.max(...of.map(({ loopP99Ms }) => loopP99Ms)).toFixed(0);
  const { descriptors, waiting } = of.at(-1)!;
  return `minute ${minute}: RSS ${rss} MiB, heap ${heap} MiB, descriptors ${descriptors}, loop p99 ${loop} ms, ${waiting} deliveries waiting, ${sent} sent, ${failed} failed`;
}

/** Compares the last third of the time with the middle one; the first belongs to warming up. */
function judge(seen: readonly Figures[]): void {
  const third = (from: number, to: number) =>
    seen.slice(Math.floor(seen.length * from), Math.floor(seen.length * to));
  const [middle, last] = [third(1 / 3, 2 / 3), third(2 / 3, 1)].map((of) =>
    median(of.map(({ rss }) => rss)),
  );
  const allowed = middle! * (1 + growth.share) + growth.bytes;
  const words = `RSS ${mebibytes(middle!)} MiB in the middle third, ${mebibytes(last!)} MiB in the last`;
  if (last! > allowed) throw new Error(`memory is not flat: ${words}`);
  const [before, after] = [third(1 / 3, 2 / 3), third(2 / 3, 1)].map((of) =>
    median(of.map((one) => one.descriptors)),
  );
  if (after! > before! * 1.2 + 10)
    throw new Error(`descriptors grow: ${before} in the middle third, ${after} in the last`);
  console.log(`flat: ${words}; descriptors ${before} and ${after}`);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}
