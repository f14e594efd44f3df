// The embedded store passes the suite of all sample stores, and survives being opened again.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { describeSampleStoreMaintenance } from '../conformance/maintenance.conformance.ts';
import { allSamples, collect, entryOf, withSamples } from '../conformance/sample-entries.ts';
import { describeSampleStore } from '../conformance/sample-store.conformance.ts';
import { type TestSamples, openTestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';
import { verifyStore } from './store-loader.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  return directory;
}

async function openIn(
  directory: string,
  clock: { now: number },
  limits: Partial<StoreLimits> = {},
): Promise<TestSamples> {
  const store = await openTestSamples({ directory, now: () => clock.now, limits });
  cleanups.push(() => store.close());
  return store;
}

/** Small, so that a day of the suite is a chunk and some days are a segment. */
const small: Partial<StoreLimits> = {
  rowsToCloseAtDay: 50,
  segmentBytes: 2_000,
  lookEveryBytes: 500,
  segmentsToMerge: 3,
};

describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s', (_, ofKind) => {
  const open = async () => openIn(await temporaryFolder(), { now: 1 }, { ...small, ...ofKind });

  describe('unsealed', () => {
    describeSampleStore(async (clock) => openIn(await temporaryFolder(), clock, ofKind));
    describeSampleStoreMaintenance(open, async () => {});
  });

  describe('sealed', () => {
    describeSampleStoreMaintenance(open, (store) => (store as TestSamples).sealAll());
  });
});

test.each([
  ['rows of memtables', {}],
  ['rows by device', { chunkRowsMin: 10 }],
])('a device that is dropped while another thread makes its chunks: %s', async (_, ofKind) => {
  const directory = await temporaryFolder();
  const limits = { ...small, chunkRowsMin: 100, chunkRowsAtOnce: 0, ...ofKind };
  const store = await openIn(directory, { now: 1 }, limits);
  const samples = Array.from({ length: 20 }, (_, i) => ({ at: i, data: { i } }));
  for (let i = 0; i < 20; i++)
    for (const device of ['gone', 'kept'])
      await store.append(
        entryOf(
          device,
          samples.map(({ at, data }) => ({ at: at + i * 20, data })),
        ),
      );
  const sealed = store.sealAll();
  // Behind the turn in which the job is sent.
  await new Promise((resolve) => setImmediate(resolve));
  await store.dropDevice('gone');
  await sealed;
  expect(await allSamples(store, 'gone')).toEqual([]);
  expect(await allSamples(store, 'kept')).toHaveLength(400);
  await store.close();
  const after = await openIn(directory, { now: 1 }, limits);
  expect(await allSamples(after, 'gone')).toEqual([]);
  expect(await allSamples(after, 'kept')).toHaveLength(400);
  expect(after.damage).toEqual([]);
});

test('a dropped device stays dropped after a crash, whether its samples were journalled or sealed', async () => {
  const directory = await temporaryFolder();
  const store = await openIn(directory, { now: 1 }, { ...small, segmentsToMerge: 100 });
  const entry = (device: string, at: number) =>
    entryOf(
      device,
      Array.from({ length: 40 }, (_, i) => ({ at: at + i, data: { at, i } })),
    );
  for (const device of ['gone', 'kept', 'kept2', 'kept3', 'kept4', 'kept5'])
    await store.append(entry(device, 0));
  await store.sealAll();
  for (const device of ['gone', 'kept']) await store.append(entry(device, 1_000));
  await store.dropDevice('gone');
  await store.append(entryOf('gone', [{ at: 5, data: { anew: true } }]));
  const crashed = join(await temporaryFolder(), 'copy');
  await store.idle();
  cpSync(directory, crashed, { recursive: true });
  const after = await openIn(crashed, { now: 1 }, small);
  expect((await allSamples(after, 'gone')).map(({ data }) => data)).toEqual([{ anew: true }]);
  expect(await allSamples(after, 'kept')).toHaveLength(80);
  expect(after.damage).toEqual([]);
});

test('contract 20: samples identical to sealed ones are found after opening again', async () => {
  const directory = await temporaryFolder();
  const entries = Array.from({ length: 5 }, (_, day) =>
    entryOf(
      'd1',
      Array.from({ length: 60 }, (_, i) => ({
        at: day * 86_400_000 + i * 60_000,
        data: { i, x: i / 7 },
      })),
    ),
  );
  const before = await openIn(directory, { now: 1 }, small);
  for (const entry of entries) await before.append(entry);
  await before.close();
  const after = await openIn(directory, { now: 1 }, small);
  for (const entry of entries)
    expect(await after.append(entry)).toMatchObject({ duplicates: 60, samples: [] });
  expect(await allSamples(after, 'd1')).toHaveLength(300);
});

