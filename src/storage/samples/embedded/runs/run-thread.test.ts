// The run thread seals and merges on its own thread, and says what went wrong there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ShapeInterner, LeafValues } from '../../../log/data-shape.ts';
import { Memtable } from '../memtables/memtable.ts';
import { SegmentFile } from '../segments/segment-file.ts';
import { RunFile } from './run-file.ts';
import { createRunThread } from './run-makers.ts';

let folder: string;
const thread = createRunThread();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-run-thread-'));
});
afterAll(async () => {
  await thread.close();
  rmSync(folder, { recursive: true, force: true });
});

const note = { level: 0, sealedTo: 7, coveredTo: 7, devices: 6, replaces: [] };
const shapes = new ShapeInterner();
const origin = { workspaceId: 'w', dataFlowId: null, keepFrom: Number.NEGATIVE_INFINITY };

function sealed(name: string, timestamp: number): Promise<unknown> {
  const values = new LeafValues();
  const shape = shapes.shapeOf({ t: 20.5, label: 'a' }, values, undefined);
  const memtable = new Memtable({ shape, topic: 'default', rowsMax: 100 }, 0);
  for (const device of [2, 0])
    memtable.add(device, {
      timestamp,
      order: 0,
      shape,
      origin,
      meta: undefined,
      values,
      valuesAt: 0,
    });
  const path = join(folder, name);
  const rows = memtable.toSeal(3);
  return thread.run({ kind: 'seal', path, shape: shape.text, rows, without: new Set(), note });
}

test('memtables become runs, and runs one run', async () => {
  const indexes = await Promise.all([sealed('1.run', 10), sealed('2.run', 20)]);
  expect(indexes).toMatchObject([{ head: { rows: 2 } }, { head: { rows: 2 } }]);
  const path = join(folder, '3.run');
  const inputs = ['1.run', '2.run'].map((name) => join(folder, name));
  const merged = await thread.run({
    kind: 'merge',
    path,
    inputs,
    without: new Set(),
    keepFrom: new Map(),
    level: 1,
  });
  expect(merged).toMatchObject({ head: { rows: 4, oldest: 10, newest: 20, topic: 'default' } });
  const run = new RunFile(new SegmentFile(path));
  expect(run.index).toEqual(merged);
  run.file.close();
});

test('what went wrong is told as what it is', async () => {
  const harmed = join(folder, 'harmed.run');
  writeFileSync(harmed, 'not a run at all, but longer than a footer');
  const merge = (inputs: string[]) =>
    thread.run({
      kind: 'merge',
      path: join(folder, '4.run'),
      inputs,
      without: new Set(),
      keepFrom: new Map(),
      level: 1,
    });
  await expect(merge([harmed])).rejects.toThrow('The footer of harmed.run is damaged');
  await expect(merge([harmed])).rejects.toMatchObject({ name: 'DamagedChunk' });
  await expect(merge([join(folder, 'none.run')])).rejects.toMatchObject({ code: 'ENOENT' });
});
