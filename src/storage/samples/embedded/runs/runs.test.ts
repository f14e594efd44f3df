// A sealed run contains the rows of its memtable, a merged run those of its inputs.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DataShape, LeafValues, ShapeInterner } from '../../../log/data-shape.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import { mergeRuns, RunCursor } from './run-writing.ts';
import { SegmentFile } from '../segments/segment-file.ts';
import { RunFile } from './run-file.ts';
import { type MemtableRows, sealMemtable } from './run-writer.ts';

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-runs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newPath = (): string => join(folder, `${files++}.run`);
const note = { level: 0, sealedTo: 7, coveredTo: 7, devices: 6, replaces: [] };
const shapes = new ShapeInterner();
const shape = shapes.shapeOf({ t: 1.5, on: true, label: 'x' }, new LeafValues(), undefined);

interface Row {
  readonly device: number;
  readonly timestamp: number;
  readonly order: number;
  readonly origin: readonly [string, string | null];
  readonly meta: string | undefined;
  readonly values: readonly [number, number, string];
}

const origins: readonly (readonly [string, string | null])[] = [
  ['w1', 'f1'],
  ['w1', null],
  ['w2', 'f2'],
];
const day = 86_400_000;

const rowArbitrary = fc.record({
  device: fc.integer({ min: 0, max: 5 }),
  timestamp: fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 0, max: 3 * day }),
    fc.constantFrom(-1, 4_000_000_000_000),
  ),
  origin: fc.constantFrom(...origins),
  meta: fc.option(fc.constantFrom('{"a":1}', '{"b":"ü"}'), { nil: undefined }),
  values: fc.tuple(
    fc.oneof(
      fc.integer({ min: -1_000, max: 1_000 }).map((n) => n / 10),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.constantFrom(2 ** 53, 1e308, 5e-324),
    ),
    fc.constantFrom(0, 1),
    fc.constantFrom('', 'a', 'b', '"\n', '日本'),
  ),
});

function numbered(rows: readonly Omit<Row, 'order'>[], first = 0): Row[] {
  const next = new Map<number, number>();
  return rows.map((row) => {
    const order = next.get(row.device) ?? first;
    next.set(row.device, order + 1);
    return { ...row, order };
  });
}

function memtable(rows: readonly Row[]): MemtableRows {
  const texts: string[] = [];
  const textId = (text: string): number => {
    const known = texts.indexOf(text);
    return known >= 0 ? known : texts.push(text) - 1;
  };
  return {
    length: rows.length,
    topic: 'default',
    devices: 6,
    device: Uint32Array.from(rows, (row) => row.device),
    timestamps: Float64Array.from(rows, (row) => row.timestamp),
    orders: Float64Array.from(rows, (row) => row.order),
    originIds: Uint16Array.from(rows, (row) => origins.indexOf(row.origin)),
    origins,
    keepFrom: origins.map(() => Number.NEGATIVE_INFINITY),
    metaIds: rows.some((row) => row.meta !== undefined)
      ? Uint32Array.from(rows, ({ meta }) => (meta === undefined ? 0 : textId(meta) + 1))
      : undefined,
    columns: [
      Float64Array.from(rows, (row) => row.values[0]),
      Uint8Array.from(rows, (row) => row.values[1]),
      Uint32Array.from(rows, (row) => textId(row.values[2])),
    ],
    texts,
  };
}

/** Every row of the run, as its slices have them. */
function rowsOf(path: string): Row[] {
  const file = new SegmentFile(path);
  try {
    return rowsIn(new RunFile(file));
  } finally {
    file.close();
  }
}

function rowsIn(run: RunFile): Row[] {
  const texts: string[] = [];
  const cursor = new RunCursor(run, shape, (text) => texts.push(text) - 1);
  const found: Row[] = [];
  for (; cursor.device() !== Infinity; cursor.next())
    for (let i = cursor.first(); i < cursor.end(); i++) {
      const meta = cursor.rows.metas[i]!;
      found.push({
        device: cursor.device(),
        timestamp: cursor.rows.timestamps[i]!,
        order: cursor.rows.orders[i]!,
        origin: run.index.head.origins[cursor.rows.origins[i]!]!,
        meta: meta === 0 ? undefined : texts[meta - 1],
        values: [
          cursor.rows.columns[0]![i]!,
          cursor.rows.columns[1]![i]!,
          texts[cursor.rows.columns[2]![i]!]!,
        ],
      });
    }
  return found;
}

