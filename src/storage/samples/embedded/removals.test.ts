// Removals in files: what a replacement removed does not come back and nothing else goes, at whatever moment a crash, a full disk or other work comes.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hourMs } from '../../../model/instant.ts';
import type { RemovedRange } from '../../../model/sample-changes.ts';
import { keepAll } from '../conformance/retention-times.ts';
import { allSamples, collect, entryOf } from '../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../testing-samples.ts';
import type { StoreLimits } from './store-limits.ts';

const fullDevice = '/dev/full';
const hasFullDevice = existsSync(fullDevice);
if (!hasFullDevice) console.log('left out: a disk that refuses every write needs /dev/full');
const rows = 120;
const devices = 12;
const from = 30 * 60_000;
const range: RemovedRange = { topics: null, from, to: 90 * 60_000 };
const left = 60;

describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1, rowsMax: 40, rowsToCloseAtDay: 20 }],
])('%s', (_, limits) => {
  let root: string;
  let directory: string;
  let store: TestSamples;
  const copies: TestSamples[] = [];
  const open = (folder = directory) =>
    openTestSamples({
      directory: folder,
      now: () => 1,
      limits: { segmentsToMerge: 100, ...limits },
    });

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'heliograph-removals-'));
    directory = join(root, 'live');
    store = await open();
  });
  afterEach(async () => {
    for (const each of [store, ...copies.splice(0)]) await each.close();
    rmSync(root, { recursive: true });
  });

  const ids = Array.from({ length: devices }, (_, i) => `d${i}`);

  /** One row a minute for two hours. */
  async function fill(): Promise<void> {
    for (let at = 0; at < rows; at += 10)
      await Promise.all(
        ids.map((id) =>
          store.append(
            entryOf(
              id,
              Array.from({ length: 10 }, (_, i) => ({
                at: (at + i) * 60_000,
                data: { n: at + i },
              })),
            ),
          ),
        ),
      );
  }

  const remove = (id: string, target = store, ranges = [range]) =>
    target.append(entryOf(id, [], { replaces: { cause: 'DELETED', workspaceId: 'w1', ranges } }));

  /** Samples, those that hourly aggregates count, and whether the range is empty. */
  async function seen(id: string, target: TestSamples): Promise<readonly unknown[]> {
    const samples = await allSamples(target, id);
    const [counts = []] = await target.buckets({
      source: 'hours',
      deviceIds: [id],
      topic: 'default',
      dataKey: 'n',
      accumulator: 'COUNT',
      edges: [0, hourMs, 2 * hourMs],
    });
    const inRange = samples.filter(({ timestamp }) => timestamp >= from && timestamp < range.to);
    return [samples.length, counts.map((tally) => tally?.count), inRange.length];
  }

  const whole = [rows, [60, 60], 60];
  const without = [left, [30, 30], 0];

  async function crashed(): Promise<TestSamples> {
    const folder = join(root, `copy-${copies.length}`);
    cpSync(directory, folder, { recursive: true });
    const copy = await open(folder);
    copies.push(copy);
    return copy;
  }

  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  test('contract 38: a crash at any moment of rewriting keeps rows removed, and all others', async () => {
    await fill();
    await store.sealAll();
    const removed = ids.slice(0, 4);
    await Promise.all(removed.map((id) => remove(id)));
    for (let round = 0; round < 8; round++) {
      if (round > 0) await turns(round * 3);
      const copy = await crashed();
      for (const id of ids)
        expect([id, ...(await seen(id, copy))]).toEqual([
          id,
          ...(removed.includes(id) ? without : whole),
        ]);
      // A replay of the same entries and a second rewriting change nothing.
      await copy.rewritten();
      await copy.sealAll();
      expect(await seen('d0', copy)).toEqual(without);
      expect(copy.damage).toEqual([]);
    }
    await store.rewritten();
    expect(await seen('d0', store)).toEqual(without);
    expect((await store.usage()).get('w1')?.samples).toBe(rows * devices - 4 * (rows - left));
    const copy = await crashed();
    expect((await copy.usage()).get('w1')?.samples).toBe(rows * devices - 4 * (rows - left));
  });

  test('contract 38: rows are there once when a crash comes between their new segment and the manifest', async () => {
    await fill();
    await store.sealAll();
    const manifest = join(directory, 'segments', 'manifest.json');
    await remove('d0');
    const before = join(root, 'manifest.json');
    cpSync(manifest, before);
    await store.rewritten();
    const folder = join(root, 'between');
    cpSync(directory, folder, { recursive: true });
    cpSync(before, join(folder, 'segments', 'manifest.json'));
    const copy = await open(folder);
    copies.push(copy);
    expect(await seen('d0', copy)).toEqual(without);
    expect(await seen('d1', copy)).toEqual(whole);
    await copy.rewritten();
    expect(await seen('d0', copy)).toEqual(without);
    expect(copy.damage).toEqual([]);
  });

  test('contract 38: rows that come while files are rewritten stay, and a device that is dropped stays empty', async () => {
    await fill();
    await store.sealAll();
    for (let round = 0; round < 6; round++) {
      const [own = '', dropped = ''] = ids.slice(2 * round, 2 * round + 2);
      const exported = collect(store.exportSamples({ deviceId: own }));
      await remove(own);
      await remove(dropped);
      await turns(round * 2);
      const dropping = store.dropDevice(dropped);
      // Late rows in the removed range, and new ones.
      await store.append(entryOf(own, [{ at: from + 1, data: { n: 1 } }]));
      await store.append(entryOf(own, [{ at: 119 * 60_000 + 1, data: { n: 2 } }]));
      const merging = store.retain(keepAll);
      await Promise.all([dropping, merging, store.rewritten(), store.sealAll()]);
      expect((await exported).length).toBeOneOf([rows, left]);
      expect(await seen(own, store)).toEqual([left + 2, [31, 31], 1]);
      expect(await allSamples(store, dropped)).toEqual([]);
      const copy = await crashed();
      expect(await seen(own, copy)).toEqual([left + 2, [31, 31], 1]);
      expect(await allSamples(copy, dropped)).toEqual([]);
    }
  });

  test('contract 38: samples that were removed are stored when they are sent again', async () => {
    await fill();
    await store.sealAll();
    await remove('d0');
    const again = Array.from({ length: rows }, (_, n) => ({ at: n * 60_000, data: { n } }));
    const { duplicates } = await store.append(entryOf('d0', again));
    expect(duplicates).toBe(left);
    expect(await seen('d0', store)).toEqual(whole);
    await store.rewritten();
    expect(await seen('d0', await crashed())).toEqual(whole);
  });

  test('contract 38: a replacement that read before others came leaves those alone', async () => {
    await fill();
    const before = await store.endOf('d0');
    await store.append(entryOf('d0', [{ at: from + 1, data: { n: 7 } }]));
    const cause = 'CORRECTED';
    const replaces = { cause, workspaceId: 'w1', ranges: [range], before } as const;
    await store.append(entryOf('d0', [{ at: from, data: { n: 8 } }], { replaces }));
    expect(await seen('d0', store)).toEqual([left + 2, [32, 30], 2]);
    await store.rewritten();
    expect(await seen('d0', await crashed())).toEqual([left + 2, [32, 30], 2]);
  });

  test.runIf(hasFullDevice)(
    'contract 38: on a full disk rows stay hidden, and leave the files when there is room',
    async () => {
      await fill();
      await store.sealAll();
      const segments = join(directory, 'segments');
      const next = Math.max(...readdirSync(segments).map((name) => Number.parseInt(name, 10) || 0));
      for (let number = next; number < next + 40; number++)
        symlinkSync(fullDevice, join(segments, `.${String(number).padStart(10, '0')}.segment.new`));
      await remove('d0');
      await store.rewritten();
      expect(await seen('d0', store)).toEqual(without);
      expect(await store.count('d0', [range])).toEqual([]);
      expect(store.takesRanges('d0', 1_000)).toBe(false);
      for (const name of readdirSync(segments).filter((one) => one.endsWith('.new')))
        rmSync(join(segments, name));
      await store.rewritten();
      expect(store.takesRanges('d0', 1_000)).toBe(true);
      expect(await seen('d0', store)).toEqual(without);
      expect(await seen('d0', await crashed())).toEqual(without);
    },
  );
});
