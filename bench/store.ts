// Sample store without HTTP on workload W: ingest, bytes, queries, start, recovery, pauses.
// Options: `--devices 1000 --days 7 | --samples 100000000`, `--batch 1000 --order device|time --folder DIR --write`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type AccumulatorName, accumulators } from '../src/summaries/accumulators.ts';
import { noSlots } from '../src/summaries/occupied-slots.ts';
import type { JournalEntry } from '../src/model/journal-entry.ts';
import { type TestSamples, openTestSamples } from '../src/samples/testing-samples.ts';
import { atLeast, figureNotes, type Goal, under, upTo } from './load/figure-notes.ts';
import { entriesOf } from './load/workload-entries.ts';
import {
  conditions,
  figure,
  machineShape,
  markdownTable,
  summarize,
  writeMeasurement,
} from './measure.ts';
import { folderBytes } from './peers/debian-package.ts';
import {
  deviceName,
  deviceOrdered,
  endMsOf,
  minutesPerDay,
  samplesOf,
  timeOrdered,
  type WorkloadShape,
  workloadW,
} from './workload.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const inFlightMax = 8;

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '7' },
    devices: { type: 'string', default: '1000' },
    samples: { type: 'string' },
    batch: { type: 'string', default: '1000' },
    order: { type: 'string', default: 'device' },
    folder: { type: 'string', default: '' },
    reopen: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const devices = Number(values.devices);
const days =
  values.samples === undefined
    ? Number(values.days)
    : Math.ceil(Number(values.samples) / (devices * minutesPerDay));
const shape: WorkloadShape = { ...workloadW, devices, days };
/** Larger runs ask about as many devices and days as workload W has, so that their answers compare. */
const manyMax = workloadW.devices;
const askedDays = Math.min(days, workloadW.days);
const isLarge = samplesOf(shape) > samplesOf(workloadW);
const folder = values.folder === '' ? mkdtempSync(join(tmpdir(), 'bench-store-')) : values.folder;
const { rows, note, noteNumber } = figureNotes();

function open(): Promise<TestSamples> {
  return openTestSamples({ directory: folder, now: Date.now });
}

async function ingest(store: TestSamples): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let generatingMs = 0;
  let count = 0;
  const inFlight = new Set<Promise<unknown>>();
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const batches = batchesOf(Number(values.batch));
  delay.enable();
  for (;;) {
    const before = performance.now();
    const next = batches.next();
    const entries = next.done === true ? [] : next.value;
    generatingMs += performance.now() - before;
    if (next.done === true) break;
    const work = Promise.all(entries.map((entry) => store.append(entry)));
    count += entries.reduce((sum, entry) => sum + entry.samples.length, 0);
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
    // As with a server, every request runs in its own turn of the event loop.
    await nextTurn();
    if (inFlight.size >= inFlightMax) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  delay.disable();
  const tookMs = performance.now() - startMs - generatingMs;
  note('samples', count.toLocaleString('en-US'));
  noteNumber(
    `ingest, durable, batches of ${values.batch}, ${inFlightMax} in flight, in order of ${values.order} (samples/s, without generating)`,
    (count / tookMs) * 1_000,
    atLeast(250_000),
  );
  noteNumber('longest pause of the event loop while ingesting (ms)', delay.max / 1e6, under(50));
  noteNumber('pause p99 (ms)', delay.percentile(99) / 1e6);
  const cpu = process.cpuUsage(startCpu);
  noteNumber(
    'processor time of all threads (us a sample, with generating)',
    (cpu.user + cpu.system) / count,
  );
  noteNumber('memory after ingest (MB)', process.memoryUsage.rss() / 1e6, under(1_000));
}

/** One device's samples, then the next's, as bulk requests bring them; or in the order of time, an entry each. */
function* batchesOf(size: number): Generator<JournalEntry[]> {
  for (const batch of (values.order === 'time' ? timeOrdered : deviceOrdered)(shape, size))
    yield entriesOf(batch);
}

/** Common part of all timed queries. */
interface Asking {
  readonly kpi: (
    source: 'raw' | 'hours',
    deviceIds: readonly string[],
    dataKey: string,
    accumulator: AccumulatorName,
    edges: readonly number[],
  ) => Promise<unknown>;
  readonly device: () => string;
  /** The beginning of some 24 hours, at any minute. */
  readonly day: () => number;
  readonly below: (limit: number) => number;
}

