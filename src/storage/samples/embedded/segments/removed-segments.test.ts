// Removed segments: a power cut may bring back files whose removal was not synced; they stay removed.
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { allSamples, entryOf } from '../../conformance/sample-entries.ts';
import { openTestSamples } from '../../testing-samples.ts';
import type { StoreLimits } from '../store-limits.ts';
import { verifyStore } from '../store-loader.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

describe.each<[string, Partial<StoreLimits>]>([
  ['runs of many devices', {}],
  ['chunks of one device', { chunkRowsMin: 1 }],
])('%s', (_, limits) => {
  const open = (directory: string) => openTestSamples({ directory, now: () => 1, limits });
  const entry = (device: string, at: number) => entryOf(device, [{ at, data: { at } }]);
  const segmentsOf = (directory: string) =>
    readdirSync(join(directory, 'segments')).filter((name) => name.endsWith('.segment'));

  test('review reliability 9: files of a deleted device that a power cut brings back are removed again, and no damage', async () => {
    const root = mkdtempSync(join(tmpdir(), 'removed-segments-'));
    roots.push(root);
    const [folder, kept] = [join(root, 'store'), join(root, 'kept')];
    const store = await open(folder);
    for (const device of ['deleted', 'other']) {
      await store.append(entry(device, 1));
      await store.sealAll();
    }
    cpSync(join(folder, 'segments'), kept, { recursive: true });
    await store.dropDevice('deleted');
    const removed = readdirSync(kept)
      .filter((name) => name.endsWith('.segment'))
      .filter((name) => !segmentsOf(folder).includes(name));
    expect(removed).toHaveLength(1);
    // The next manifest may be on the disk although the removal before it is not.
    await store.append(entry('other', 2));
    await store.sealAll();
    const cut = join(root, 'cut');
    cpSync(folder, cut, { recursive: true });
    for (const name of removed) copyFileSync(join(kept, name), join(cut, 'segments', name));
    await store.close();

    expect((await verifyStore(cut)).damage).toEqual([]);
    const again = await open(cut);
    try {
      expect(again.damage).toEqual([]);
      expect(await allSamples(again, 'deleted')).toEqual([]);
      expect(await allSamples(again, 'other')).toHaveLength(2);
      expect(readdirSync(join(cut, 'segments'))).not.toContain(removed[0]);
    } finally {
      await again.close();
    }
  });
});
