// Samples that a Parquet file has are those that the store answers, row by row, as DuckDB reads them.
// More than the usual 12 files: PARQUET_FILES=300 npx vitest run src/query/exports/parquet-part.test.ts
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import type { Sample } from '../../model/sample.ts';
import { ShapeInterner } from '../../storage/log/data-shape.ts';
import { entryOf } from '../../storage/samples/conformance/sample-entries.ts';
import { runsOfSamples } from '../../storage/samples/value-batches.ts';
import { openTestSamples, type TestSamples } from '../../storage/samples/testing-samples.ts';
import { type ExportProgress, readPart } from './export-file.ts';
import { type ColumnSource, PartColumnsContent } from './part-columns.ts';
import { parquetHead, parquetPart, parquetTail } from './parquet-part.ts';
import { membersOf, type ValueRow, valueRows } from './sample-lines.ts';

const randomFiles = Number(process.env['PARQUET_FILES'] ?? 12);
const folder = mkdtempSync(join(tmpdir(), 'parquet-part-'));
const duck = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
afterAll(() => {
  duck.closeSync();
  rmSync(folder, { recursive: true, force: true });
});

interface Filter {
  readonly topics: readonly string[] | null;
  readonly keys: readonly string[] | null;
}

interface FileRow extends ValueRow {
  readonly device: string;
  readonly name: string;
  readonly topic: string;
  readonly time: number;
}

const nameOf = (deviceId: string) => `the "${deviceId}" ü`;

/** The file of the devices, in parts of about that size. */
async function fileOf(
  store: ColumnSource,
  deviceIds: readonly string[],
  filter: Filter,
  sizeMax: number,
) {
  const plan = {
    format: 'parquet',
    from: null,
    to: Number.MAX_SAFE_INTEGER,
    deviceIds: null,
    tagIds: null,
    ...filter,
  } as const;
  const pages = async (cursor: ExportProgress['cursor']) => {
    const isNext = (id: string) =>
      cursor === null || id > cursor.deviceId || (cursor.behind !== null && id === cursor.deviceId);
    const devices = deviceIds.filter(isNext).map((id) => ({ id, name: nameOf(id) }));
    return { devices, through: '', isLast: true };
  };
  const written: Uint8Array[] = [parquetHead];
  const footers: Uint8Array[] = [];
  let bytes = parquetHead.length;
  let samples = 0;
  let [progress, isLast]: [ExportProgress, boolean] = [
    { cursor: null, devices: 0, samples: 0, unreadable: 0 },
    false,
  ];
  while (!isLast) {
    const content = new PartColumnsContent(store, plan);
    const limits = { sizeMax, devicesMax: 2 };
    ({ progress, isLast } = await readPart(plan, progress, pages, content, limits));
    // As it comes to the thread.
    const part = parquetPart(structuredClone(content.content()), bytes);
    written.push(part.bytes);
    footers.push(part.footer);
    bytes += part.bytes.length;
    samples += part.samples;
  }
  expect(progress.unreadable).toBe(0);
  written.push(parquetTail(footers, bytes));
  return { file: Buffer.concat(written), samples };
}

let files = 0;
let path = '';

async function readBack(file: Uint8Array): Promise<FileRow[]> {
  // DuckDB remembers parts of files by their names.
  path = join(folder, `${++files}.parquet`);
  writeFileSync(path, file);
  const found = await duck.runAndReadAll(`
    select device_id as device, device_name as name, topic, epoch_ms(time)::double as time,
      key, number, "text", "boolean", json, latitude, longitude, altitude
    from '${path}'`);
  return found.getRowObjects() as unknown as FileRow[];
}

