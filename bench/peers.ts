// Peers: the platform and four databases over their public interfaces, with the same samples and queries.
// node bench/peers.ts [--devices 1000] [--days 7] [--only heliograph,influxdb] [--order
// device|time] [--write]
import { parseArgs } from 'node:util';
import { type EngineResult, runEngines, type RunOptions } from './peers/engine-run.ts';
import { figure, markdownTable, publish } from './load/measure.ts';
import { engines, heliograph, namedPeers } from './peers/peer-table.ts';
import type { Peer } from './peers/peer.ts';
import { queryNames, queryTitles, referenceFor } from './peers/queries.ts';
import { samplesOf, workloadW } from './load/workload.ts';

interface Measured {
  readonly peer: Peer;
  readonly result: EngineResult;
}

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: String(workloadW.devices) },
    days: { type: 'string', default: String(workloadW.days) },
    only: { type: 'string', default: Object.keys(engines).join(',') },
    order: { type: 'string', default: 'device' },
    batch: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '4' },
    singles: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});

const options: RunOptions = {
  shape: { ...workloadW, devices: Number(flags.devices), days: Number(flags.days) },
  batch: Number(flags.batch),
  bulkLanes: Number(flags.lanes),
  singleLanes: Number(flags.singles),
  singleSeconds: Number(flags.seconds),
  warmUps: 2_000,
  order: flags.order === 'time' ? 'time' : 'device',
  queries: queryNames,
  say: (line) => console.error(line),
};

const reference = referenceFor(options.shape);
const { peers, skipped } = namedPeers(flags.only.split(','));
const { measured, failures } = await runEngines(peers, reference, options);
skipped.push(...failures);
publish(`Side by side over the network, ${options.order} order`, report(measured));

function report(all: readonly Measured[]): string[] {
  const { shape } = options;
  const scale = `${shape.devices} devices x ${shape.days} days, ${figure(samplesOf(shape))} samples`;
  const load = `bulk ${options.batch} samples a request, ${options.bulkLanes} in flight, ${options.order} order; singles ${options.singleLanes} in flight; queries one client, engines in turn, after 200 warm-up queries`;
  return [
    `Workload W: ${scale}; ${load}. In brackets: how many times better Heliograph is in the same run.`,
    all.length === 0 ? 'Nothing was measured.' : markdownTable(headOf(all), rowsOf(all)),
    all.map(({ peer, result }) => notesOf(peer, result)).join('\n'),
    ...skipped,
  ];
}

function headOf(all: readonly Measured[]): string[] {
  return [
    'what',
    ...all.map(({ peer, result }) => `${peer.title} ${result.version} (${peer.released})`),
  ];
}

function rowsOf(all: readonly Measured[]): string[][] {
  const row = (
    title: string,
    value: (result: EngineResult) => number,
    unit: string,
    more: 'better' | 'worse',
  ): string[] => {
    const ours = all.find(({ peer }) => peer === heliograph)?.result;
    return [
      title,
      ...all.map(({ peer, result }) =>
        cell(value(result), unit, more, peer === heliograph ? undefined : ours && value(ours)),
      ),
    ];
  };
  const p50 =
    (name: (typeof queryNames)[number]) =>
    (result: EngineResult): number => {
      const query = result.queries[name];
      return query === undefined || 'wrong' in query ? Number.NaN : query.durations.p50Ms;
    };
  return [
    row('bulk ingest', (result) => result.bulkPerSecond, 'samples/s', 'better'),
    row('bulk request p99', (result) => result.bulk.p99Ms, 'ms', 'worse'),
    row('single requests', ({ single }) => single?.perSecond ?? Number.NaN, '/s', 'better'),
    row('single request p99', ({ single }) => single?.durations.p99Ms ?? Number.NaN, 'ms', 'worse'),
    row('at rest: samples, hours, indexes', (result) => result.bytesPerSample, 'B/sample', 'worse'),
    row('at rest: log kept with them', (result) => result.logMiB, 'MiB', 'worse'),
    row('memory after the load', (result) => result.memoryMiB, 'MiB', 'worse'),
    row('start until the first answer', (result) => result.startMs, 'ms', 'worse'),
    ...queryNames.map((name) => row(`${queryTitles[name]}, p50`, p50(name), 'ms', 'worse')),
  ];
}

function cell(
  value: number,
  unit: string,
  more: 'better' | 'worse',
  ours: number | undefined,
): string {
  if (!Number.isFinite(value)) return 'n/a';
  const ratio = ours === undefined ? Number.NaN : more === 'better' ? ours / value : value / ours;
  return `${figure(value)} ${unit}${Number.isFinite(ratio) ? ` (x${figure(ratio)})` : ''}`;
}

function notesOf(peer: Peer, result: EngineResult): string {
  const wrong = queryNames.flatMap((name) => {
    const query = result.queries[name];
    return query !== undefined && 'wrong' in query
      ? [`${queryTitles[name]}: WRONG ANSWER, ${query.wrong}`]
      : [];
  });
  const exceptions = queryNames.flatMap((name) => {
    const exception = peer.exceptions[name];
    return exception === undefined ? [] : [`${queryTitles[name]}: ${exception.words}`];
  });
  const parts = [
    peer.durability,
    peer.model,
    result.settled,
    result.single?.note ?? '',
    ...exceptions,
    ...wrong,
  ];
  return `- ${peer.title}: ${parts.filter((part) => part !== '').join('; ')}.`;
}
