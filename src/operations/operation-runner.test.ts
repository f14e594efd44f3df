// Operations of several organizations, on a clock that only moves with the work.
import { expect, test } from 'vitest';
import { ChunkRunner, rest } from './operation-runner.ts';

const chunkTookMs = 12;

/**
 * Runs operations named by organization and number, of so many chunks each; the chunks in their
 * order, and the pauses.
 */
async function run(
  chunks: Record<string, number>,
  fails: (id: string) => boolean = () => false,
  isOwn: (id: string) => boolean = () => true,
) {
  let clock = 0;
  const order: string[] = [];
  const pauses: number[] = [];
  const failures: unknown[] = [];
  const left = { ...chunks };
  const runner = new ChunkRunner({
    runChunk: async (id) => {
      if (fails(id)) throw new Error('broken');
      order.push(id);
      clock += chunkTookMs;
      left[id] = left[id]! - 1;
      return left[id] === 0;
    },
    unfinished: async () => Object.keys(chunks),
    isOwn,
    organizationOf: async (id) => id.slice(0, 1),
    failed: (error) => void failures.push(error),
    clock: () => clock,
    pause: async (ms) => void pauses.push(ms),
  });
  await runner.resume();
  await runner.idle();
  return { order, pauses, failures };
}

test('review security 14: organizations take turns chunk by chunk, whoever has more to do', async () => {
  const { order } = await run({ a1: 3, a2: 2, b1: 2 });
  expect(order).toEqual(['a1', 'b1', 'a1', 'b1', 'a1', 'a2', 'a2']);
});

test('review security 14: after each chunk comes a rest as long as the chunk took', async () => {
  const { pauses } = await run({ a1: 2, b1: 1 });
  expect(pauses).toEqual([chunkTookMs, chunkTookMs, chunkTookMs]);
});

test('an operation that fails leaves the others of its organization to run', async () => {
  const { order, failures } = await run({ a1: 2, a2: 1 }, (id) => id === 'a1');
  expect(order).toEqual(['a2']);
  expect(failures).toHaveLength(1);
});

test('an operation of another node is not run, nor continued when it moves there', async () => {
  let chunks = 0;
  const moves = (id: string) => id !== 'b1' && (id !== 'a1' || chunks++ < 3);
  const { order, failures } = await run({ a1: 5, b1: 1, c1: 1 }, () => false, moves);
  expect(order.filter((id) => id === 'a1').length).toBeLessThan(5);
  expect(order).not.toContain('b1');
  expect(order).toContain('c1');
  expect(failures).toEqual([]);
});

test('a rest ends when nothing else is to be done, and else lasts as long as it may', async () => {
  const lasted = async (ms: number) => {
    const from = performance.now();
    await rest(ms);
    return performance.now() - from;
  };
  expect(await lasted(60_000)).toBeLessThan(30_000);
  let isBusy = true;
  const turn = (): void => {
    if (isBusy) setImmediate(turn);
  };
  turn();
  const busy = await lasted(100);
  isBusy = false;
  expect(busy).toBeGreaterThan(90);
});
