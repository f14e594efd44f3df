// The sample store alone on workload W: ingest, bytes, queries, start, recovery, pauses. `--days 7 --batch 1000 --order device|time --folder DIR --write`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { accumulators } from '../src/accumulators/accumulator-table.ts';
import { noSlots } from '../src/accumulators/occupied-slots.ts';
import type { AccumulatorName } from '../src/accumulators/accumulator.ts';
import type { JournalEntry } from '../src/model/journal-entry.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../src/store/embedded/embedded-store.ts';
import { conditions, figure, machineShape, markdownTable, summarize, writeMeasurement } from './measure.ts';
import { folderBytes } from './peers/debian-package.ts';
import {
  dataAt,
  deviceName,
  deviceOrdered,
  endMsOf,
  samplesOf,
  timeOrdered,
  type SampleColumns,
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
    batch: { type: 'string', default: '1000' },
    order: { type: 'string', default: 'device' },
    folder: { type: 'string', default: '' },
    reopen: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const shape: WorkloadShape = { ...workloadW, devices: Number(values.devices), days: Number(values.days) };
const folder = values.folder === '' ? mkdtempSync(join(tmpdir(), 'bench-store-')) : values.folder;
const rows: string[][] = [];

function note(what: string, value: string): void {
  rows.push([what, value]);
  console.error(`${what}: ${value}`);
}

function open(): Promise<EmbeddedStore> {
  return openEmbeddedStore({ directory: folder, now: Date.now });
}

/** One entry for the samples of each device in the batch: an entry is one device's. */
function entriesOf(batch: SampleColumns): JournalEntry[] {
  const byDevice = new Map<number, JournalEntry & { samples: unknown[] }>();
  for (let i = 0; i < batch.length; i++) {
    const device = batch.device[i]!;
    const deviceId = deviceName(device);
    let entry = byDevice.get(device);
    if (entry === undefined) {
      entry = { deviceId, receivedAt: batch.timestamp[i]!, notes: [], samples: [] };
      byDevice.set(device, entry);
    }
    entry.samples.push({
      deviceId,
      topic: 'default',
      timestamp: batch.timestamp[i]!,
      data: dataAt(batch, i),
      organizationId: '2800000000000001',
      workspaceId: '2900000000000001',
      dataFlowId: '0800000000000001',
      correlationId: 'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
      stored: true,
    });
  }
  return [...byDevice.values()];
}

async function ingest(store: EmbeddedStore): Promise<void> {
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
    if (inFlight.size >= inFlightMax) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  delay.disable();
  const tookMs = performance.now() - startMs - generatingMs;
  note('samples', count.toLocaleString('en-US'));
  note(
    `ingest, durable, batches of ${values.batch}, ${inFlightMax} in flight, in order of ${values.order} (samples/s, without generating)`,
    figure((count / tookMs) * 1_000),
  );
  note('longest pause of the event loop while ingesting (ms)', figure(delay.max / 1e6));
  note('pause p99 (ms)', figure(delay.percentile(99) / 1e6));
  const cpu = process.cpuUsage(startCpu);
  note('processor time of all threads (us a sample, with generating)', figure((cpu.user + cpu.system) / count));
  note('memory after ingest (MB)', figure(process.memoryUsage.rss() / 1e6));
}

/** One device's samples, then the next's, as bulk requests bring them; or in the order of time, an entry each. */
function* batchesOf(size: number): Generator<JournalEntry[]> {
  for (const batch of (values.order === 'time' ? timeOrdered : deviceOrdered)(shape, size)) yield entriesOf(batch);
}

/** What all timed queries are made of. */
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

function asking(store: EmbeddedStore): Asking {
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

async function timeOneDevice(store: EmbeddedStore): Promise<void> {
  const { kpi, device, day } = asking(store);
  const from = shape.startMs;
  const end = endMsOf(shape);
  await timed('last 100 samples of a device', 400, () =>
    store.samples({ deviceId: device(), topic: 'default', limit: 100, skip: 0 }),
  );
  await timed('10,000 samples of a device', 20, () =>
    store.samples({ deviceId: device(), topic: 'default', limit: 10_000, skip: 0 }),
  );
  await timed('raw AVG, 24 h, one device', 2_000, () => {
    const start = day();
    return kpi('raw', [device()], 'temperature', 'AVG', [start, start + dayMs]);
  });
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
  await timed(`hourly AVG, ${shape.days} d, one device`, 1_000, () =>
    kpi('hours', [device()], 'temperature', 'AVG', [from, end]),
  );
  await timed(`hourly AVG, ${shape.days} d but 5 h at each end, one device`, 1_000, () =>
    kpi('hours', [device()], 'temperature', 'AVG', [from + 5 * hourMs, end - 5 * hourMs]),
  );
  await timed(`hourly MAX in P1D, ${shape.days} d, one device`, 1_000, () =>
    kpi('hours', [device()], 'co2', 'MAX', edgesEvery(dayMs, from, end)),
  );
  await timed(`hourly AVG in PT1H, ${shape.days} d, one device`, 1_000, () =>
    kpi('hours', [device()], 'temperature', 'AVG', edgesEvery(hourMs, from, end)),
  );
  await timed(`hourly OCCUPANCY, ${shape.days} d, one device`, 500, () =>
    kpi('hours', [device()], 'occupied', 'OCCUPANCY', [from, end]),
  );
}

async function timeManyDevices(store: EmbeddedStore): Promise<void> {
  const { kpi, day, below } = asking(store);
  const from = shape.startMs;
  const end = endMsOf(shape);
  const all = Array.from({ length: shape.devices }, (_, i) => deviceName(i));
  await timed(`hourly AVG, ${shape.days} d, ${all.length} devices`, 50, () =>
    kpi('hours', all, 'temperature', 'AVG', [from, end]),
  );
  await timed(`hourly AVG, ${shape.days} d but 5 h at each end, ${all.length} devices`, 20, () =>
    kpi('hours', all, 'temperature', 'AVG', [from + 5 * hourMs, end - 5 * hourMs]),
  );
  await timed('raw SUM, 24 h, 100 devices', 50, () => {
    const start = day();
    const first = below(Math.max(1, shape.devices - 100));
    return kpi('raw', all.slice(first, first + 100), 'co2', 'SUM', [start, start + dayMs]);
  });
  await timed(`average over all ${samplesOf(shape).toLocaleString('en-US')} samples`, 10, () =>
    kpi('raw', all, 'temperature', 'AVG', [0, end + dayMs]),
  );
  await timed('the same with all rows read', 3, () => kpi('raw', all, 'temperature', 'AVG', oddEdges(end)));
  const request = { topic: 'default', dataKey: 'temperature', accumulator: 'AVG', edges: [0, end + dayMs] } as const;
  const total = await store.buckets({ ...request, source: 'raw', deviceIds: all });
  const count = total.reduce((sum, [partial]) => sum + (partial?.count ?? 0), 0);
  note('samples counted by a query', count.toLocaleString('en-US'));
  note('mean temperature of device 0', String(accumulators.AVG.finish(total[0]![0]!, noSlots)));
}

/** Buckets that begin at odd moments of each day, so that no chunk lies in one of them. */
function oddEdges(end: number): number[] {
  const edges = [0];
  for (let at = shape.startMs + 7 * 60_000 + 13; at < end; at += dayMs / 3) edges.push(at);
  return [...edges, end + dayMs];
}

async function timed(what: string, rounds: number, query: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < Math.min(20, rounds); i++) await query();
  const durations: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const startMs = performance.now();
    await query();
    durations.push(performance.now() - startMs);
  }
  const { p50Ms, p95Ms } = summarize(durations);
  note(`${what} (ms, p50 / p95)`, `${figure(p50Ms)} / ${figure(p95Ms)}`);
}

