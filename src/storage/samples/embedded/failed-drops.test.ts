// Failed drops: what could not be dropped is asked for again, and never comes back with a restart.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';

let root: string;
const opened: TestSamples[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heliograph-drops-'));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  rmSync(root, { recursive: true });
});

async function open(directory: string, limits: Partial<StoreLimits>): Promise<TestSamples> {
  const store = await openTestSamples({ directory, now: () => 1, limits });
  opened.push(store);
  return store;
}

test.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', { runsToMerge: 2 }],
  ['chunks of one device', { chunkRowsMin: 1, segmentsToMerge: 2, segmentBytes: 1 }],
])('%s: a device whose dropping failed is dropped by the next attempt', async (_, limits) => {
  const directory = join(root, 'live');
  const store = await open(directory, limits);
  const send = (deviceId: string, at: number) =>
    store.append(entryOf(deviceId, [{ at, data: { value: at } }]));
  for (const at of [1, 2]) await send('gone', at);
  for (let at = 0; at < 10; at++) await send('kept', at);
  await store.sealAll();
  await send('gone', 3);
  // The numbers cannot be replaced while a folder has the name of the unfinished file.
  const numbers = ['devices.numbers', 'devices.numbers.copy'].map((name) =>
    join(directory, 'segments', `.${name}.new`),
  );
  await store.store.idle();
  rmSync(join(directory, 'segments', 'devices.numbers'), { force: true });
  mkdirSync(join(directory, 'segments', 'devices.numbers'));
  for (const path of numbers) mkdirSync(path, { recursive: true });
  await expect(store.dropDevice('gone')).rejects.toThrow(/EISDIR/);
  expect(await store.topics('gone')).toEqual([]);
  expect(await store.mayHold('gone')).toBe(true);
  rmSync(join(directory, 'segments', 'devices.numbers'), { recursive: true });
  for (const path of numbers) rmSync(path, { recursive: true });

  await send('gone', 50);
  await store.dropDevice('gone');
  expect(await store.mayHold('gone')).toBe(false);
  await send('gone', 100);
  for (let at = 10; at < 30; at++) {
    await send('kept', at);
    await store.sealAll();
    await store.store.idle();
  }
  const copy = join(root, 'copy');
  cpSync(directory, copy, { recursive: true });
  for (const each of [store, await open(copy, limits)]) {
    expect((await allSamples(each, 'gone')).map(({ timestamp }) => timestamp)).toEqual([100]);
    expect(await allSamples(each, 'kept')).toHaveLength(30);
    expect((await each.usage()).get('w1')?.samples).toBe(31);
  }
});
