// Idle connections: resident memory and processor time for each MQTT connection that has subscribed and is silent.
// node bench/connections.ts [--connections 2000] [--transport tcp|tls|webSocket] [--wait 20] [--at-once 50] [--write]
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../tests/servers/certificate.ts';
import { hexDecoder } from './load/hex-decoder.ts';
import { idleClients, type IdleConnections } from './load/idle-connections.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { freePort, inTemporaryFolder } from './load/server-process.ts';
import { figure, markdownTable, publish, verdict } from './load/measure.ts';
import { deviceName } from './load/workload.ts';

const goal = { connections: 20_000, megabytes: 600 };
const steps = 4;
/** Files that the platform has open apart from its connections, with some to spare. */
const ownFiles = 128;

const { values: flags } = parseArgs({
  options: {
    connections: { type: 'string', default: '2000' },
    transport: { type: 'string', default: 'tcp' },
    wait: { type: 'string', default: '20' },
    'at-once': { type: 'string', default: '50' },
    write: { type: 'boolean', default: false },
  },
});
const transport = flags.transport as IdleConnections['transport'];
const wanted = Number(flags.connections);
const connections = Math.min(wanted, openFilesMax() - ownFiles);

interface Step {
  readonly open: number;
  readonly bytes: number;
  readonly perSecond: number;
  /** Attempts to connect that failed and were repeated. */
  readonly failed: number;
  /** Processor time of the platform for each connection, microseconds. */
  readonly processorUs: number;
}

interface Measured {
  readonly before: number;
  readonly steps: readonly Step[];
  readonly after: number;
  readonly stillOpen: number;
}

publish(
  `Idle MQTT connections (${transport})`,
  report(await inTemporaryFolder('connections', measure)),
);

/** What this process may open is what the platform may open. */
function openFilesMax(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

async function measure(folder: string): Promise<Measured> {
  const [mqttPort, tlsPort] = [await freePort(), await freePort()];
  const { certPath, keyPath } = await makeCertificate(folder);
  const platform = await startPlatform(folder, {
    MQTT_PORT: String(mqttPort),
    ...(transport === 'tls' && {
      MQTT_TLS_PORT: String(tlsPort),
      MQTT_TLS_CERT: certPath,
      MQTT_TLS_KEY: keyPath,
    }),
    QUOTA_WEBSOCKETS: '1000000',
  });
  const clients = idleClients();
  try {
    const flow = await createFlow(platform, hexDecoder, { connectivity: 'MQTT' });
    const devices = Array.from({ length: connections }, (_, i) => deviceName(i));
    await createDevices(platform, flow, devices);
    await delay(Number(flags.wait) * 1_000);
    const before = platform.server.residentBytes();
    const { connectorId: userName, uplinkSecret: password } = flow;
    const port = { tcp: mqttPort, tls: tlsPort, webSocket: platform.target.port }[transport];
    const taken: Step[] = [];
    for (let step = 0; step < steps; step++) {
      const [from, to] = [step, step + 1].map((i) => Math.round((i * connections) / steps));
      const part = { devices: devices.slice(from, to), atOnce: Number(flags['at-once']) };
      const order = { transport, port, userName, password, ...part };
      taken.push(await stepOf(platform, () => clients.open(order), to! - from!, to!));
    }
    await delay(Number(flags.wait) * 1_000);
    const after = platform.server.residentBytes();
    return { before, steps: taken, after, stillOpen: await clients.stillOpen() };
  } finally {
    clients.stop();
    await platform.stop();
  }
}

async function stepOf(
  { server }: Platform,
  openThem: () => Promise<number>,
  count: number,
  open: number,
): Promise<Step> {
  const [startedMs, startedUs] = [performance.now(), server.processorUs()];
  const failed = await openThem();
  const perSecond = (1_000 * count) / (performance.now() - startedMs);
  const used = server.processorUs() - startedUs;
  return { open, bytes: server.residentBytes(), perSecond, failed, processorUs: used / count };
}

function report({ before, steps: taken, after, stillOpen }: Measured): string[] {
  const each = (bytes: number, open: number) => `${figure((bytes - before) / open / 1_024)} KiB`;
  const megabytes = (bytes: number) => `${figure(bytes / 1e6)} MB`;
  const rows = [
    ['none', megabytes(before), '', '', '', ''],
    ...taken.map((step) => [
      figure(step.open),
      megabytes(step.bytes),
      each(step.bytes, step.open),
      figure(step.perSecond),
      `${figure(step.processorUs)} us`,
      figure(step.failed),
    ]),
    [
      `${figure(stillOpen)}, ${flags.wait} s later`,
      megabytes(after),
      each(after, connections),
      '',
      '',
      '',
    ],
  ];
  const isMet =
    stillOpen >= Math.min(goal.connections, connections) && after < goal.megabytes * 1e6;
  const limited =
    connections < wanted ? ` The limit of open files allows ${connections} of ${wanted}.` : '';
  return [
    `${connections} connections over ${transport}, each logged in and subscribed for another device, then silent; ${flags['at-once']} made at a time.${limited}`,
    markdownTable(
      [
        'connections',
        'resident',
        'each',
        'made a second',
        'processor time each',
        'failed attempts',
      ],
      rows,
    ),
    `Goal: ${figure(goal.connections)} connections in less than ${goal.megabytes} MB: ${verdict(isMet)}.`,
  ];
}
