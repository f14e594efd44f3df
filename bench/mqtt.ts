// MQTT: thousands of open connections, and QoS 1 publishes per second, decoded and fsynced before the PUBACK.
// node bench/mqtt.ts [--seconds 10] [--in-flight 256] [--connections 2000] [--edges 0] [--write]
import process from 'node:process';
import { parseArgs } from 'node:util';
import { hexDecoder, hexPayload } from './load/hex-decoder.ts';
import { type MqttStormResult, runMqttStorm } from './load/mqtt-storm.ts';
import {
  countSamples,
  createDevices,
  createFlow,
  type Platform,
  withPlatform,
} from './load/platform.ts';
import { freePort } from './load/server-process.ts';
import { figure, markdownTable, publish, summarize, verdict } from './load/measure.ts';
import { deviceName, timeOrdered, workloadW } from './load/workload.ts';

const goal = { connections: 2_000, perSecond: 6_000, p99Ms: 100 };
const messagesPerConnection = 10;

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '256' },
    connections: { type: 'string', default: '2000' },
    edges: { type: 'string', default: '0' },
    write: { type: 'boolean', default: false },
  },
});
const connections = Number(flags.connections);

interface Measured extends MqttStormResult {
  readonly stored: number;
  readonly idleMiB: number;
  readonly loadedMiB: number;
  /** Of the platform for each publish, with the connections. */
  readonly processorUs: number;
  /** The part of the main thread. */
  readonly mainUs: number;
}

const measured = await storm();
publish('MQTT', report(measured));
if (measured.stored !== measured.acknowledged) {
  console.error(
    `${measured.acknowledged} publishes were acknowledged and ${measured.stored} samples are there`,
  );
  process.exitCode = 1;
}

async function storm(): Promise<Measured> {
  const port = await freePort();
  return withPlatform({ MQTT_PORT: String(port), EDGES: flags.edges }, async (platform) => {
    const flow = await createFlow(platform, hexDecoder, { connectivity: 'MQTT' });
    const names = Array.from({ length: connections }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    const idleMiB = memoryMiB(platform);
    const { server } = platform;
    const [startedUs, startedMainUs] = [server.processorUs(), server.mainThreadUs()];
    const result = await runMqttStorm({
      port,
      userName: flow.connectorId,
      password: flow.uplinkSecret,
      connections,
      messages: messagesOf(flow.uplinkSecret),
      inFlight: Number(flags['in-flight']),
      warmSeconds: Number(flags.warm),
      seconds: Number(flags.seconds),
    });
    const processorUs = (server.processorUs() - startedUs) / result.acknowledged;
    const mainUs = (server.mainThreadUs() - startedMainUs) / result.acknowledged;
    const loadedMiB = memoryMiB(platform);
    return {
      ...result,
      processorUs,
      mainUs,
      // Every acknowledged publish must be there, once.
      stored: await countSamples(platform, ids),
      idleMiB,
      loadedMiB,
    };
  });
}

function memoryMiB({ server }: Platform): number {
  return server.residentBytes() / 1024 / 1024;
}

/** Message `i` is of device `i` modulo the devices: each connection speaks for one device. */
function messagesOf(secret: string): { topic: string; payload: string }[] {
  const messages: { topic: string; payload: string }[] = [];
  for (const sample of timeOrdered({ ...workloadW, devices: connections, days: 1_000 }, 1)) {
    const topic = `/up/${secret}/id/${deviceName(messages.length % connections)}`;
    messages.push({ topic, payload: hexPayload(sample) });
    if (messages.length === connections * messagesPerConnection) break;
  }
  return messages;
}

function report(result: Measured): string[] {
  const { p50Ms, p99Ms, maxMs } = summarize(result.durationsMs);
  const isMet =
    result.open >= goal.connections && result.perSecond >= goal.perSecond && p99Ms < goal.p99Ms;
  const rows = [
    ['connections held', figure(result.open)],
    ['connections made a second', figure(connections / result.connectSeconds)],
    ['QoS 1 publishes a second, decoded and durable', figure(result.perSecond)],
    ['processor time of a publish', `${figure(result.processorUs)} us`],
    ['of that the main thread', `${figure(result.mainUs)} us`],
    ['publish to PUBACK, p50', `${figure(p50Ms)} ms`],
    ['publish to PUBACK, p99', `${figure(p99Ms)} ms`],
    ['publish to PUBACK, max', `${figure(maxMs)} ms`],
    ['resident before the connections', `${figure(result.idleMiB)} MiB`],
    ['resident afterwards', `${figure(result.loadedMiB)} MiB`],
  ];
  return [
    `${connections} connections of one device each, ${flags['in-flight']} publishes in flight, ${flags.seconds} s after ${flags.warm} s of warming; the generator is a thread on the same machine. EDGES=${flags.edges}.`,
    markdownTable(['what', 'measured'], rows),
    `Goal: ${figure(goal.connections)} connections, ${figure(goal.perSecond)}/s with p99 under ${goal.p99Ms} ms: ${verdict(isMet)}.`,
    `${result.acknowledged} acknowledged, ${result.stored} found by a query afterwards.`,
  ];
}