/** By device and time; rows of one instant in the order in which they are given. */
const sorted = (rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => a.device - b.device || a.timestamp - b.timestamp);

function seal(rows: readonly Row[], ofShape: DataShape = shape): string {
  const path = newPath();
  sealMemtable({ path, rows: memtable(rows), without: new Set(), note }, ofShape);
  return path;
}

test('a sealed run has every row of its memtable, by device and time', () => {
  fc.assert(
    fc.property(fc.array(rowArbitrary, { minLength: 1, maxLength: 300 }), (given) => {
      const rows = numbered(given);
      expect(rowsOf(seal(rows))).toEqual(sorted(rows));
    }),
    { numRuns: 60 },
  );
});

test('a merged run has the rows of all inputs but deleted devices and expired rows', () => {
  const keepFrom = new Map([[JSON.stringify(origins[0]), 20]]);
  fc.assert(
    fc.property(
      fc.array(fc.array(rowArbitrary, { minLength: 1, maxLength: 120 }), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.integer({ min: 0, max: 6 }),
      (given, deleted) => {
        const batches = given.map((rows, i) => numbered(rows, i * 1_000));
        const path = newPath();
        const job = {
          path,
          inputs: batches.map((rows) => seal(rows)),
          without: new Set([deleted]),
          keepFrom,
          level: 1,
        };
        const index = mergeRuns(job, shapes.fromText);
        const kept = batches
          .flat()
          .filter(
            (row) => row.device !== deleted && (row.origin !== origins[0] || row.timestamp >= 20),
          );
        expect(index?.head.rows ?? 0).toBe(kept.length);
        expect(index === undefined ? [] : rowsOf(path)).toEqual(sorted(kept));
      },
    ),
    { numRuns: 30 },
  );
});

test('slices of many rows fill many pages', () => {
  const rows = numbered(
    Array.from({ length: 30_000 }, (_, i) => ({
      device: i % 3,
      timestamp: 1_700_000_000_000 + Math.floor(i / 3) * 20_000,
      origin: origins[0]!,
      meta: undefined,
      values: [Math.round(Math.sin(i) * 100) / 10 + 0, i & 1, `label ${i % 20}`] as const,
    })),
  );
  const path = seal(rows);
  const run = new RunFile(new SegmentFile(path));
  expect(run.index.head).toMatchObject({ rows: 30_000, originRows: [30_000, 0, 0] });
  expect(run.index.head.pages).toBeGreaterThan(7);
  run.file.close();
  expect(rowsOf(path)).toEqual(sorted(rows));
});

test('a flipped byte is damage or changes nothing', () => {
  const rows = numbered(fc.sample(rowArbitrary, { numRuns: 120, seed: 7 }));
  const path = seal(rows);
  const whole = readFileSync(path);
  const expected = rowsOf(path);
  for (let at = 0; at < whole.length; at += 5) {
    const harmed = Buffer.from(whole);
    harmed[at] = harmed[at]! ^ (1 << (at % 8));
    writeFileSync(path, harmed);
    let found: Row[] | undefined;
    try {
      found = rowsOf(path);
    } catch (error) {
      expect(error, `byte ${at}`).toBeInstanceOf(DamagedChunk);
      continue;
    }
    expect(found, `byte ${at}`).toEqual(expected);
  }
});

test('a file cut short is damage', () => {
  const path = seal(numbered(fc.sample(rowArbitrary, { numRuns: 50, seed: 3 })));
  const whole = readFileSync(path);
  for (let length = 0; length < whole.length; length += 7) {
    writeFileSync(path, whole.subarray(0, length));
    expect(() => rowsOf(path), `${length} bytes`).toThrow(DamagedChunk);
  }
});

test('no file is left of a run without rows', () => {
  const before = readdirSync(folder).length;
  const rows = memtable(numbered(fc.sample(rowArbitrary, { numRuns: 9, seed: 1 })));
  const job = { path: newPath(), rows, without: new Set([0, 1, 2, 3, 4, 5]), note };
  expect(sealMemtable(job, shape)).toBeUndefined();
  expect(readdirSync(folder)).toHaveLength(before);
});
