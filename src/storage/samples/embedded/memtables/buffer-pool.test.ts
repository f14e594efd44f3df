// Memory of sealed memtables is used again, but not while rows in it are read.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sample } from '../../../../model/sample.ts';
import { entryOf } from '../../conformance/sample-entries.ts';
import { openTestSamples } from '../../testing-samples.ts';
import { SpareMemory } from './memtable.ts';

const kib = 1024;

test.each([
  ['the same size', [128], 128, [true]],
  ['another size', [128], 256, [false]],
  ['a small size', [32], 32, [false]],
  ['more than is given', [128, 128], 128, [true, true, false]],
  ['after more than is kept', [128, 512, 512], 128, [false]],
  ['what came after more than is kept', [512, 512, 128], 128, [true]],
])('memory for %s', (_, given, taken, areUsedAgain) => {
  const memory = new SpareMemory(1_000 * kib);
  const buffers = new Set(given.map((size) => new SharedArrayBuffer(size * kib)));
  for (const buffer of buffers) memory.give(buffer);
  const found = areUsedAgain.map(() => memory.take(taken * kib));
  expect(found.map((buffer) => buffers.has(buffer))).toEqual(areUsedAgain);
  expect(new Set(found).size).toBe(found.length);
});

test('rows that are read while others take their place stay as they were', async () => {
  const rowsMax = 16_384;
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-spare-memory-'));
  const limits = { memtableRowsMax: rowsMax, chunkRowsMin: 10 * rowsMax };
  const samples = await openTestSamples({ directory, now: Date.now, limits });
  // Each fills a memtable, so that the next one has the same size.
  const fill = async (first: number): Promise<void> => {
    for (let from = first; from < first + rowsMax; from += 1_024) {
      const rows = Array.from({ length: 1_024 }, (_, i) => ({
        at: from + i,
        data: { n: from + i },
      }));
      await samples.append(entryOf('d1', rows));
    }
  };
  try {
    for (let first = 0; first < 3 * rowsMax; first += rowsMax) {
      if (first === 0) await fill(first);
      const batches = samples.exportSamples({ deviceId: 'd1', from: first });
      const read: Sample[] = [];
      for await (const batch of batches) {
        if (read.length === 0) {
          await samples.sealAll();
          await fill(first + rowsMax);
        }
        read.push(...batch);
      }
      const expected = Array.from({ length: rowsMax }, (_, i) => ({ n: first + i }));
      expect(read.map(({ data }) => data)).toEqual(expected);
    }
  } finally {
    await samples.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
