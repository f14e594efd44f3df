// The run reader returns the rows of one device and span of time, and reads no other page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeafValues, ShapeInterner } from '../../../log/data-shape.ts';
import { Memtable } from '../memtables/memtable.ts';
import { SchemaInterner } from '../chunks/chunk.ts';
import { dataAt, metaAt, rowAt, type RowGroup } from '../rows/open-rows.ts';
import { SegmentFile } from '../segments/segment-file.ts';
import { RunFile } from './run-file.ts';
import { RunReader } from './run-reader.ts';
import { SectionCache, Slice, type SliceWalk } from './slice-rows.ts';
import { sealMemtable } from './run-writer.ts';

const day = 86_400_000;
const start = 1_700_006_400_000;
const note = { level: 0, sealedTo: 7, coveredTo: 7, devices: 6, replaces: [] };
const shapes = new ShapeInterner();
const devices = 50;
const days = 3;
const origin = { workspaceId: 'w1', dataFlowId: 'f1', keepFrom: Number.NEGATIVE_INFINITY };
const shape = shapes.shapeOf({ t: 1, on: true, label: '' }, new LeafValues(), undefined);
const dataOf = (device: number, slot: number) => ({
  t: Math.round(device * 100 + slot) / 10,
  on: slot % 3 === 0,
  label: `label ${(device + slot) % 7}`,
});

let folder: string;
let reader: RunReader;
/** Its slices have too few rows for statistics. */
let sparseReader: RunReader;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-run-reader-'));
  reader = openReader(96);
  sparseReader = openReader(4);
});
afterAll(() => {
  for (const { run } of [reader, sparseReader]) run.file.close();
  rmSync(folder, { recursive: true, force: true });
});

function openReader(slotsPerDay: number): RunReader {
  const memtable = new Memtable({ shape, topic: 'default', rowsMax: 100_000 }, 0);
  for (let slot = 0; slot < slotsPerDay * days; slot++)
    for (let device = 0; device < devices; device++) {
      const values = new LeafValues();
      shapes.shapeOf(dataOf(device, slot), values, shape);
      const meta = slot % 50 === 0 ? '{"rssi":-80}' : undefined;
      const timestamp = start + (slot * day) / slotsPerDay;
      memtable.add(device, { timestamp, order: slot, shape, origin, meta, values, valuesAt: 0 });
    }
  const path = join(folder, `${slotsPerDay}.run`);
  sealMemtable({ path, rows: memtable.toSeal(devices), without: new Set(), note }, shape);
  return new RunReader({
    run: new RunFile(new SegmentFile(path)),
    schema: new SchemaInterner(shapes).of([shape]),
    origins: [origin],
    cache: new SectionCache(1 << 20),
    runNumber: slotsPerDay,
    damaged: (error) => {
      throw error;
    },
  });
}

test('a slice for each day, and of it every row with its data and meta', () => {
  for (const device of [0, 17, 49]) {
    const groups = reader.groupsOf(device, start, start + days * day);
    expect(groups.map(({ length }) => length)).toEqual(new Array(days).fill(96));
    const found = groups.flatMap((group) => {
      const sorted = group.sorted()!;
      return Array.from({ length: sorted.length }, (_, place) => {
        const row = rowAt(sorted, place);
        return {
          timestamp: sorted.timestamps[place],
          order: sorted.orders[place],
          data: dataAt(sorted.rows, row),
          meta: metaAt(sorted.rows, row),
        };
      });
    });
    const expected = Array.from({ length: 96 * days }, (_, slot) => ({
      timestamp: start + (slot * day) / 96,
      order: slot,
      data: dataOf(device, slot),
      meta: slot % 50 === 0 ? { rssi: -80 } : undefined,
    }));
    expect(found).toEqual(expected);
  }
});

test('only slices that reach into the times', () => {
  const times = (from: number, to: number) =>
    reader.groupsOf(3, from, to).map(({ oldest }) => (oldest - start) / day);
  expect(times(start + day, start + 2 * day)).toEqual([1]);
  expect(times(start + day - 1, start + 2 * day + 1)).toEqual([1, 2]);
  expect(times(start + day / 2, start + day / 2 + 1)).toEqual([0]);
  expect(times(start - day, start)).toEqual([]);
  expect(times(start + days * day, start + 9 * day)).toEqual([]);
  expect(reader.groupsOf(devices, start, start + day)).toEqual([]);
});

describe.each([
  ['in the order of their numbers', [0, 1, 2, 3, 17, 18, 49]],
  ['in any order, some of them again', [30, 3, 3, 49, 0, 48, 30, 1]],
  ['also without rows', [devices, 5, devices + 7, 5]],
])('a walk over devices %s', (_, asked) => {
  test.each([
    [start, start + days * day],
    [start + day, start + 2 * day],
    [start + day / 2, start + day / 2 + 1],
    [start + days * day, start + 9 * day],
  ])('has the slices of each from %d to %d, and their sums and ranges', (from, to) => {
    for (const of of [reader, sparseReader])
      for (const column of [0, 1]) {
        const walk = of.walk(column, from, to);
        for (const device of asked)
          expect(measured(walk, device, { from, to })).toEqual(
            of.groupsOf(device, from, to).map((group) => measuredRows(group, column)),
          );
      }
  });
});

function measured(walk: SliceWalk, device: number, { from, to }: { from: number; to: number }) {
  const found: unknown[] = [];
  walk.seek(device);
  while (walk.nextPage())
    for (let slice = walk.first; slice < walk.end; slice++) {
      const { oldest, newest } = walk.group(slice);
      if (newest < from || oldest >= to) continue;
      expect(walk.measure(slice)).toBe(true);
      const { sum, min, max } = walk;
      found.push({ oldest, newest, sum: expect.closeTo(sum, 9), min, max });
    }
  return found;
}

function measuredRows(group: RowGroup, column: number) {
  const { rows } = group.sorted()!;
  const values = [...rows.columns[column]!.numbers];
  const sum = values.reduce((total, value) => total + value, 0);
  const { oldest, newest } = group;
  return { oldest, newest, sum, min: Math.min(...values), max: Math.max(...values) };
}

test('the statistics of a slice are those of its rows', () => {
  for (const device of [1, 30]) {
    const group = reader.groupsOf(device, start + day, start + 2 * day)[0];
    if (!(group instanceof Slice)) throw new Error('no slice');
    const rows = Array.from({ length: 96 }, (_, i) => dataOf(device, 96 + i));
    const numbers = rows.map(({ t }) => t);
    expect(group.statistics(0)).toEqual({
      sum: expect.closeTo(
        numbers.reduce((sum, t) => sum + t, 0),
        9,
      ),
      min: Math.min(...numbers),
      max: Math.max(...numbers),
    });
    expect(group.statistics(1)).toEqual({ sum: 32, min: 0, max: 1 });
    expect(group.statistics(2)).toBeUndefined();
  }
});

test('rows before the retention of their origin are not visible', () => {
  const group = reader.groupsOf(1, start, start + day)[0]!;
  origin.keepFrom = start + 5;
  expect(group.sorted()).toBeDefined();
  expect(group.visibleFrom).toBe(start + 5);
  origin.keepFrom = Number.NEGATIVE_INFINITY;
});
