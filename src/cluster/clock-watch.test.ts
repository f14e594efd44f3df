// Clock watch: a difference is reported once, and only when the time of the answer does not explain it.
import { expect, test } from 'vitest';
import { ClockWatch } from './clock-watch.ts';

/** Each comparison: the own clock before and after, and that of the server. */
async function compare(...comparisons: readonly (readonly [number, number, number])[]) {
  const times = comparisons.flatMap(([before, , after]) => [before, after]);
  const server = comparisons.map(([, there]) => there);
  const reports: string[] = [];
  const watch = new ClockWatch({
    serverTime: async () => server.shift() ?? 0,
    now: () => times.shift() ?? 0,
    differs: ({ message }) => void reports.push(message),
  });
  for (const _ of comparisons) await watch.compare();
  return { aheadMs: watch.aheadMs(), reports };
}

test.each<[string, [number, number, number], number, string | undefined]>([
  ['the same time', [1_000, 1_005, 1_010], 0, undefined],
  ['a slow answer', [1_000, 8_000, 9_000], 0, undefined],
  ['a little ahead', [3_000, 1_500, 3_001], 1_500, undefined],
  ['ahead', [63_500, 1_000, 63_600], 62_500, '62.5 s ahead of'],
  ['behind', [1_000, 6_050, 1_050], -5_000, '5.0 s behind'],
])('%s', async (_, comparison, ahead, report) => {
  const { aheadMs, reports } = await compare(comparison);
  expect(aheadMs).toBe(ahead);
  expect(reports).toHaveLength(report === undefined ? 0 : 1);
  expect(reports[0] ?? '').toContain(report ?? '');
});

test('a difference is reported again only after it was gone', async () => {
  const [same, ahead] = [
    [0, 0, 0],
    [9_000, 0, 9_000],
  ] as const;
  expect((await compare(ahead, ahead)).reports).toHaveLength(1);
  expect((await compare(ahead, same, ahead)).reports).toHaveLength(2);
});
