// Faults during sealing and dropping: every row is stored once, and counts are right.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';

const fullDevice = '/dev/full';
const hasFullDevice = existsSync(fullDevice);
if (!hasFullDevice) console.log('left out: a disk that refuses every write needs /dev/full');

let root: string;
let directory: string;
let store: TestSamples;
const copies: TestSamples[] = [];
const open = (folder = directory, limits: Partial<StoreLimits> = {}) =>
  openTestSamples({ directory: folder, now: () => 1, limits: { segmentsToMerge: 100, ...limits } });

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'heliograph-fleet-'));
  directory = join(root, 'live');
  store = await open();
});
afterEach(async () => {
  for (const each of [store, ...copies.splice(0)]) await each.close();
  rmSync(root, { recursive: true });
});

async function send(deviceId: string, at: number, target = store): Promise<void> {
  await target.append(entryOf(deviceId, [{ at, data: { value: at } }]));
}

/** The store as a crash at this moment leaves it. */
async function crashed(manifestOf?: string): Promise<TestSamples> {
  const folder = join(root, `copy-${copies.length}`);
  cpSync(directory, folder, { recursive: true });
  if (manifestOf !== undefined) cpSync(manifestOf, join(folder, 'segments', 'manifest.json'));
  const copy = await open(folder);
  copies.push(copy);
  return copy;
}

async function count(deviceId: string, target = store): Promise<number> {
  return (await allSamples(target, deviceId)).length;
}

async function usage(target = store): Promise<number | undefined> {
  return (await target.usage()).get('w1')?.samples;
}

test.runIf(hasFullDevice)(
  'rows of a busy device are there once when sealing the others fails after they became chunks',
  async () => {
    await store.close();
    store = await open(directory, { chunkRowsMin: 30 });
    for (let at = 0; at < 40; at++) await send('busy', at);
    for (let at = 0; at < 5; at++) await send(`d${at}`, at);
    const segments = join(directory, 'segments');
    for (let number = 1; number < 20; number++)
      symlinkSync(fullDevice, join(segments, `.${String(number).padStart(10, '0')}.segment.new`));
    await expect(store.sealAll()).rejects.toMatchObject({ code: 'ENOSPC' });
    for (const name of readdirSync(segments).filter((one) => one.endsWith('.new')))
      rmSync(join(segments, name));
    await store.sealAll();
    expect([await count('busy'), await count('d3'), await usage()]).toEqual([40, 1, 45]);
    expect(await count('busy', await crashed())).toBe(40);
  },
);

test('a run counts on no device that came while the numbers of its own were saved', async () => {
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 10; i++) await send(`r${round}-${i}`, i);
    const sealing = store.sealAll();
    for (let i = 0; i < 10; i++) await send(`later${round}-${i}`, i);
    await sealing;
    const copy = await crashed();
    expect(copy.damage).toEqual([]);
    expect(await usage(copy)).toBe((round + 1) * 20);
  }
});

/** Some turns later, in which other work has begun. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

test.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s: what a device sends after it was dropped stays, at whatever moment', async (_, limits) => {
  await store.close();
  store = await open(directory, limits);
  for (let round = 0; round < 12; round++) {
    const id = (i: number): string => `r${round}-${i}`;
    for (let i = 0; i < 10; i++) await send(id(i), i);
    const sealing = store.sealAll();
    await turns(round);
    const dropping = store.dropDevice(id(7));
    await send(id(7), 100);
    const sealingAgain = store.sealAll();
    expect(await dropping).toMatchObject({ samples: 1 });
    await Promise.all([sealing, sealingAgain]);
    await store.sealAll();
    expect([await count(id(7)), await usage()]).toEqual([1, 10 * (round + 1)]);
    const copy = await crashed();
    expect([await count(id(7), copy), await usage(copy)]).toEqual([1, 10 * (round + 1)]);
  }
});

test('rows are counted right when a crash comes between the numbers and the manifest', async () => {
  for (let i = 0; i < 30; i++) await send(`d${i}`, i);
  await store.sealAll();
  const before = join(root, 'manifest.json');
  cpSync(join(directory, 'segments', 'manifest.json'), before);
  await store.dropDevice('d7');
  const copy = await crashed(before);
  expect([await count('d7', copy), await usage(copy)]).toEqual([0, 29]);
  expect(await copy.dropDevice('d7')).toMatchObject({ samples: 0 });
  expect(await usage(copy)).toBe(29);
});

test('rows are counted right when a device is dropped while its run is written, and a crash follows', async () => {
  const manifest = join(directory, 'segments', 'manifest.json');
  const between = join(root, 'between.json');
  for (let round = 0; round < 16; round++) {
    for (let i = 0; i < 20; i++) await send(`r${round}-${i}`, i);
    const sealing = store.sealAll();
    await turns(round * 6);
    const state = { over: false };
    const dropping = store.dropDevice(`r${round}-7`).finally(() => {
      state.over = true;
    });
    const manifests = new Set<string>();
    for (; !state.over; await turns(1)) manifests.add(readFileSync(manifest, 'utf8'));
    await Promise.all([sealing, dropping]);
    for (const text of manifests) {
      writeFileSync(between, text);
      expect(await usage(await crashed(between))).toBe(19 * (round + 1));
    }
  }
});

test('sealing everything ends, and runs are merged, while more and more is written', async () => {
  await store.close();
  store = await open(directory, { memtableRowsMax: 30, runsToMerge: 3, lookEveryBytes: 1_000 });
  const state = { over: false };
  const writing = (async () => {
    for (let at = 0; !state.over; at++)
      await Promise.all(Array.from({ length: 30 }, (_, i) => send(`d${i}`, at)));
  })();
  await turns(20);
  await store.sealAll();
  state.over = true;
  await writing;
  await store.idle();
  const runs = readdirSync(join(directory, 'segments')).filter((name) =>
    /^\d.*segment$/.test(name),
  );
  expect(runs.length).toBeLessThan(20);
  expect(await usage()).toBe(30 * (await count('d3')));
});

test('a folder has a manifest before its first segment', () => {
  expect(readdirSync(join(directory, 'segments'))).toContain('manifest.json');
});