test('background work merges segments, so that their number stays small', async () => {
  const directory = await temporaryFolder();
  const store = await openIn(directory, { now: 1 }, { ...small, journalTailBytes: 1_000 });
  for (let i = 0; i < 120; i++) {
    await store.append(
      entryOf(
        `d${i % 4}`,
        Array.from({ length: 20 }, (_, k) => ({ at: i * 1_000 + k, data: { i, k } })),
      ),
    );
    if (i % 20 === 0) await store.idle();
  }
  await store.idle();
  await store.close();
  const names = readdirSync(join(directory, 'segments')).filter((name) =>
    name.endsWith('.segment'),
  );
  expect(names.length).toBeLessThan(12);
  expect(Math.max(...names.map((name) => Number.parseInt(name, 10)))).toBeGreaterThan(
    names.length * 2,
  );
  const findings = await verifyStore(directory);
  expect(findings).toMatchObject({ sealedSamples: 2_400, damage: [] });
});

test('what arrives while everything is sealed and segments are merged is in the folder, once, also after a crash', async () => {
  const directory = await temporaryFolder();
  const store = await openIn(
    directory,
    { now: 1 },
    { rowsToCloseAtDay: 5, rowsToCloseAtHour: 5, rowsMax: 5 },
  );
  let sent = 0;
  for (let round = 0; round < 12; round++) {
    const sealed = store.sealAll();
    for (let k = 0; k < 20; k++, sent++)
      await store.append(
        entryOf(
          `d${sent % 3}`,
          Array.from({ length: 10 }, (_, i) => ({ at: sent * 100 + i, data: { sent, i } })),
        ),
      );
    await sealed;
  }
  const request = {
    source: 'raw',
    topic: 'default',
    dataKey: 'i',
    accumulator: 'COUNT',
    edges: [0, 1e9],
  } as const;
  const count = async (of: TestSamples): Promise<number> => {
    const answers = await of.buckets({ ...request, deviceIds: ['d0', 'd1', 'd2'] });
    return answers.reduce((sum, [tally]) => sum + (tally?.count ?? 0), 0);
  };
  expect(await count(store)).toBe(sent * 10);
  await store.idle();
  const crashed = join(await temporaryFolder(), 'copy');
  cpSync(directory, crashed, { recursive: true });
  expect((await verifyStore(crashed)).damage).toEqual([]);
  expect(await count(await openIn(crashed, { now: 1 }, small))).toBe(sent * 10);
  expect(store.damage).toEqual([]);
});

test('what cannot be sealed stays readable and is sealed when that is possible again', async () => {
  const directory = await temporaryFolder();
  const store = await openIn(directory, { now: 1 }, small);
  await store.append(entryOf('d1', [{ at: 1, data: { a: 1 } }]));
  rmSync(join(directory, 'segments'), { recursive: true });
  await expect(store.sealAll()).rejects.toThrow();
  expect(await allSamples(store, 'd1')).toHaveLength(1);
  mkdirSync(join(directory, 'segments'));
  await store.append(entryOf('d1', [{ at: 2, data: { a: 1 } }]));
  await store.sealAll();
  expect(await allSamples(store, 'd1')).toHaveLength(2);
});

test('what was acknowledged is there after opening again, with positions, cursors and followers going on', async () => {
  const directory = await temporaryFolder();
  const clock = { now: 500 };
  const before = await openIn(directory, clock);
  const entries = [];
  for (let i = 0; i < 10; i++)
    entries.push(withSamples(await before.append(entryOf('d1', [{ at: i, data: { i } }]))));
  before.setFollowerPosition('rules', 7);
  const samples = await allSamples(before, 'd1');
  await before.close();

  clock.now = 400;
  const after = await openIn(directory, clock);
  expect(after.damage).toEqual([]);
  expect(await allSamples(after, 'd1')).toEqual(samples);
  expect(await collect(after.entriesFrom(0))).toEqual(entries);
  expect(after.followerPosition('rules')).toBe(7);
  expect(after.position).toBe(10);
  const next = await after.append(
    entryOf('d1', [
      { at: 3, data: { i: 3 } },
      { at: 3, data: { i: 'new' } },
    ]),
  );
  expect(next).toMatchObject({ position: 10, duplicates: 1, samples: [{ storedAt: 500 }] });
});
