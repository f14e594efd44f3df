// Line protocol: the same writes to the platform and to InfluxDB 1, in turns, durable before each answer.
// node bench/line-protocol.ts [--samples 300000] [--batch 1000] [--lanes 4] [--rounds 3] [--write]
import { parseArgs } from 'node:util';
import { type HttpTarget, inLanes, mustSucceed, openConnections } from './load/http.ts';
import { createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';
import { encodeLines, startInfluxdb } from './peers/influxdb.ts';
import { deviceName, deviceOrdered, minutesPerDay, workloadW } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    samples: { type: 'string', default: '300000' },
    batch: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '4' },
    devices: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const [samples, batch, lanes, devices, rounds] = [
  Number(flags.samples),
  Number(flags.batch),
  Number(flags.lanes),
  Number(flags.devices),
  Number(flags.rounds),
];
const shape = { ...workloadW, devices, days: (samples * rounds) / devices / minutesPerDay };
const mapping = { device: ['{device}'], topic: '{topic}' };

interface Run {
  readonly perSecond: number;
  /** Of the server. */
  readonly processorUs: number;
}

interface Writer {
  readonly path: string;
  readonly target: HttpTarget;
  readonly processorUs: () => number;
}

const text = await inTemporaryFolder('influxdb', (folder) =>
  withPlatform({}, (platform) => measured(platform, folder)),
);
publish('Line protocol', text);

async function measured(platform: Platform, peerFolder: string): Promise<string[]> {
  const influxdb = await startInfluxdb(peerFolder);
  try {
    const flow = await createFlow(platform, 'function consume() {}');
    const path = `/v3/device-connectors/${flow.connectorId}`;
    await platform.call('PUT', path, { lineProtocol: mapping });
    const names = Array.from({ length: devices }, (_, i) => deviceName(i));
    await createDevices(platform, flow, names);
    const query = 'db=bench&precision=ms';
    const own = { path: `/write?${query}&p=${flow.uplinkSecret}`, target: platform.target };
    const us: Writer = { ...own, processorUs: () => platform.server.processorUs() };
    const peer = { path: `/write?${query}`, target: influxdb.target };
    const them: Writer = { ...peer, processorUs: influxdb.processorUs };
    return report(await inTurns([us, them]));
  } finally {
    await influxdb.stop();
  }
}

/** Each round writes samples that are later than those of the round before. */
async function inTurns(writers: readonly Writer[]): Promise<Run[][]> {
  const runs: Run[][] = writers.map(() => []);
  const all = [...deviceOrdered(shape, batch)];
  const perRound = Math.ceil(all.length / rounds);
  for (let round = 0; round < rounds; round++) {
    const columns = all.slice(round * perRound, (round + 1) * perRound);
    for (const [i, writer] of writers.entries()) {
      const requests = columns.map((one) => encodeLines(one, writer.path));
      runs[i]?.push(await sent(writer, requests));
    }
  }
  return runs;
}

async function sent({ target, processorUs }: Writer, requests: readonly Buffer[]): Promise<Run> {
  const connections = await openConnections(target, lanes);
  const usBefore = processorUs();
  const startMs = performance.now();
  await inLanes(
    connections,
    requests,
    async (connection, request) => void mustSucceed(await connection.send(request)),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  const used = processorUs() - usBefore;
  for (const connection of connections) connection.close();
  return { perSecond: (requests.length * batch) / seconds, processorUs: used };
}

function report([ours = [], theirs = []]: readonly Run[][]): string[] {
  const row = (what: string, runs: readonly Run[]): string[] => [
    what,
    figure(median(runs.map(({ perSecond }) => perSecond))),
    `${figure(median(runs.map(({ processorUs }) => (processorUs * rounds) / samples / rounds)))} us`,
  ];
  return [
    `${figure(samples)} lines of ${devices} devices a round, six fields each, in requests of ${batch}, ${lanes} at a time; ${rounds} rounds, the two in turns, medians. The generator is a process on the same machine.`,
    markdownTable(
      ['what', 'lines a second', 'processor a line'],
      [row('Heliograph, durable', ours), row('InfluxDB 1, fsynced WAL', theirs)],
    ),
  ];
}
