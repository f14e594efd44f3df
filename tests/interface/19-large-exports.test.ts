// Contract 19: exports of millions of values need little memory, resume after a restart, and end on a full disk.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PartEncoder } from '../../src/query/exports/part-encoder.ts';
import { SampleExports } from '../../src/operations/sample-exports.ts';
import {
  createSampleExport,
  findExport,
  readSampleExport,
} from '../../src/inventory/operations/sample-exports.ts';
import type { Sample } from '../../src/model/sample.ts';
import { sampleExportLimits } from '../../src/model/operation.ts';
import { type OpenRecords, openRecords } from '../../src/storage/records/records.ts';
import { testEngine } from '../../src/storage/records/testing-engine.ts';
import { ShapeInterner } from '../../src/storage/log/data-shape.ts';
import { runsOfSamples } from '../../src/storage/samples/value-batches.ts';
import { ownerIn } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

const samplesPerDevice = 100_000;
const keys = ['temperature', 'humidity', 'pressure', 'battery', 'rssi', 'snr', 'counter'];
const start = Date.UTC(2026, 0, 1);
/** Most of it is the thread that encodes. */
const growthMax = 200 * 1024 * 1024;

let directory: string;
let world: World;
let records: OpenRecords;
let encoder: PartEncoder;
let folder: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'large-exports-'));
  world = await startWorld({ directory });
  const engine = testEngine(directory);
  records = await openRecords({ directory, engine, announce: () => undefined });
  encoder = new PartEncoder();
  folder = join(directory, 'other-exports');
});
afterEach(async () => {
  await encoder.close();
  await records.close();
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

/** As many samples of a device as the range has seconds, in batches. */
async function* secondsOf({
  deviceId,
  from = start,
  to,
}: {
  deviceId: string;
  from?: number;
  to?: number;
}) {
  const end = Math.min(to ?? Number.POSITIVE_INFINITY, start + samplesPerDevice * 1_000);
  for (let at = from; at < end; at += 1_000_000) {
    const batch: Sample[] = [];
    for (let timestamp = at; timestamp < Math.min(at + 1_000_000, end); timestamp += 1_000) {
      const n = (timestamp - start) / 1_000;
      const data = Object.fromEntries(keys.map((key, k) => [key, n + k / 8]));
      batch.push({ deviceId, topic: 'default', timestamp, data });
    }
    yield batch;
  }
}

async function* columnsOf(range: Parameters<typeof secondsOf>[0]) {
  const shapes = new ShapeInterner();
  for await (const batch of secondsOf(range)) yield runsOfSamples(batch, shapes);
}

/** Exports over the records of the world, whose own runner gets no others than those of requests. */
function exportsOf(more: Partial<ConstructorParameters<typeof SampleExports>[0]> = {}) {
  return new SampleExports({
    records,
    encoder,
    folder,
    node: '',
    bytesMax: 2 ** 40,
    retentionMs: 1_000,
    store: { exportSamples: secondsOf, exportColumns: columnsOf },
    freeBytes: async () => 2 ** 40,
    ...more,
  });
}

async function begun() {
  const { workspaceId, organizationId } = world;
  return (await createSampleExport(records, ownerIn(organizationId), { workspaceId }, '')).id;
}

async function totalsOf(path: string) {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const found = await connection.runAndReadAll(`
    select count(*)::double as rows, count(distinct device_id)::double as devices,
      count(distinct (device_id, time, key))::double as different,
      sum(number) filter (key = 'temperature') as total
    from '${path}'`);
  connection.closeSync();
  return found.getRowObjectsJson();
}

test('millions of values, with a restart after each part', async () => {
  const devices = 5;
  for (let i = 0; i < devices; i++) await world.device();
  const id = await begun();
  const growing = join(folder, id, 'growing');
  const rssBefore = process.memoryUsage.rss();
  let rssMost = 0;
  let written = Buffer.alloc(0);
  let parts = 0;
  for (let isDone = false; !isDone; parts++) {
    isDone = await exportsOf().runPart(id);
    rssMost = Math.max(rssMost, process.memoryUsage.rss());
    if (isDone) break;
    const bytes = readFileSync(growing);
    // Finished parts are not written again.
    expect(bytes.subarray(0, written.length).equals(written)).toBe(true);
    written = bytes;
    // What a crash leaves of the part that it interrupts.
    writeFileSync(growing, 'torn', { flag: 'a' });
  }
  expect(parts).toBeGreaterThan(5);
  expect(rssMost - rssBefore).toBeLessThan(growthMax);
  const done = await readSampleExport(records, id);
  const samples = devices * samplesPerDevice;
  expect(done).toMatchObject({ state: 'COMPLETE', samples, devicesDone: devices });
  const rows = samples * keys.length;
  const path = exportsOf().fileOf(await findExport(records, id));
  const total = (samples * (samplesPerDevice - 1)) / 2;
  expect(await totalsOf(path)).toEqual([{ rows, devices, different: rows, total }]);
}, 240_000);

test('a platform that starts again continues its exports', async () => {
  const { id: deviceId } = await world.device();
  const lines: string[] = [];
  for await (const batch of secondsOf({ deviceId, to: start + 2_000_000 }))
    for (const { timestamp, data } of batch)
      lines.push(JSON.stringify({ deviceId, timestamp: new Date(timestamp), data }));
  const type = { 'content-type': 'application/x-ndjson' };
  await world.call('POST', '/v3/samples/bulk', lines.join('\n'), type);
  // Accepted and not begun, as when the process ends before.
  const id = await begun();
  await world.platform.close('restart');
  world = await startWorld({ directory });
  const read = () => world.must('GET', `/v3/exports/${id}`);
  await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toBe('COMPLETE');
  const rows = 2_000 * keys.length;
  const path = join(directory, 'exports', id, 'samples.parquet');
  expect(await totalsOf(path)).toMatchObject([{ rows, different: rows }]);
}, 240_000);

const noSpace = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
test.each([
  ['nearly full', async () => sampleExportLimits.freeBytesMin],
  ['full', () => Promise.reject(noSpace)],
])('a %s disk ends an export, and its file is removed', async (_, freeBytes) => {
  await world.device();
  const id = await begun();
  expect(await exportsOf({ freeBytes }).runPart(id)).toBe(true);
  expect(await readSampleExport(records, id)).toMatchObject({
    state: 'FAILED',
    errorCode: '50721_EXPORT_DISK_FULL',
    bytes: 0,
  });
  expect(readdirSync(folder)).toEqual([]);
});
