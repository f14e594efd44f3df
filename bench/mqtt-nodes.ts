// MQTT on two nodes: cost and delay of a publish, at the node of the workspace and through the other one.
// node bench/mqtt-nodes.ts [--seconds 5] [--in-flight 64] [--devices 200] [--rounds 3]
import process from 'node:process';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { leaseOfWorkspace } from '../src/cluster/leases/leases.ts';
import type { TestCluster } from '../tests/world/cluster.ts';
import type { MqttDevice } from '../tests/world/mqtt-world.ts';
import { hexDecoder, hexPayload } from './load/hex-decoder.ts';
import { runMqttStorm } from './load/mqtt-storm.ts';
import { figure, markdownTable, summarize } from './load/measure.ts';
import { timeOrdered, workloadW } from './load/workload.ts';

// The world reads it when it is imported.
process.env['RECORDS'] = 'postgres';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '64' },
    devices: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
  },
});
const ways = ['the node of the workspace', 'the other node'] as const;
const messagesPerDevice = 10;

interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of both nodes and the generator, which share a process. */
  readonly processorUs: number;
}

const { default: startRecords } = await import('../tests/servers/records-cluster.ts');
const { startCluster } = await import('../tests/world/cluster.ts');
const { createMqttDevice } = await import('../tests/world/mqtt-world.ts');
const stopRecords = await startRecords();
const cluster = await startCluster();
try {
  const { devices, ports } = await devicesOfHolder(cluster);
  const rounds = new Map<string, Round[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < Number(flags.rounds); round++)
    for (const [node, way] of ways.entries())
      rounds.get(way)?.push(await measure(ports[node] ?? 0, devices));
  console.log(report(rounds, devices.length));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await cluster.close();
  await stopRecords?.();
}
process.exit();

/** Devices of the node that holds their workspace, and the MQTT ports of that node and of the other. */
async function devicesOfHolder({ world, recordsUrl, nodeUrls, mqttPorts }: TestCluster) {
  const first = await createMqttDevice(world, 1, { script: hexDecoder });
  const devices = [first];
  for (let n = 2; n <= Number(flags.devices); n++)
    devices.push(await createMqttDevice(world, n, { beside: first, script: hexDecoder }));
  const client = new pg.Client({ connectionString: recordsUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string; url: string }>(
    'select l.name, n.url from leases l join nodes n on n.id = l.node',
  );
  await client.end();
  const urlOf = new Map(rows.map(({ name, url }) => [name, url]));
  const holder = urlOf.get(leaseOfWorkspace(world.workspaceId)) ?? '';
  return {
    devices,
    ports: nodeUrls[0] === holder ? mqttPorts : mqttPorts.toReversed(),
  };
}

async function measure(port: number, devices: readonly MqttDevice[]): Promise<Round> {
  const [first] = devices;
  if (first === undefined) throw new Error('The node of the workspace owns no device');
  const before = process.cpuUsage();
  const result = await runMqttStorm({
    port,
    userName: first.connectorId,
    password: first.secret,
    connections: devices.length,
    messages: messagesOf(devices),
    inFlight: Number(flags['in-flight']),
    warmSeconds: 1,
    seconds: Number(flags.seconds),
  });
  const { user, system } = process.cpuUsage(before);
  const { p50Ms, p99Ms } = summarize(result.durationsMs);
  const processorUs = (user + system) / result.acknowledged;
  return { perSecond: result.perSecond, p50Ms, p99Ms, processorUs };
}

/** Message `i` is of device `i` modulo the devices: each connection speaks for one device. */
function messagesOf(devices: readonly MqttDevice[]): { topic: string; payload: string }[] {
  const messages: { topic: string; payload: string }[] = [];
  const workload = { ...workloadW, devices: devices.length, days: 1_000 };
  for (const sample of timeOrdered(workload, 1)) {
    const { secret = '', deviceId = '' } = devices[messages.length % devices.length] ?? {};
    messages.push({ topic: `/up/${secret}/id/${deviceId}`, payload: hexPayload(sample) });
    if (messages.length === devices.length * messagesPerDevice) break;
  }
  return messages;
}

function report(rounds: ReadonlyMap<string, readonly Round[]>, devices: number): string {
  const rows = [...rounds].flatMap(([way, all]) =>
    all.map(({ perSecond, processorUs, p50Ms, p99Ms }) => [
      way,
      figure(perSecond),
      `${figure(processorUs)} us`,
      `${figure(p50Ms)} ms`,
      `${figure(p99Ms)} ms`,
    ]),
  );
  return [
    `${devices} devices of the node that holds their workspace, one connection each, ${flags['in-flight']} publishes of QoS 1 in flight, ${flags.seconds} s. Both nodes and the generator share a process.`,
    markdownTable(['connected to', 'publishes a second', 'processor time', 'p50', 'p99'], rows),
  ].join('\n\n');
}
