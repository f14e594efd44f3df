// Cold start until GET /health/ready answers 200, and memory when idle, against a bare node:http server in the same run.
// node bench/start.ts [--runs 7] [--devices 1000 --days 7] [--write]; with days, also the start on
// a folder that holds workload W.
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bareServerCommand } from './load/bare-server.ts';
import { isReady, platformCommand, platformMissing } from './load/platform.ts';
import {
  type ServerCommand,
  freePort,
  inTemporaryFolder,
  startServer,
  untilReady,
} from './load/server-process.ts';
import { conditions, figure, markdownTable, median, writeMeasurement } from './measure.ts';
import { loadWorkload } from './peers/engine-run.ts';
import { startHeliograph } from './peers/heliograph.ts';
import { samplesOf, workloadW } from './workload.ts';

const goals = { emptySeconds: 1, loadedSeconds: 3, idleMiB: 150 };
const idleMs = 5_000;

interface Start {
  readonly seconds: number;
  readonly idleMiB: number;
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

const missing = platformMissing();
const rows: string[][] = [];
const bareStarts = await coldStarts(bareServerCommand);
rows.push(row('bare node:http server', bareStarts, bareStarts, Number.NaN));
if (missing === undefined) {
  rows.push(
    row(
      'Heliograph, empty folder',
      await coldStarts(platformCommand),
      bareStarts,
      goals.emptySeconds,
    ),
  );
  if (samplesOf(shape) > 0) {
    const title = `Heliograph, ${figure(samplesOf(shape))} samples`;
    rows.push(row(title, await loadedStarts(), bareStarts, goals.loadedSeconds));
  }
}
const text = report();
console.log(text);
if (flags.write) writeMeasurement('Cold start and idle memory', text);

/** Each run has its own folder; only the last one waits to measure the memory at rest. */
async function coldStarts(
  commandOf: (folder: string, port: number) => ServerCommand,
): Promise<Start[]> {
  const starts: Start[] = [];
  for (let i = 0; i < runs; i++) {
    starts.push(
      await inTemporaryFolder('start', (folder) => timedStart(folder, commandOf, i === runs - 1)),
    );
  }
  return starts;
}

async function loadedStarts(): Promise<Start[]> {
  return inTemporaryFolder('start', async (folder) => {
    const engine = await startHeliograph(folder, shape);
    await loadWorkload(engine, { shape, order: 'device', batch: 1_000, bulkLanes: 4 });
    await engine.stop();
    const starts: Start[] = [];
    for (let i = 0; i < runs; i++)
      starts.push(await timedStart(folder, platformCommand, i === runs - 1));
    return starts;
  });
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
    if (untilIdle) await delay(idleMs);
    return { seconds, idleMiB: untilIdle ? server.residentBytes() / 2 ** 20 : Number.NaN };
  } finally {
    await server.stop();
  }
}

function row(
  what: string,
  starts: readonly Start[],
  baseline: readonly Start[],
  goalSeconds: number,
): string[] {
  const seconds = starts.map((start) => start.seconds);
  const bareSeconds = median(baseline.map((start) => start.seconds));
  const idleMiB = starts.at(-1)!.idleMiB;
  return [
    what,
    `${figure(median(seconds))} s`,
    `${figure(Math.max(...seconds))} s`,
    `x${figure(median(seconds) / bareSeconds)}`,
    `${figure(idleMiB)} MiB`,
    Number.isNaN(goalSeconds)
      ? ''
      : `${goalSeconds} s, ${goals.idleMiB} MiB: ${verdict(median(seconds), goalSeconds, idleMiB)}`,
  ];
}

function verdict(seconds: number, goalSeconds: number, idleMiB: number): string {
  return seconds < goalSeconds && idleMiB < goals.idleMiB ? 'reached' : 'not reached';
}

function report(): string {
  const head = [
    'what',
    'ready, median',
    'slowest',
    'of the bare server',
    `resident after ${idleMs / 1_000} s`,
    'goal',
  ];
  const lines = [
    conditions(tmpdir()),
    `${runs} starts each, from starting the process until the first 200; files in the page cache.`,
    markdownTable(head, rows),
  ];
  return [...lines, ...(missing === undefined ? [] : [missing])].join('\n\n');
}
