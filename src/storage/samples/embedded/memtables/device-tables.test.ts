// Device tables contain every table with rows of the device.
import { describe, expect, test } from 'vitest';
import { ShapeInterner, LeafValues } from '../../../log/data-shape.ts';
import { Random } from '../../conformance/random-entries.ts';
import { DeviceTables } from './shape-tables.ts';
import { ShapeTable } from './shape-table.ts';

const shapes = new ShapeInterner();

function tableOf(i: number): ShapeTable {
  const shape = shapes.shapeOf({ [`k${i}`]: i }, new LeafValues(), undefined);
  return new ShapeTable({ shape, topic: 'default' }, 'w1');
}

function addRow(table: ShapeTable, device: number): void {
  const values = new LeafValues();
  values.addNumber(1);
  const origin = { workspaceId: 'w1', dataFlowId: null, keepFrom: Number.NEGATIVE_INFINITY };
  const { shape } = table;
  const row = { timestamp: 1, order: 1, shape, values, valuesAt: 0, origin, meta: undefined };
  (table.active ?? table.newMemtable(0, 1_000_000)).add(device, row);
}

describe.each([
  ['few sets', 6, 40, 1],
  ['few sets of another stream', 6, 40, 2],
  ['more sets than are kept', 40, 2_500, 3],
])('%s', (_, tableCount, devices, seed) => {
  test('the tables of each device', () => {
    const random = new Random(seed);
    const tables = Array.from({ length: tableCount }, (__, i) => tableOf(i));
    const known = devices >> 1;
    const expected = new Map<number, Set<ShapeTable>>();
    const note = (device: number, table: ShapeTable): void => {
      addRow(table, device);
      expected.set(device, (expected.get(device) ?? new Set()).add(table));
    };
    // Rows of known devices were there before.
    for (let i = 0; i < devices; i++) note(random.below(known), random.pick(tables));
    const ofDevices = new DeviceTables(known, () => tables);
    for (let i = 0; i < devices * 8; i++) {
      const device = random.below(devices);
      const table = random.pick(tables);
      note(device, table);
      ofDevices.note(device, table);
      const asked = random.below(devices);
      expect(new Set(ofDevices.of(asked))).toEqual(expected.get(asked) ?? new Set());
    }
    expect([...ofDevices.of(devices * 10)]).toEqual([]);
  });
});
