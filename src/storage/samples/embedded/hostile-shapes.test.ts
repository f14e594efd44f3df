// Samples with a random key: tables, files and costs of other tenants are bounded.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import { ShapeInterner } from '../../log/data-shape.ts';
import { SeriesRegistry } from './rows/series.ts';
import { createInterners, openSegments, verifyStore } from './store-loader.ts';
import { storeLimits } from './store-limits.ts';

const limits = { tablesMax: 40, tablesPerWorkspace: 16, memtablesMax: 24, runsToMerge: 4 };
const start = Date.UTC(2026, 2, 1);
let directory: string;
let store: TestSamples;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-hostile-'));
  store = await openTestSamples({ directory, now: () => 1, limits });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function files(): number {
  return readdirSync(join(directory, 'segments')).filter((name) => name.endsWith('.segment'))
    .length;
}

/** Entries of one sample; each has a key that no other has. */
async function sendRandomKeys(workspaceId: string, count: number, first: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const data = { [`k${first + i}`]: i, v: 1 };
      const sample = { at: start + first + i, data, workspaceId };
      return store.append(entryOf(`${workspaceId}-${i % 20}`, [sample]));
    }),
  );
}

async function sendFleet(round: number): Promise<void> {
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => {
      const sample = { at: start + round * 900_000 + i, data: { t: i, h: round } };
      return store.append(entryOf(`good${i}`, [{ ...sample, workspaceId: 'good' }]));
    }),
  );
}

test('random keys of some workspaces make no more runs than the limits say, and none without end', async () => {
  const rounds = 12;
  for (let round = 0; round < rounds; round++) {
    for (const workspaceId of ['w1', 'w2', 'w3'])
      await sendRandomKeys(workspaceId, 100, round * 100);
    await sendFleet(round);
    await store.sealAll();
    await store.idle();
    // The first rounds take all tables. Each has one level of runs, and chunks are merged too.
    expect(files()).toBeLessThan(limits.tablesMax * 2 + 20);
  }
  const usage = await store.usage();
  expect([...usage].map(([id, { samples }]) => [id, samples]).toSorted()).toEqual([
    ['good', 200 * rounds],
    ['w1', 100 * rounds],
    ['w2', 100 * rounds],
    ['w3', 100 * rounds],
  ]);
  expect(await allSamples(store, 'w2-7')).toHaveLength(5 * rounds);
  expect(await allSamples(store, 'good7')).toHaveLength(rounds);
  await store.close();
  expect(await verifyStore(directory)).toMatchObject({ damage: [] });
});

test('a fleet that comes after them still has a table: its rows are in one run, not in chunks by device', async () => {
  await sendRandomKeys('w1', 500, 0);
  await store.sealAll();
  const before = await store.idle().then(files);
  await sendFleet(0);
  await store.sealAll();
  await store.idle();
  expect(files()).toBe(before + 1);
  await store.close();
  const { chunks } = await verifyStore(directory);
  // Only of the hostile tenant.
  expect(chunks).toBeLessThanOrEqual(500);
});

/** Bytes that JavaScript holds after a collection of garbage. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('10,000 shapes take little memory when they are sealed, and after the next start', async () => {
  const before = heapUsed();
  for (let first = 0; first < 10_000; first += 1_000) await sendRandomKeys('w1', 1_000, first);
  await store.sealAll();
  await store.idle();
  // They took 56 MB.
  expect(heapUsed() - before).toBeLessThan(25e6);
  await store.close();
  store = await openTestSamples({ directory, now: () => 1, limits });
  expect(heapUsed() - before).toBeLessThan(25e6);
  expect(await allSamples(store, 'w1-7')).toHaveLength(500);
});

test('long strings are not kept in memory after they are stored', async () => {
  const before = heapUsed();
  const long = (i: number) => ({ text: `${i} `.padEnd(200_000, 'x') });
  for (let i = 0; i < 200; i += 2) {
    const samples = [i, i + 1].map((n) => ({ at: start + n, data: long(n) }));
    await store.append(entryOf('d1', samples));
  }
  await store.sealAll();
  await store.idle();
  // They are 40 MB.
  expect(heapUsed() - before).toBeLessThan(10e6);
});

/** Chunks of devices with those names; rows in runs are in none. */
async function chunksOf(prefix: string): Promise<number> {
  const registry = new SeriesRegistry(storeLimits);
  const { segments } = await openSegments(registry, {
    directory: join(directory, 'segments'),
    interners: createInterners(registry, new ShapeInterner()),
    logStart: undefined,
    repair: false,
  });
  for (const { file } of segments) file.close();
  return segments
    .flatMap(({ members }) => members)
    .filter(({ series }) => series.device.id.startsWith(prefix)).length;
}

test.each([
  ['they took all tables', { tablesPerWorkspace: 5, memtablesMax: 100 }],
  ['they took all memtables', { tablesPerWorkspace: 5, tablesMax: 1_000, memtablesMax: 12 }],
])('a fleet that comes after eight hostile workspaces has tables, although %s', async (_, more) => {
  await store.close();
  store = await openTestSamples({ directory, now: () => 1, limits: { ...limits, ...more } });
  const hostile = Array.from({ length: 8 }, (__, i) => `w${i}`);
  // Nothing is sealed between: their memtables are still there.
  for (const workspaceId of hostile) await sendRandomKeys(workspaceId, 20, 0);
  await sendFleet(0);
  await sendRandomKeys('w3', 20, 1_000);
  await sendFleet(1);
  await store.close();
  expect(await chunksOf('w')).toBeGreaterThan(0);
  expect(await chunksOf('good')).toBe(0);
  store = await openTestSamples({ directory, now: () => 1, limits });
  expect(await allSamples(store, 'good7')).toHaveLength(2);
  for (const workspaceId of hostile)
    expect(await allSamples(store, `${workspaceId}-7`)).toHaveLength(workspaceId === 'w3' ? 2 : 1);
});
