// Cold start until GET /health/ready answers 200, and memory when idle, against a bare node:http server in the same run.
// node bench/start.ts [--runs 7] [--devices 1000 --days 7] [--write]; with days, also the start on
// a folder that holds workload W and was closed cleanly a moment before, in turns with empty ones.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bareServerCommand } from './load/bare-server.ts';
import { tellGoals } from './load/goals.ts';
import { isReady, platformCommand } from './load/platform.ts';
import {
  freePort,
  inTemporaryFolder,
  type ServerCommand,
  startServer,
  untilReady,
} from './load/server-process.ts';
import { figure, markdownTable, median, publish, verdict } from './load/measure.ts';
import { loadWorkload } from './peers/engine-run.ts';
import { startHeliograph } from './peers/heliograph.ts';
import { samplesOf, workloadW } from './load/workload.ts';

/** `loadedTimes` compares the processor time of a start with samples with that of an empty one. */
const goals = { emptySeconds: 1, loadedSeconds: 3, idleMiB: 150, loadedTimes: 1.2 };
const idleMs = 5_000;

interface Start {
  readonly seconds: number;
  /** Processor time of all threads until it was ready. */
  readonly processorSeconds: number;
  readonly idleMiB: number;
}

interface Starter {
  readonly title: string;
  readonly commandOf: (folder: string, port: number) => ServerCommand;
  readonly goalSeconds: number;
  /** Whose data is opened; a new one for each start when undefined. */
  readonly folder?: string;
}

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string', default: '7' },
    devices: { type: 'string', default: String(workloadW.devices) },
    days: { type: 'string', default: '0' },
    write: { type: 'boolean', default: false },
  },
});
const runs = Number(flags.runs);
const shape = { ...workloadW, devices: Number(flags.devices), days: Number(flags.days) };

const starters: Starter[] = [
  { title: 'bare node:http server', commandOf: bareServerCommand, goalSeconds: Number.NaN },
  {
    title: 'Heliograph, empty folder',
    commandOf: platformCommand,
    goalSeconds: goals.emptySeconds,
  },
];
const rows = await inTemporaryFolder('start', async (folder) => {
  if (samplesOf(shape) > 0) {
    const engine = await startHeliograph(folder, shape);
    await loadWorkload(engine, { shape, order: 'device', batch: 1_000, bulkLanes: 4 });
    await engine.stop();
    const title = `Heliograph, ${figure(samplesOf(shape))} samples`;
    const { loadedSeconds } = goals;
    starters.push({ title, commandOf: platformCommand, goalSeconds: loadedSeconds, folder });
  }
  return measured();
});
const withSamples = starters.some(({ folder }) => folder !== undefined);
publish(withSamples ? 'Cold start with samples' : 'Cold start and idle memory', report());

/** In turns, so that the load of the machine is the same for all; only the last round waits for the memory at rest. */
async function measured(): Promise<string[][]> {
  const starts = starters.map((): Start[] => []);
  for (let i = 0; i < runs; i++)
    for (const [at, { folder, commandOf }] of starters.entries()) {
      const start = (own: string) => timedStart(own, commandOf, i === runs - 1);
      starts[at]!.push(
        await (folder === undefined ? inTemporaryFolder('start', start) : start(folder)),
      );
    }
  return starters.map((starter, at) => row(starter, starts[at]!, starts));
}

async function timedStart(
  folder: string,
  commandOf: (folder: string, port: number) => ServerCommand,
  untilIdle: boolean,
): Promise<Start> {
  const port = await freePort();
  const startMs = performance.now();
  const server = startServer(commandOf(folder, port));
  try {
    await untilReady(server, () => isReady({ host: '127.0.0.1', port }));
    const seconds = (performance.now() - startMs) / 1_000;
    const processorSeconds = server.processorUs() / 1e6;
    if (untilIdle) await delay(idleMs);
    return {
      seconds,
      processorSeconds,
      idleMiB: untilIdle ? server.residentBytes() / 2 ** 20 : Number.NaN,
    };
  } finally {
    await server.stop();
  }
}

function row(
  { title, goalSeconds, folder }: Starter,
  starts: readonly Start[],
  [bare = [], empty = []]: readonly (readonly Start[])[],
): string[] {
  const seconds = starts.map((start) => start.seconds);
  const processor = medianProcessor(starts);
  const idleMiB = starts.at(-1)!.idleMiB;
  const verdicts = [
    `${goalSeconds} s, ${goals.idleMiB} MiB: ${verdict(median(seconds) < goalSeconds && idleMiB < goals.idleMiB)}`,
  ];
  if (folder !== undefined) {
    const times = processor / medianProcessor(empty);
    tellGoals([
      {
        what: `processor time of a start with ${figure(samplesOf(shape))} samples`,
        figure: times,
        of: 'a start with an empty folder',
        goal: goals.loadedTimes,
        best: 'low',
      },
    ]);
    verdicts.push(
      `x${goals.loadedTimes} of the processor time of an empty one: x${figure(times)}, ${verdict(times <= goals.loadedTimes)}`,
    );
  }
  return [
    title,
    `${figure(median(seconds))} s`,
    `${figure(Math.max(...seconds))} s`,
    `x${figure(median(seconds) / median(bare.map((start) => start.seconds)))}`,
    `${figure(processor)} s`,
    `${figure(idleMiB)} MiB`,
    Number.isNaN(goalSeconds) ? '' : verdicts.join('; '),
  ];
}

function medianProcessor(starts: readonly Start[]): number {
  return median(starts.map((start) => start.processorSeconds));
}

function report(): string[] {
  const head = [
    'what',
    'ready, median',
    'slowest',
    'of the bare server',
    'processor time, median',
    `resident after ${idleMs / 1_000} s`,
    'goal',
  ];
  return [
    `${runs} starts each, from starting the process until the first 200; files in the page cache.`,
    markdownTable(head, rows),
  ];
}
