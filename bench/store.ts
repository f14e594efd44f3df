// Sample store without HTTP on workload W: ingest, bytes, queries, start, recovery, pauses.
// Options: `--devices 1000 --days 7 | --samples 100000000`, `--batch 1000 --order device|time
// --folder DIR --write`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { JournalEntry } from '../src/model/journal-entry.ts';
import { openTestSamples, type TestSamples } from '../src/storage/samples/testing-samples.ts';
import { atLeast, figureNotes, under, upTo } from './load/figure-notes.ts';
import { timeManyDevices, timeOneDevice } from './load/store-queries.ts';
import { entriesOf } from './load/workload-entries.ts';
import { figure, machineShape, markdownTable, publish } from './load/measure.ts';
import { folderBytes } from './peers/debian-package.ts';
import {
  deviceOrdered,
  minutesPerDay,
  samplesOf,
  timeOrdered,
  type WorkloadShape,
  workloadW,
} from './load/workload.ts';

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
/** Larger runs query as many days as workload W has, so that their answers compare. */
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

/**
 * One device's samples, then the next's, as bulk requests bring them; or in the order of time, an
 * entry each.
 */
function* batchesOf(size: number): Generator<JournalEntry[]> {
  for (const batch of (values.order === 'time' ? timeOrdered : deviceOrdered)(shape, size))
    yield entriesOf(batch);
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
  const queries = { store, shape, askedDays, isLarge, note };
  await timeOneDevice(queries);
  await timeManyDevices(queries);
  noteNumber('memory after queries (MB)', process.memoryUsage.rss() / 1e6);
  noteNumber('most memory ever (MB)', process.resourceUsage().maxRSS / 1e3, under(1_000));
  await store.close();
  noteStart('start after a clean end');
  if (store.damage.length > 0) note('damage', JSON.stringify(store.damage));
  const table = markdownTable(['what', 'measured', 'goal'], rows);
  const words = `Workload W: ${shape.devices} devices, ${askedDays} days.`;
  const title = isLarge
    ? `Sample store without HTTP, ${figure(samplesOf(shape))} samples`
    : 'Sample store without HTTP';
  publish(title, [words, table], folder);
} finally {
  if (values.folder === '') rmSync(folder, { recursive: true });
  else execFileSync('sync');
}
