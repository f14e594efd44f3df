// Retention on a full disk: whole files go first, and what has to be rewritten is tried again until there is room.
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoreLimits } from './store-limits.ts';
import { keepAll, keeping } from '../conformance/retention-times.ts';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { type TestSamples, openTestSamples } from '../testing-samples.ts';
import { dayMs } from '../../../model/instant.ts';

const fullDevice = '/dev/full';
const hasFullDevice = existsSync(fullDevice);
if (!hasFullDevice) console.log('left out: a disk that refuses every write needs /dev/full');
const expired = keeping({ w1: 10 * dayMs });

describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s', (_, ofKind) => {
  let directory: string;
  let store: TestSamples;
  const segments = () => join(directory, 'segments');
  const names = () => readdirSync(segments()).filter((name) => name.endsWith('.segment'));
  const open = () =>
    openTestSamples({ directory, now: () => 1, limits: { segmentsToMerge: 100, ...ofKind } });

  async function addSegment(...days: readonly number[]): Promise<string> {
    const before = names();
    for (const day of days) {
      const rows = Array.from({ length: 200 }, (_, i) => ({
        at: day * dayMs + i,
        data: { value: Math.sin(day + i) },
      }));
      await store.append(entryOf(`d${day}`, rows));
    }
    await store.sealAll();
    return names().find((name) => !before.includes(name))!;
  }

  /** New segments are written to a device that has no room. */
  function fillDisk(): void {
    const next = Math.max(...names().map((name) => Number.parseInt(name, 10))) + 1;
    for (let number = next; number < next + 20; number++)
      symlinkSync(fullDevice, join(segments(), `.${String(number).padStart(10, '0')}.segment.new`));
  }

  function emptyDisk(): void {
    for (const name of readdirSync(segments()).filter((one) => one.endsWith('.new')))
      rmSync(join(segments(), name));
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'heliograph-retention-'));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  test.runIf(hasFullDevice)(
    'review reliability 22: whole files go at once, mixed ones when there is room',
    async () => {
      const mixed = await addSegment(1, 2, 20);
      const whole = await addSegment(3);
      const fresh = await addSegment(21);
      fillDisk();
      for (let round = 0; round < 2; round++) {
        await expect(store.retain(expired)).rejects.toMatchObject({ code: 'ENOSPC' });
        expect(names()).toEqual([mixed, fresh]);
        expect(await allSamples(store, 'd2')).toEqual([]);
        expect(await allSamples(store, 'd20')).toHaveLength(200);
      }
      expect(names()).not.toContain(whole);
      emptyDisk();
      const { bytes } = await store.retain(expired);
      expect(bytes).toBeGreaterThan(1_000);
      expect(names()).not.toContain(mixed);
      expect(await allSamples(store, 'd20')).toHaveLength(200);
    },
  );

  test.runIf(hasFullDevice)(
    'review reliability 22: what a deleted device left behind is tried again too, also after a restart',
    async () => {
      const mixed = await addSegment(1, 2);
      fillDisk();
      await expect(store.dropDevice('d1')).rejects.toMatchObject({ code: 'ENOSPC' });
      await expect(store.retain(keepAll)).rejects.toMatchObject({ code: 'ENOSPC' });
      emptyDisk();
      await store.close();
      store = await open();
      expect(names()).toEqual([mixed]);
      expect((await store.retain(keepAll)).bytes).toBeGreaterThan(1_000);
      expect(names()).not.toContain(mixed);
      expect(await allSamples(store, 'd1')).toEqual([]);
      expect(await allSamples(store, 'd2')).toHaveLength(200);
    },
  );
});
