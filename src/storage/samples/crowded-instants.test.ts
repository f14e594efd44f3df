// Crowded instants: many samples of one time are compared in time that grows with their number, however they are mixed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadCpuUsage } from 'node:process';
import { expect, test } from 'vitest';
import { entryOf } from './conformance/sample-entries.ts';
import { openTestSamples } from './testing-samples.ts';

const samplesPerEntry = 1_000;
const entries = 6;

/** Processor milliseconds for samples of one topic whose times are mixed from so many instants. */
async function costMs(instants: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-crowded-'));
  const store = await openTestSamples({ directory, now: () => 1 });
  try {
    let ms = 0;
    for (let entry = 0; entry < entries; entry++) {
      const samples = Array.from({ length: samplesPerEntry }, (_, i) => ({
        at: 1_700_000_000_000 + (i % instants),
        data: { value: entry * samplesPerEntry + i },
      }));
      const before = threadCpuUsage().user;
      const { duplicates } = await store.append(entryOf('d', samples));
      ms += (threadCpuUsage().user - before) / 1_000;
      expect(duplicates).toBe(0);
    }
    const again = { at: 1_700_000_000_000, data: { value: 0 } };
    expect((await store.append(entryOf('d', [again]))).duplicates).toBe(1);
    return ms;
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The collector and other processes add to an attempt; what the code costs is in each. */
async function leastMs(instants: number): Promise<number> {
  const attempts = [await costMs(instants), await costMs(instants), await costMs(instants)];
  return Math.min(...attempts);
}

test('review security 4: samples that alternate between a few instants cost about as much as those of one', async () => {
  await costMs(1);
  const one = await leastMs(1);
  expect(await leastMs(3)).toBeLessThan(4 * one + 50);
  expect(await leastMs(9)).toBeLessThan(4 * one + 50);
});