/** A start in a process of its own: what a user waits for, and what memory it takes. */
function noteStart(what: string): void {
  const run = spawnSync(process.execPath, [import.meta.filename, '--reopen', '--folder', folder], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  const { openMs, rssMb, damage } = JSON.parse(run.stdout) as { openMs: number; rssMb: number; damage: number };
  note(`${what}: open (ms)`, figure(openMs));
  note(`${what}: memory (MB)`, figure(rssMb));
  if (damage > 0) note(`${what}: damage`, String(damage));
}

if (values.reopen) {
  const startMs = performance.now();
  const store = await open();
  const openMs = performance.now() - startMs;
  process.stdout.write(JSON.stringify({ openMs, rssMb: process.memoryUsage.rss() / 1e6, damage: store.damage.length }));
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
  note('sealing the rest (ms)', figure(performance.now() - sealMs));
  const segments = folderBytes(join(folder, 'segments'));
  note('bytes per sample, sealed with hours and index', figure(segments / samplesOf(shape)));
  note('journal kept for resuming (MB)', figure(folderBytes(join(folder, 'journal')) / 1e6));
  await timeOneDevice(store);
  await timeManyDevices(store);
  note('memory after queries (MB)', figure(process.memoryUsage.rss() / 1e6));
  await store.close();
  noteStart('start after a clean end');
  if (store.damage.length > 0) note('damage', JSON.stringify(store.damage));
  const table = markdownTable(['what', 'measured'], rows);
  console.log(table);
  const caption = `${conditions(folder)} Workload W: ${shape.devices} devices, ${shape.days} days.`;
  if (values.write) writeMeasurement('The sample store alone', `${caption}\n\n${table}`);
} finally {
  if (values.folder === '') rmSync(folder, { recursive: true });
  else execFileSync('sync');
}