function asking(store: TestSamples): Asking {
  let state = 7;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return {
    kpi: (source, deviceIds, dataKey, accumulator, edges) =>
      store.buckets({ source, deviceIds, topic: 'default', dataKey, accumulator, edges }),
    device: () => deviceName(below(shape.devices)),
    day: () => endMsOf(shape) - dayMs - below(Math.max(1, (shape.days - 1) * 1_440)) * 60_000,
    below,
  };
}

function edgesEvery(step: number, from: number, to: number): number[] {
  return Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => from + i * step);
}

async function timeOneDevice(store: TestSamples): Promise<void> {
  const { kpi, device, day } = asking(store);
  const end = endMsOf(shape);
  const from = end - askedDays * dayMs;
  await timed(
    'last 100 samples of a device',
    400,
    () => store.samples({ deviceId: device(), topic: 'default', limit: 100, skip: 0 }),
    under(0.15),
  );
  await timed('10,000 samples of a device', 20, () =>
    store.samples({ deviceId: device(), topic: 'default', limit: 10_000, skip: 0 }),
  );
  await timed(
    'raw AVG, 24 h, one device',
    2_000,
    () => {
      const start = day();
      return kpi('raw', [device()], 'temperature', 'AVG', [start, start + dayMs]);
    },
    upTo(0.06),
  );
  await timed('raw AVG, 24 h in PT1H, one device', 1_000, () => {
    const start = day();
    return kpi('raw', [device()], 'temperature', 'AVG', edgesEvery(hourMs, start, start + dayMs));
  });
  await timed('raw LAST, 24 h, one device', 500, () => {
    const start = day();
    return kpi('raw', [device()], 'temperature', 'LAST', [start, start + dayMs]);
  });
  await timed('raw DISTINCT_COUNT of label, 24 h, one device', 500, () => {
    const start = day();
    return kpi('raw', [device()], 'label', 'DISTINCT_COUNT', [start, start + dayMs]);
  });
  await timed(
    `hourly AVG, ${askedDays} d, one device`,
    1_000,
    () => kpi('hours', [device()], 'temperature', 'AVG', [from, end]),
    upTo(0.03),
  );
  await timed(`hourly AVG, ${askedDays} d but 5 h at each end, one device`, 1_000, () =>
    kpi('hours', [device()], 'temperature', 'AVG', [from + 5 * hourMs, end - 5 * hourMs]),
  );
  await timed(`hourly MAX in P1D, ${askedDays} d, one device`, 1_000, () =>
    kpi('hours', [device()], 'co2', 'MAX', edgesEvery(dayMs, from, end)),
  );
  await timed(`hourly AVG in PT1H, ${askedDays} d, one device`, 1_000, () =>
    kpi('hours', [device()], 'temperature', 'AVG', edgesEvery(hourMs, from, end)),
  );
  await timed(`hourly OCCUPANCY, ${askedDays} d, one device`, 500, () =>
    kpi('hours', [device()], 'occupied', 'OCCUPANCY', [from, end]),
  );
}

async function timeManyDevices(store: TestSamples): Promise<void> {
  const { kpi, day, below } = asking(store);
  const end = endMsOf(shape);
  const from = end - askedDays * dayMs;
  const all = Array.from({ length: shape.devices }, (_, i) => deviceName(i));
  const many = all.slice(0, manyMax);
  await timed(
    `hourly AVG, ${askedDays} d, ${many.length} devices`,
    50,
    () => kpi('hours', many, 'temperature', 'AVG', [from, end]),
    under(5),
  );
  await timed(`hourly AVG, ${askedDays} d but 5 h at each end, ${many.length} devices`, 20, () =>
    kpi('hours', many, 'temperature', 'AVG', [from + 5 * hourMs, end - 5 * hourMs]),
  );
  await timed(
    'raw SUM, 24 h, 100 devices',
    50,
    () => {
      const start = day();
      const first = below(Math.max(1, shape.devices - 100));
      return kpi('raw', all.slice(first, first + 100), 'co2', 'SUM', [start, start + dayMs]);
    },
    under(4),
  );
  await timed(
    `average over all ${samplesOf(shape).toLocaleString('en-US')} samples`,
    10,
    () => kpi('raw', all, 'temperature', 'AVG', [0, end + dayMs]),
    isLarge ? undefined : under(80),
  );
  await timed('the same with all rows read', 3, () =>
    kpi('raw', all, 'temperature', 'AVG', oddEdges(end)),
  );
  const request = {
    topic: 'default',
    dataKey: 'temperature',
    accumulator: 'AVG',
    edges: [0, end + dayMs],
  } as const;
  const total = await store.buckets({ ...request, source: 'raw', deviceIds: all });
  const count = total.reduce((sum, [partial]) => sum + (partial?.count ?? 0), 0);
  note('samples counted by a query', count.toLocaleString('en-US'));
  note('mean temperature of device 0', String(accumulators.AVG.finish(total[0]![0]!, noSlots)));
}

