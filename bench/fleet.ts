// Sample store on a fleet, without HTTP: ingest, bytes, memory, queries and start with one sample per entry.
// Options: `--devices 100000 --days 7 --per-day 96 --folder DIR --write`.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openTestSamples, type TestSamples } from '../src/storage/samples/testing-samples.ts';
import { atLeast, figureNotes, under, upTo } from './load/figure-notes.ts';
import { fleetDevice, fleetEntries, fleetF, samplesOfFleet } from './load/fleet-entries.ts';
import { machineShape, markdownTable, publish, median } from './load/measure.ts';
import { folderBytes } from './peers/debian-package.ts';

const batch = 1_000;
const inFlightMax = 8;
const dayMs = 86_400_000;
const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    days: { type: 'string', default: '7' },
    'per-day': { type: 'string', default: '96' },
    folder: { type: 'string', default: '' },
    reopen: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const shape = {
  ...fleetF,
  devices: Number(values.devices),
  days: Number(values.days),
  samplesPerDay: Number(values['per-day']),
};
const folder = values.folder === '' ? mkdtempSync(join(tmpdir(), 'bench-fleet-')) : values.folder;
const { rows, noteNumber, note } = figureNotes();

const open = (): Promise<TestSamples> => openTestSamples({ directory: folder, now: Date.now });

async function ingest(store: TestSamples): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const batches = fleetEntries(shape, batch);
  const inFlight = new Set<Promise<unknown>>();
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  let generatingMs = 0;
  let rssMax = 0;
  delay.enable();
  for (let turn = 0; ; turn++) {
    const before = performance.now();
    const next = batches.next();
    generatingMs += performance.now() - before;
    if (next.done === true) break;
    const work = allDurable(next.value.map((entry) => store.append(entry)));
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
    await nextTurn();
    if (inFlight.size >= inFlightMax) await Promise.race(inFlight);
    if (turn % 200 === 0) rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }
  await Promise.all(inFlight);
  delay.disable();
  const tookMs = performance.now() - startMs - generatingMs;
  const cpu = process.cpuUsage(startCpu);
  const count = samplesOfFleet(shape);
  note('samples', count.toLocaleString('en-US'));
  noteNumber(
    `ingest, durable, one sample an entry, ${batch} entries a turn, ${inFlightMax} turns in flight (samples/s, without generating)`,
    (count / tookMs) * 1_000,
    atLeast(400_000),
  );
  noteNumber(
    'processor time of all threads (us a sample, without generating)',
    (cpu.user + cpu.system - generatingMs * 1_000) / count,
    upTo(2.5),
  );
  noteNumber('longest pause of the event loop (ms)', delay.max / 1e6, under(50));
  noteNumber('pause p99 (ms)', delay.percentile(99) / 1e6, under(10));
  noteNumber('memory, largest (MB)', rssMax / 1e6, under(700));
}

/** As a caller of single entries waits for each, without the bookkeeping of `Promise.all`. */
async function allDurable(appended: readonly Promise<unknown>[]): Promise<void> {
  for (const one of appended) await one;
}

function noteBytes(what: string): void {
  const bytes = folderBytes(join(folder, 'segments'));
  noteNumber(`bytes a sample, ${what}`, bytes / samplesOfFleet(shape), upTo(5.5));
  const files = readdirSync(join(folder, 'segments')).filter((name) => name.endsWith('.segment'));
  note(`files of samples, ${what}`, files.length.toLocaleString('en-US'));
}

async function timeQueries(store: TestSamples, what: string): Promise<void> {
  const end = shape.startMs + Math.ceil(shape.days) * dayMs;
  const random = (
    (state) => () =>
      (state = (Math.imul(state, 48_271) >>> 0) % 2_147_483_647)
  )(7);
  const device = (): string => fleetDevice(random() % shape.devices);
  const days = Array.from({ length: shape.days + 1 }, (_, day) => shape.startMs + day * dayMs);
  const average = (deviceIds: readonly string[], edges: readonly number[]) =>
    store.buckets({
      source: 'raw',
      deviceIds,
      topic: 'default',
      dataKey: 'temperature',
      accumulator: 'AVG',
      edges,
    });
  const one: Record<string, () => Promise<unknown>> = {
    'latest sample of a device': () => store.latestSample(device(), 'default'),
    'last 100 samples of a device': () =>
      store.samples({ deviceId: device(), limit: 100, skip: 0 }),
    'raw AVG of 24 h, one device': () => average([device()], [end - dayMs, end]),
    'AVG by day over the span, one device': () => average([device()], days),
  };
  for (const [name, query] of Object.entries(one))
    noteNumber(`${name}, ${what} (ms, p50)`, await medianMs(query, 2_000), under(0.3));
  const thousand = Array.from({ length: 1_000 }, device);
  noteNumber(
    `KPI of 1,000 devices over the span, ${what} (ms, p50)`,
    await medianMs(() => average(thousand, [shape.startMs, end]), 15),
    under(what === 'merged' ? 20 : 100),
  );
}

async function medianMs(query: () => Promise<unknown>, times: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const before = performance.now();
    await query();
    took.push(performance.now() - before);
  }
  return median(took);
}

/** A start in its own process: waiting time of a user, and memory. */
function noteStart(what: string, of: string, goalMs: number): void {
  const args = [import.meta.filename, '--reopen', '--folder', of];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  const { openMs, rssMb, entries } = JSON.parse(run.stdout) as Reopened;
  noteNumber(`${what}: open (ms)`, openMs, under(goalMs));
  note(`${what}: entries of the journal that were read`, entries.toLocaleString('en-US'));
  noteNumber(`${what}: memory (MB)`, rssMb);
}

/** Of a copy, because a start repairs the folder, and the store still works in it. */
function noteCrash(): void {
  const copy = `${folder}-crash`;
  try {
    cpSync(folder, copy, { recursive: true });
    noteStart('start as after a crash', copy, 1_000);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

interface Reopened {
  readonly openMs: number;
  readonly rssMb: number;
  readonly entries: number;
}

if (values.reopen) {
  const startMs = performance.now();
  const reopened = await open();
  const openMs = performance.now() - startMs;
  const entries = reopened.position - (await reopened.store.replayFrom());
  const found: Reopened = { openMs, rssMb: process.memoryUsage.rss() / 1e6, entries };
  process.stdout.write(JSON.stringify(found));
  // Ended without closing, so that the folder stays as a crash would leave it.
  process.exit(0);
}

try {
  console.error(machineShape());
  const store = await open();
  await ingest(store);
  await timeQueries(store, 'fresh');
  await store.idle();
  noteCrash();
  await store.close();
  noteBytes('after a clean end');
  noteStart('start after a clean end', folder, 500);
  const again = await open();
  await timeQueries(again, 'merged');
  await again.close();
  const table = markdownTable(['figure', 'here', 'goal'], rows);
  const words = `${shape.devices.toLocaleString('en-US')} devices, ${shape.samplesPerDay} samples a day each, ${shape.days} days.`;
  publish('Fleet', [words, table], folder);
} finally {
  if (values.folder === '') rmSync(folder, { recursive: true, force: true });
}