function expectedRows(samples: readonly Sample[], { topics, keys }: Filter) {
  const rows: FileRow[] = [];
  let exported = 0;
  for (const { deviceId, topic, timestamp, data } of samples) {
    if (topics !== null && !topics.includes(topic)) continue;
    const members = keys === null ? data : membersOf(data, keys);
    if (members === undefined) continue;
    exported++;
    const of = { device: deviceId, name: nameOf(deviceId), topic, time: timestamp };
    for (const row of valueRows(members)) rows.push({ ...of, ...row });
  }
  return { rows, exported };
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'on', 'off', 'x'.repeat(40), '\ud83d\ude00', '\uffff', 'Z\u0000'),
);
const number = fc.oneof(
  fc.integer({ min: -50, max: 50 }).map((n) => n / 10),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  fc.constantFrom(0, Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 2 ** 53, 1e21, 0.1 + 0.2),
);
const location = fc.record(
  {
    longitude: fc.oneof(number, text),
    altitude: fc.oneof(number, fc.constant(null)),
    accuracy: number,
    latitude: number,
  },
  { requiredKeys: [] },
);
const key = fc.oneof(
  fc.constantFrom('t', 'h', 'on', 'place', 'list', '10', '2', '__proto__', 'a.b', '', 'inner'),
  fc.string({ maxLength: 3 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    location,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));
const deep = fc.integer({ min: 10, max: 20 }).map((levels) => {
  let data: JsonObject = { leaf: 1, other: [null] };
  for (let i = 0; i < levels; i++) data = { a: data, [`n${i}`]: i };
  return data;
});
const wide = fc
  .integer({ min: 250, max: 270 })
  .map((count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i])));
const usual = fc.record({
  t: fc.integer({ min: 0, max: 300 }).map((n) => n / 10),
  on: fc.boolean(),
  label: fc.constantFrom('idle', 'running'),
  place: fc.record({ latitude: number, longitude: number, altitude: number }),
});
const data = fc
  .oneof(
    { weight: 6, arbitrary: usual },
    { weight: 6, arbitrary: fc.dictionary(key, value, { maxKeys: 6 }) },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: wide },
  )
  // What a request brings: without -0.
  .map((object) => JSON.parse(JSON.stringify(object)) as JsonObject);
const sampleOf = fc.record({
  deviceId: fc.constantFrom('d0', 'd1', 'd2'),
  topic: fc.constantFrom('default', 'side', 'ü'),
  timestamp: fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((n) => Date.UTC(2026, 0, 1) + n * 60_000),
    fc.integer({ min: -(2 ** 45), max: 2 ** 45 }),
  ),
  data,
});
const filters = fc.record({
  topics: fc.option(fc.subarray(['default', 'side', 'none'], { minLength: 1 }), { freq: 1 }),
  keys: fc.option(fc.uniqueArray(key, { minLength: 1, maxLength: 4 }), { freq: 1 }),
});

async function samplesOf(store: TestSamples, deviceIds: readonly string[]): Promise<Sample[]> {
  const found: Sample[] = [];
  for (const deviceId of deviceIds)
    found.push(...(await store.samples({ deviceId, limit: 1e6, skip: 0 })).toReversed());
  return found;
}

const limits = { chunkRowsMin: 20, rowsToCloseAtDay: 30, rowsMax: 40, memtableRowsMax: 50 };

test.each([
  ['few', { minLength: 1, maxLength: 60 }, randomFiles],
  ['many', { minLength: 400, maxLength: 600 }, Math.ceil(randomFiles / 10)],
])(
  'rows of %s random samples, sealed and not, of a file of parts',
  async (_, count, numRuns) => {
    const property = fc.asyncProperty(
      fc.array(sampleOf, count),
      fc.array(fc.constantFrom('write', 'seal', 'drop'), { maxLength: 6 }),
      filters,
      fc.constantFrom(1, 20_000, 1e9),
      async (samples, steps, filter, sizeMax) => {
        const directory = mkdtempSync(join(folder, 'store-'));
        const store = await openTestSamples({ directory, now: () => 1, limits });
        try {
          const share = Math.ceil(samples.length / (steps.length + 1));
          for (const [i, step] of [...steps, 'write'].entries()) {
            for (const { deviceId, timestamp, ...rest } of samples.slice(
              i * share,
              (i + 1) * share,
            ))
              await store.append(entryOf(deviceId, [{ at: timestamp, ...rest }]));
            if (step === 'seal') await store.sealAll();
            if (step === 'drop') await store.dropDevice('d1');
          }
          const deviceIds = ['d0', 'd1', 'd2'];
          const { rows, exported } = expectedRows(await samplesOf(store, deviceIds), filter);
          const { file, samples: count } = await fileOf(store, deviceIds, filter, sizeMax);
          expect(count).toBe(exported);
          expect(await readBack(file)).toEqual(rows);
        } finally {
          await store.close();
          rmSync(directory, { recursive: true });
        }
      },
    );
    await fc.assert(property, { numRuns });
  },
  240_000,
);