/** Buckets that start at irregular times of each day, so that no chunk is inside one of them. */
function oddEdges(end: number): number[] {
  const edges = [0];
  for (let at = shape.startMs + 7 * 60_000 + 13; at < end; at += dayMs / 3) edges.push(at);
  return [...edges, end + dayMs];
}

async function timed(
  what: string,
  rounds: number,
  query: () => Promise<unknown>,
  goal?: Goal,
): Promise<void> {
  for (let i = 0; i < Math.min(20, rounds); i++) await query();
  const durations: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const startMs = performance.now();
    await query();
    durations.push(performance.now() - startMs);
  }
  const { p50Ms, p95Ms } = summarize(durations);
  note(`${what} (ms, p50 / p95)`, `${figure(p50Ms)} / ${figure(p95Ms)}`, goal, p50Ms);
}

/** A start in its own process: waiting time of a user, and memory. */
function noteStart(what: string): void {
  const run = spawnSync(process.execPath, [import.meta.filename, '--reopen', '--folder', folder], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(run.stderr);
  const { openMs, rssMb, damage } = JSON.parse(run.stdout) as {
    openMs: number;
    rssMb: number;
    damage: number;
  };
  // Three seconds for workload W, five for ten times that.
  noteNumber(`${what}: open (ms)`, openMs, under(isLarge ? 5_000 : 3_000));
  noteNumber(`${what}: memory (MB)`, rssMb);
  if (damage > 0) note(`${what}: damage`, String(damage));
}

if (values.reopen) {
  const startMs = performance.now();
  const store = await open();
  const openMs = performance.now() - startMs;
  process.stdout.write(
    JSON.stringify({ openMs, rssMb: process.memoryUsage.rss() / 1e6, damage: store.damage.length }),
  );
  // Ended without closing, so that the folder stays as a crash would leave it.
  process.exit(0);
}

mkdirSync(folder, { recursive: true });
try {
  console.error(machineShape());
  const store = await open();
  await ingest(store);
  noteStart('start after a crash at the end of ingest');
  const sealMs = performance.now();
  await store.sealAll();
  noteNumber('sealing the rest (ms)', performance.now() - sealMs);
  const segments = folderBytes(join(folder, 'segments'));
  noteNumber('bytes per sample, sealed with hours and index', segments / samplesOf(shape), upTo(7));
  noteNumber('journal kept for resuming (MB)', folderBytes(join(folder, 'journal')) / 1e6);
  await timeOneDevice(store);
  await timeManyDevices(store);
  noteNumber('memory after queries (MB)', process.memoryUsage.rss() / 1e6);
  noteNumber('most memory ever (MB)', process.resourceUsage().maxRSS / 1e3, under(1_000));
  await store.close();
  noteStart('start after a clean end');
  if (store.damage.length > 0) note('damage', JSON.stringify(store.damage));
  const table = markdownTable(['what', 'measured', 'goal'], rows);
  console.log(table);
  const caption = `${conditions(folder)} Workload W: ${shape.devices} devices, ${askedDays} days.`;
  const title = isLarge
    ? `Sample store without HTTP, ${figure(samplesOf(shape))} samples`
    : 'Sample store without HTTP';
  if (values.write) writeMeasurement(title, `${caption}\n\n${table}`);
} finally {
  if (values.folder === '') rmSync(folder, { recursive: true });
  else execFileSync('sync');
}
