// Peers on a sparse fleet, and on queries of one device: all figures with the ratio to the best peer.
// Options: `--devices 10000 --days 2 --per-day 96 --one-devices 300 --one-days 8 --warm 2000 --only heliograph,influxdb --write`.
import { parseArgs } from 'node:util';
import { tellGoals } from './load/goals.ts';
import { figure, markdownTable, publish } from './load/measure.ts';
import { type EngineResult, runEngines, type RunOptions } from './peers/engine-run.ts';
import { engines, heliograph, namedPeers } from './peers/peer-table.ts';
import type { Peer } from './peers/peer.ts';
import { fleetQueryNames, type QueryName, queryTitles, referenceFor } from './peers/queries.ts';
import { samplesOf, type WorkloadShape, workloadW } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: '10000' },
    days: { type: 'string', default: '2' },
    'per-day': { type: 'string', default: '96' },
    'one-devices': { type: 'string', default: '300' },
    'one-days': { type: 'string', default: '8' },
    only: { type: 'string', default: Object.keys(engines).join(',') },
    batch: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '4' },
    warm: { type: 'string', default: '2000' },
    // Without the engines that are not installed, instead of installing them.
    installed: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const fleet: WorkloadShape = {
  ...workloadW,
  devices: Number(flags.devices),
  days: Number(flags.days),
  samplesPerDay: Number(flags['per-day']),
};
const busy: WorkloadShape = {
  ...workloadW,
  devices: Number(flags['one-devices']),
  days: Number(flags['one-days']),
};
const oneDeviceQueries: readonly QueryName[] = [
  'latest',
  'last100',
  'rawKpi24h',
  'rawSeries24h',
  'rawSeries7d',
  'hourlyKpi',
  'hourlySeries',
  'hourlySeries7d',
  'latestEach',
];

interface Measured {
  readonly peer: Peer;
  readonly result: EngineResult;
}

interface Row {
  readonly title: string;
  readonly unit: string;
  readonly more: 'better' | 'worse';
  readonly value: (result: EngineResult) => number;
}

const { peers, skipped: failures } = namedPeers(flags.only.split(','), flags.installed);

async function runAll(options: RunOptions): Promise<Measured[]> {
  const { measured, failures: failed } = await runEngines(
    peers,
    referenceFor(options.shape),
    options,
  );
  failures.push(...failed);
  return measured;
}

function optionsFor(
  shape: WorkloadShape,
  order: RunOptions['order'],
  queries: RunOptions['queries'],
): RunOptions {
  return {
    shape,
    order,
    queries,
    batch: Number(flags.batch),
    bulkLanes: Number(flags.lanes),
    singleLanes: 0,
    singleSeconds: 0,
    warmUps: Number(flags.warm),
    say: (line) => console.error(line),
  };
}

function rowsFor(queries: readonly QueryName[]): Row[] {
  return [
    {
      title: 'ingest, durable where the engine is',
      unit: 'samples/s',
      more: 'better',
      value: (result) => result.bulkPerSecond,
    },
    {
      title: 'bytes a sample at rest',
      unit: 'B',
      more: 'worse',
      value: (result) => result.bytesPerSample,
    },
    {
      title: 'memory after the load',
      unit: 'MiB',
      more: 'worse',
      value: (result) => result.memoryMiB,
    },
    {
      title: 'start until the first answer',
      unit: 'ms',
      more: 'worse',
      value: (result) => result.startMs,
    },
    ...queries.map((name): Row => {
      const value = ({ queries: timed }: EngineResult): number => {
        const query = timed[name];
        return query === undefined || 'wrong' in query ? Number.NaN : query.durations.p50Ms;
      };
      return { title: `${queryTitles[name]}, p50`, unit: 'ms', more: 'worse', value };
    }),
  ];
}

const nameOf = ({ peer, result }: Measured) => `${peer.title} ${result.version} (${peer.released})`;

/** How many times better the platform is than the best peer, and which that is. */
function comparedWithBest(measured: readonly Measured[], { more, value }: Row) {
  const ours = measured.find(({ peer }) => peer === heliograph);
  const [best] = measured
    .filter(({ peer, result }) => peer !== heliograph && Number.isFinite(value(result)))
    .toSorted((a, b) => (more === 'better' ? -1 : 1) * (value(a.result) - value(b.result)));
  if (ours === undefined || best === undefined) return undefined;
  const [own, theirs] = [value(ours.result), value(best.result)];
  return { ratio: more === 'better' ? own / theirs : theirs / own, best };
}

/** The last column is how many times better the platform is than the best peer. */
function tableOf(measured: readonly Measured[], queries: readonly QueryName[]): string {
  const head = measured.map(nameOf);
  const rows = rowsFor(queries).map((row) => {
    const { title, unit, value } = row;
    const ratio = comparedWithBest(measured, row)?.ratio ?? Number.NaN;
    const cells = measured.map(({ result }) => {
      const found = value(result);
      return Number.isFinite(found) ? `${figure(found)} ${unit}` : 'n/a';
    });
    return [title, ...cells, Number.isFinite(ratio) ? `x${figure(ratio)}` : 'n/a'];
  });
  return markdownTable(['what', ...head, 'Heliograph to the best peer'], rows);
}

function wrongAnswers(measured: readonly Measured[]): string[] {
  return measured.flatMap(({ peer, result }) =>
    Object.entries(result.queries).flatMap(([name, query]) =>
      'wrong' in query ? [`${peer.title}, ${name}: WRONG ANSWER, ${query.wrong}`] : [],
    ),
  );
}

function scaleOf(shape: WorkloadShape): string {
  return `${shape.devices.toLocaleString('en-US')} devices x ${shape.days} days, ${samplesOf(shape).toLocaleString('en-US')} samples`;
}

/** One-device queries over HTTP are to be no slower than the best peer of the run. */
function goalsOf(measured: readonly Measured[]) {
  return rowsFor(oneDeviceQueries)
    .slice(-oneDeviceQueries.length)
    .flatMap((row) => {
      const compared = comparedWithBest(measured, row);
      if (compared === undefined) return [];
      const { ratio, best } = compared;
      const of = `${nameOf(best)}, the best peer`;
      return [{ what: row.title, figure: ratio, of, goal: 1, best: 'high' as const }];
    });
}

const ofFleet = await runAll(optionsFor(fleet, 'time', fleetQueryNames));
const ofBusy = await runAll(optionsFor(busy, 'device', oneDeviceQueries));
tellGoals(goalsOf(ofBusy), [...failures, ...wrongAnswers(ofBusy)]);
publish('Fleet and one device side by side', [
  `Fleet: ${scaleOf(fleet)}, ${flags['per-day']} a day each, in the order of time, ${flags.batch} samples a request, ${flags.lanes} in flight. No hourly aggregates at the peers.`,
  tableOf(ofFleet, fleetQueryNames),
  `One-device queries: ${scaleOf(busy)}, one a minute each, a request for each device; hourly aggregates everywhere but in VictoriaMetrics. Queries of one device are timed after ${flags.warm} of their kind, in both tables.`,
  tableOf(ofBusy, oneDeviceQueries),
  ...wrongAnswers([...ofFleet, ...ofBusy]),
  ...failures,
]);
