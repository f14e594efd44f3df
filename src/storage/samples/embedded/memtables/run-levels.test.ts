// Merging by levels: neighbors of one level, a bounded number of runs, every row written a few times.
import { expect, test } from 'vitest';
import { type LeveledRun, runsToMerge } from './shape-table.ts';

const limits = { runsToMerge: 4, mergedRunBytesMax: 1_000 };
const runs = (levels: string, bytes = 1): LeveledRun[] =>
  [...levels].map((level) => ({ level: Number(level), bytes, damaged: false }));

test.each<[string, readonly [number, number] | undefined]>([
  ['', undefined],
  ['000', undefined],
  ['0000', [0, 4]],
  ['00000', [0, 4]],
  ['10000', [1, 5]],
  ['111000', undefined],
  ['11110000', [0, 4]],
  ['0001000', undefined],
])('of runs of the levels %j', (levels, expected) => {
  expect(runsToMerge(runs(levels), limits)).toEqual(expected);
});

test('runs that would be too large together stay as they are', () => {
  expect(runsToMerge(runs('0000', 251), limits)).toBeUndefined();
  expect(runsToMerge([...runs('000', 990), ...runs('0000', 10)], limits)).toEqual([3, 7]);
});

test('4,096 sealed runs become few, and each was written seven times at most', () => {
  let now: (LeveledRun & { readonly written: number })[] = [];
  for (let i = 0; i < 4_096; i++) {
    now.push({ level: 0, bytes: 1, written: 1, damaged: false });
    for (;;) {
      const found = runsToMerge(now, { runsToMerge: 4, mergedRunBytesMax: 1e9 });
      if (found === undefined) break;
      const inputs = now.slice(...found);
      const merged = {
        level: inputs[0]!.level + 1,
        bytes: inputs.reduce((sum, { bytes }) => sum + bytes, 0),
        written: Math.max(...inputs.map(({ written }) => written)) + 1,
        damaged: false,
      };
      now = now.toSpliced(found[0], inputs.length, merged);
    }
    expect(now.length).toBeLessThan(4 * 7);
  }
  expect(now).toEqual([{ level: 6, bytes: 4_096, written: 7, damaged: false }]);
});
