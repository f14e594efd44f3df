// Samples that are appended as columns read like samples that are appended one by one, also after a crash.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { isRows } from '../../model/journal-entry.ts';
import { allSamples, entryOf } from './conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from './testing-samples.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-columns-'));
const opened: TestSamples[] = [];
let folders = 0;

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  if (opened.length === 0) rmSync(root, { recursive: true, force: true });
});

async function open(directory = join(root, String(++folders))): Promise<TestSamples> {
  const limits = { chunkRowsMin: 20, rowsToCloseAtDay: 30, rowsMax: 40, memtableRowsMax: 50 };
  const store = await openTestSamples({ directory, now: () => 1, limits });
  opened.push(store);
  return store;
}

interface Row {
  readonly at: number;
  readonly data: {
    readonly t: number;
    readonly inner: { readonly on: boolean };
    readonly label: string;
  };
}

const hour = 3_600_000;
const rows = fc
  .array(
    fc.record({
      step: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 30 * hour })),
      t: fc.oneof(
        fc.integer().map((n) => n / 100),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      ),
      on: fc.boolean(),
      label: fc.constantFrom('', 'idle', 'running', 'ü\ud800'),
    }),
    { minLength: 1, maxLength: 90 },
  )
  .map((steps) => {
    let at = 1_700_000_000_000;
    return steps.map(({ step, t, on, label }): Row => {
      at += step;
      return { at, data: { t, inner: { on }, label } };
    });
  });

function columnsOf(deviceId: string, part: readonly Row[]) {
  const texts = [...new Set(part.map(({ data }) => data.label))];
  const [{ deviceId: _, timestamp: __, data: ___, ...head } = undefined as never] = entryOf(
    deviceId,
    [{ at: 0, data: {} }],
  ).samples;
  return {
    receivedAt: 7,
    parts: [{ deviceId, head, from: 0, to: part.length }],
    example: part[0]!.data,
    timestamps: Float64Array.from(part, ({ at }) => at),
    columns: [
      Float64Array.from(part, ({ data }) => data.t),
      Float64Array.from(part, ({ data }) => Number(data.inner.on)),
      Float64Array.from(part, ({ data }) => texts.indexOf(data.label)),
    ],
    texts,
  };
}

async function append(store: TestSamples, deviceId: string, part: readonly Row[]) {
  const placed = await store.appendColumns(columnsOf(deviceId, part));
  const { items = [], failure } = (await placed?.outcome) ?? {};
  const entries = items.map((item) => (isRows(item) ? item.entryAt(0) : item));
  expect(failure).toBeUndefined();
  expect(placed?.left).toEqual(entries.length === 0 ? [0] : []);
  return entries[0];
}

const view = (samples: readonly { timestamp: number; topic: string; data: unknown }[]): unknown[] =>
  samples.map(({ timestamp, topic, data }) => [timestamp, topic, data]);

test('property: columns and single samples read alike, when durable and after a crash', async () => {
  const store = await open();
  let device = 0;
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 90 }), async (all, cut) => {
      const [byColumns, bySamples] = [`c${++device}`, `s${device}`];
      for (const part of [all.slice(0, cut), all.slice(cut)]) {
        if (part.length === 0) continue;
        const durable = await append(store, byColumns, part);
        const plain = await store.append(entryOf(bySamples, part));
        expect(durable?.summary).toMatchObject({ count: part.length, oldest: part[0]!.at });
        expect(view(durable!.samples)).toEqual(view(plain.samples));
        expect(durable!.samples.map(({ cursor }) => cursor.slice(-6))).toEqual(
          plain.samples.map(({ cursor }) => cursor.slice(-6)),
        );
      }
      expect(view(await allSamples(store, byColumns))).toEqual(
        view(await allSamples(store, bySamples)),
      );
    }),
    { numRuns: 60 },
  );
  await store.idle();
  const crashed = join(root, 'crashed');
  cpSync(join(root, '1'), crashed, { recursive: true });
  const after = await open(crashed);
  expect(after.damage).toEqual([]);
  for (let i = 1; i <= device; i++) {
    const expected = view(await allSamples(store, `s${i}`));
    expect(view(await allSamples(after, `c${i}`))).toEqual(expected);
    expect(view(await allSamples(after, `s${i}`))).toEqual(expected);
  }
});

test('rows that may be stored, or may be on their way, are left to the search for duplicates', async () => {
  const store = await open();
  const row = (at: number): Row => ({ at, data: { t: at, inner: { on: true }, label: 'x' } });
  expect(await append(store, 'd', [row(10), row(20)])).toBeDefined();
  for (const late of [[row(20)], [row(5), row(30)], [row(10), row(20)]])
    expect(await append(store, 'd', late)).toBeUndefined();
  const underWay = store.append(entryOf('d', [row(40)]));
  expect(await append(store, 'd', [row(40), row(50)])).toBeUndefined();
  await underWay;
  const columns = append(store, 'd', [row(60), row(70)]);
  const again = await store.append(entryOf('d', [row(70), row(80)]));
  expect(again).toMatchObject({ duplicates: 1 });
  await columns;
  expect((await allSamples(store, 'd')).map(({ timestamp }) => timestamp)).toEqual([
    80, 70, 60, 40, 20, 10,
  ]);
});

test('columns that are not the values of the data are not taken', async () => {
  const store = await open();
  const part = [{ at: 1, data: { t: 1, inner: { on: true }, label: 'x' } }];
  const columns = columnsOf('d', part);
  const wrong = { ...columns, example: { t: 1, inner: { on: [] }, label: 'x' } };
  expect(await store.appendColumns(wrong)).toBeUndefined();
  expect(await store.appendColumns({ ...columns, example: { t: 1 } })).toBeUndefined();
});
