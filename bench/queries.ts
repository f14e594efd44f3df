// Queries a second of one client and of many, with edge threads and without, in turns, and what a query takes of each thread.
// node bench/queries.ts [--edges 0,2] [--clients 1,10,100] [--rounds 3] [--seconds 3] [--warm 4] [--devices 200]
// [--compressed] [--write]
import { parseArgs } from 'node:util';
import { tellGoals } from './load/goals.ts';
import { httpRequest } from './load/http.ts';
import { figure, markdownTable, median, publish, summarize } from './load/measure.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { history, loadHistory, untilToday } from './load/several-nodes-queries.ts';
import { deviceName } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    edges: { type: 'string', default: '0,2' },
    clients: { type: 'string', default: '1,10,100' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    warm: { type: 'string', default: '4' },
    devices: { type: 'string', default: '200' },
    /** As browsers ask for it. */
    compressed: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const settings = flags.edges.split(',').map(Number);
const clients = flags.clients.split(',').map(Number);
const seconds = Number(flags.seconds);
const [few, many] = [Math.min(...clients), Math.max(...clients)];

const days = (count: number) => ({ ...history, accumulator: 'AVG', interval: untilToday(count) });

/** The queries of one device that a dashboard makes. */
const deviceQueries: readonly (readonly [name: string, path: string, body?: object])[] = [
  ['the latest sample', `/latest-sample?topic=${history.topic}`],
  ['the last 100', '', { topic: history.topic, limit: 100 }],
  ['the average of a day', '/raw/kpi', days(1)],
  ['a day by hour', '/raw/time-series', days(1)],
  ['a week by day', '/aggregated/hourly/time-series', { ...days(7), bucketInterval: 'P1D' }],
  ['a week by hour', '/aggregated/hourly/time-series', days(7)],
];

/** Of a number of clients, of one round. Processor time is for one query. */
interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly processorUs: number;
  readonly threadUs: ReadonlyMap<string, number>;
}

interface Side {
  readonly platform: Platform;
  readonly requests: readonly Uint8Array[];
}

const rounds = new Map<string, Round[]>();
const roundsOf = (edges: number, count: number): Round[] => {
  const key = `${edges} ${count}`;
  const known = rounds.get(key) ?? [];
  rounds.set(key, known);
  return known;
};

await withSides(settings, [], async (sides) => {
  for (const side of sides) await storm(side, many, Number(flags.warm));
  for (let round = 0; round < Number(flags.rounds); round++)
    for (const count of clients)
      for (const [i, edges] of settings.entries()) {
        const side = sides[i];
        if (side !== undefined) roundsOf(edges, count).push(await storm(side, count, seconds));
      }
});
publish('Queries of many clients', report());

/** One platform for each setting, all with the same history; only one of them is asked at a time. */
function withSides(
  [edges, ...others]: readonly number[],
  sides: readonly Side[],
  work: (sides: readonly Side[]) => Promise<void>,
): Promise<void> {
  if (edges === undefined) return work(sides);
  return withPlatform({ EDGES: String(edges) }, async (platform) => {
    const flow = await createFlow(platform, 'function consume() {}', { passThrough: true });
    const names = Array.from({ length: Number(flags.devices) }, (_, i) => deviceName(i));
    const ids = await createDevices(platform, flow, names);
    await loadHistory(platform, ids);
    return withSides(others, [...sides, { platform, requests: ids.flatMap(requestsOf) }], work);
  });
}

function requestsOf(id: string): Uint8Array[] {
  const headers = {
    'x-api-key': apiKey,
    'content-type': 'application/json',
    ...(flags.compressed && { 'accept-encoding': 'gzip, deflate, br' }),
  };
  return deviceQueries.map(([, path, body]) =>
    body === undefined
      ? httpRequest('GET', `/v3/devices/${id}/query${path}`, headers)
      : httpRequest('POST', `/v3/devices/${id}/query${path}`, headers, JSON.stringify(body)),
  );
}

async function storm(
  { platform: { server, target }, requests }: Side,
  inFlight: number,
  duration: number,
): Promise<Round> {
  const before = server.threadsUs();
  const done = await runStorm({ inFlight, warmSeconds: 0, seconds: duration, target, requests });
  const { accepted, refused, perSecond, durationsMs } = done;
  if (Object.keys(refused).length > 0)
    throw new Error(`Queries were refused: ${JSON.stringify(refused)}`);
  const threadUs = new Map(
    [...server.threadsUs()].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / accepted]),
  );
  const { p50Ms, p99Ms } = summarize(durationsMs);
  const processorUs = [...threadUs.values()].reduce((sum, us) => sum + us, 0);
  return { perSecond, p50Ms, p99Ms, processorUs, threadUs };
}

function report(): string[] {
  const rateOf = (edges: number, count: number) =>
    median(roundsOf(edges, count).map(({ perSecond }) => perSecond));
  const without = Math.min(...settings);
  const best = Math.max(...settings.map((edges) => rateOf(edges, many)));
  tellGoals([
    {
      what: `queries a second of ${many} clients, with the best number of edge threads`,
      figure: best / rateOf(without, few),
      of: `those of ${few} without edge threads`,
      goal: 1.8,
      best: 'high',
    },
  ]);
  const rows = settings.flatMap((edges) =>
    clients.map((count) => {
      const all = roundsOf(edges, count);
      const of = (value: (round: Round) => number) => median(all.map(value));
      const thread = (name: string) => of(({ threadUs }) => threadUs.get(name) ?? 0);
      const busiestUs = Math.max(thread('node-MainThread'), thread('edge') / Math.max(edges, 1));
      return [
        String(edges),
        String(count),
        figure(rateOf(edges, count)),
        figure(rateOf(edges, count) / rateOf(without, few)),
        `${figure(of(({ p50Ms }) => p50Ms))} ms`,
        `${figure(of(({ p99Ms }) => p99Ms))} ms`,
        `${figure(of(({ processorUs }) => processorUs))} us`,
        `${figure(thread('node-MainThread'))} us`,
        edges === 0 ? '' : `${figure(thread('edge'))} us`,
        figure(1e6 / busiestUs),
      ];
    }),
  );
  const names = deviceQueries.map(([name]) => name).join(', ');
  return [
    `${flags.devices} devices with 30 days of a sample every half hour; in turn ${names}, of one device after the other${flags.compressed ? ', with compressed answers' : ''}. Medians of ${flags.rounds} rounds of ${seconds} s, in turns; the clients are one thread on the same machine. Processor time is that of the platform for one query, in all and by thread. The last column is what the busiest thread allows on a machine with enough cores.`,
    markdownTable(
      [
        'EDGES',
        'clients',
        'per second',
        'of one without edges',
        'p50',
        'p99',
        'CPU',
        'main thread',
        'edge threads',
        'at most, per second',
      ],
      rows,
    ),
  ];
}