test('samples that share few keys', async () => {
  const count = 2_000;
  const given = Array.from({ length: count }, (_, i) => {
    const own = Object.fromEntries([0, 1, 2].map((k) => [`k${i * 7 + k}`, (i % 9) / 8]));
    const place = i % 3 === 0 ? { latitude: i / 100, longitude: 8, note: [i] } : null;
    const data: JsonObject = i % 50 === 0 ? {} : { ...own, place, label: `l${i % 4}` };
    return { at: Date.UTC(2026, 0, 1) + i * 1_000, data, topic: i % 2 === 0 ? 'default' : 'side' };
  });
  const directory = mkdtempSync(join(folder, 'store-'));
  const store = await openTestSamples({ directory, now: () => 1, limits: { chunkRowsMin: 20 } });
  try {
    for (let i = 0; i < count; i += 100) await store.append(entryOf('d0', given.slice(i, i + 100)));
    const samples = await samplesOf(store, ['d0']);
    const shapes = new ShapeInterner();
    const objects: ColumnSource = {
      async *exportColumns() {
        yield runsOfSamples(samples, shapes);
      },
    };
    for (const keys of [null, ['label', 'k21', 'place'], ['k22']])
      for (const source of [store, objects]) {
        const filter = { topics: null, keys };
        const { rows, exported } = expectedRows(samples, filter);
        const { file, samples: found } = await fileOf(source, ['d0'], filter, 1e9);
        expect(found).toBe(exported);
        expect(await readBack(file)).toEqual(rows);
      }
    // Columns of shapes that nothing else has would take memory and time.
    for (const source of [store, objects]) {
      const content = new PartColumnsContent(source, { topics: null, keys: null });
      const range = { deviceId: 'd0', to: Number.MAX_SAFE_INTEGER, unreadable: () => undefined };
      for await (const batch of content.batchesOf(range, { id: 'd0', name: '' })) batch.addFrom(0);
      expect(content.content().blocks.length).toBeLessThan(300);
    }
    await store.sealAll();
    const filter = { topics: ['side'], keys: null };
    const { file } = await fileOf(store, ['d0'], filter, 50_000);
    expect(await readBack(file)).toEqual(expectedRows(samples, filter).rows);
  } finally {
    await store.close();
  }
});

test('row groups of many rows, whose bounds are those of their values', async () => {
  const count = 60_000;
  const start = Date.UTC(2026, 0, 1);
  const samples = Array.from({ length: count }, (_, i): Sample => {
    const few = { t: (i % 700) / 10, label: `state ${i % 5}`, on: i % 3 === 0 };
    return {
      deviceId: 'd0',
      topic: i % 2 === 0 ? 'default' : 'side',
      // A jump that needs more than 32 bits.
      timestamp: start + i * 1_000 + (i > count / 2 ? 2 ** 34 : 0),
      data: i % 1_000 === 7 ? { n: i, note: `once ${i}`, list: [i] } : { ...few, n: i / 7 },
    };
  });
  const shapes = new ShapeInterner();
  const source: ColumnSource = {
    async *exportColumns({ from = 0 }) {
      const left = samples.filter(({ timestamp }) => timestamp >= from);
      for (let i = 0; i < left.length; i += 1_000)
        yield runsOfSamples(left.slice(i, i + 1_000), shapes);
    },
  };
  const filter = { topics: null, keys: null };
  const { file, samples: exported } = await fileOf(source, ['d0'], filter, 1e9);
  const { rows } = expectedRows(samples, filter);
  expect(exported).toBe(count);
  expect(await readBack(file)).toEqual(rows);
  const groups = await duck.runAndReadAll(
    `select distinct row_group_id, row_group_num_rows from parquet_metadata('${path}') order by all`,
  );
  const sizes = groups.getRows().map(([, size]) => Number(size));
  expect(sizes.length).toBeGreaterThan(2);
  // Rows of one sample stay together.
  expect(Math.max(...sizes)).toBeLessThan(100_010);
  // Readers leave out row groups by their bounds.
  const last = start + (count - 1) * 1_000 + 2 ** 34;
  for (const [condition, found] of [
    [`epoch_ms(time) = ${last}`, rows.filter(({ time }) => time === last).length],
    [`number = ${59_998 / 7}`, rows.filter((row) => row.number === 59_998 / 7).length],
    [`"text" = 'once 7007'`, 1],
    [`device_id = 'd0' and key = 'list'`, 60],
  ] as const) {
    const counted = await duck.runAndReadAll(`select count(*) from '${path}' where ${condition}`);
    expect([condition, Number(counted.getRows()[0]?.[0])]).toEqual([condition, found]);
  }
});
