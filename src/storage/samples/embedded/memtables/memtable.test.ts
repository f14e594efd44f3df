// The memtable holds what a list of rows holds.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShapeInterner, LeafValues } from '../../../log/data-shape.ts';
import { dataAt, metaAt, rowAt, type RowGroup } from '../rows/open-rows.ts';
import { Memtable } from './memtable.ts';

const shapes = new ShapeInterner();
const origins = [
  { workspaceId: 'w1', dataFlowId: 'f1', keepFrom: Number.NEGATIVE_INFINITY },
  { workspaceId: 'w2', dataFlowId: null, keepFrom: 10 },
];

interface Row {
  readonly device: number;
  readonly timestamp: number;
  readonly data: { readonly t: number; readonly on: boolean; readonly label: string };
  readonly meta: { readonly rssi: number } | undefined;
  readonly origin: number;
}

const rowArbitrary: fc.Arbitrary<Row> = fc.record({
  device: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5_000 })),
  timestamp: fc.integer({ min: 0, max: 30 }),
  data: fc.record({
    t: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    on: fc.boolean(),
    label: fc.constantFrom('', 'a', 'b'),
  }),
  meta: fc.option(fc.record({ rssi: fc.integer() }), { nil: undefined }),
  origin: fc.integer({ min: 0, max: 1 }),
});

const shape = shapes.shapeOf({ t: 1, on: true, label: '' }, new LeafValues(), undefined);

function add(memtable: Memtable, row: Row, order: number): void {
  const values = new LeafValues();
  shapes.shapeOf(row.data, values, shape);
  memtable.add(row.device, {
    shape,
    timestamp: row.timestamp,
    order,
    origin: origins[row.origin]!,
    meta: row.meta === undefined ? undefined : JSON.stringify(row.meta),
    values,
    valuesAt: 0,
  });
}

function read(group: RowGroup | undefined) {
  const sorted = group?.sorted();
  if (sorted === undefined) return [];
  return Array.from({ length: sorted.length }, (_, place) => {
    const row = rowAt(sorted, place);
    return {
      timestamp: sorted.timestamps[place],
      order: sorted.orders[place],
      data: dataAt(sorted.rows, row),
      meta: metaAt(sorted.rows, row),
    };
  });
}

test('a device has its rows in the order of time and of storing', () => {
  fc.assert(
    fc.property(
      fc.array(rowArbitrary, { minLength: 1, maxLength: 400 }),
      fc.tuple(fc.integer({ min: -1, max: 32 }), fc.integer({ min: -1, max: 32 })),
      (given, [from, to]) => {
        const memtable = new Memtable({ shape, topic: 'default', rowsMax: 10_000 }, 0);
        for (const [order, row] of given.entries()) add(memtable, row, order);
        for (const device of new Set(given.map((row) => row.device))) {
          const expected = given
            .map(({ timestamp, data, meta, ...row }, order) => ({
              timestamp,
              order,
              data,
              meta,
              row,
            }))
            .filter(({ row }) => row.device === device)
            .filter(({ timestamp }) => timestamp >= from && timestamp < to)
            .sort((a, b) => a.timestamp - b.timestamp || a.order - b.order)
            .map(({ row: _, ...rest }) => rest);
          expect(read(memtable.groupOf(device, from, to))).toEqual(expected);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('rows of one time are found, whatever their number', () => {
  const memtable = new Memtable({ shape, topic: 'default', rowsMax: 10_000 }, 0);
  const rows = fc.sample(rowArbitrary, { numRuns: 3_000, seed: 5 });
  for (const [order, row] of rows.entries()) {
    add(memtable, row, order);
    const expected = rows
      .slice(0, order + 1)
      .flatMap((other, i) =>
        other.device === row.device && other.timestamp === row.timestamp ? [i] : [],
      );
    expect(memtable.rowsAt(row.device, row.timestamp).toSorted((a, b) => a - b)).toEqual(expected);
  }
});

test('the rows of a device are readable from the latest of the times that their origins allow', () => {
  const memtable = new Memtable({ shape, topic: 'default', rowsMax: 10 }, 0);
  const row = { device: 1, timestamp: 5, data: { t: 1, on: true, label: '' }, meta: undefined };
  add(memtable, { ...row, origin: 1 }, 0);
  expect(memtable.groupOf(1, 0, 100)).toMatchObject({ visibleFrom: 10, oldest: 5, newest: 5 });
  add(memtable, { ...row, origin: 0 }, 1);
  expect(memtable.groupOf(1, 0, 100)?.visibleFrom).toBe(Number.NEGATIVE_INFINITY);
});
