// Sorted runs: all lines come out in order, with any memory.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createSortedRuns } from './sorted-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-sorted-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sorted(lines: readonly string[], runChars: number): Promise<string[]> {
  const runs = createSortedRuns(folder, runChars);
  for (const line of lines) runs.add(line);
  const all: string[] = [];
  for await (const batch of runs.read()) all.push(...batch);
  runs.close();
  return all;
}

test('any lines and any memory', async () => {
  const line = fc.stringMatching(/^[a-zé\t]{1,12}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 60 }), async (lines, runChars) => {
      expect(await sorted(lines, runChars)).toEqual(lines.toSorted());
    }),
    { numRuns: 60 },
  );
});

test('more runs than are read together, and nothing stays on disk', async () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => String((i * 7_919) % 5_000));
  expect(await sorted(lines, 100)).toEqual(lines.toSorted());
  expect(readdirSync(folder)).toEqual([]);
});
