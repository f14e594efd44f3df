// Large work: few of an organization at once, in their order, and no endless wait.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LargeWork, largeWorkLimits } from './large-work.ts';

const { waitingMax, waitMsMax } = largeWorkLimits;
const runningMax = 2;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Work of organization `a` that ends when it is told. */
function started() {
  const large = new LargeWork(runningMax);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      large.run('a', () => {
        begun.push(i);
        return new Promise<number>((resolve) => ends.push(() => resolve(i)));
      }),
    );
  return { large, begun, ends, many };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

test('review security 4: large requests of an organization are in progress a few at a time, in their order', async () => {
  const { large, begun, ends, many } = started();
  const all = many(5);
  await settled();
  expect(begun).toEqual([0, 1]);
  expect(await large.run('b', async () => 'other')).toBe('other');
  ends[1]?.();
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  for (let i = 0; i < 5; i++) {
    ends[i]?.();
    await settled();
  }
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  expect(large.size).toBe(0);
});

test('review security 4: a large request that waits too long, or behind too many, is refused before anything was done', async () => {
  const { large, begun, ends, many } = started();
  const all = many(runningMax + waitingMax + 1).map((one) => one.catch((error: unknown) => error));
  await settled();
  expect(await all.at(-1)).toMatchObject({ problem: 'intakeFull' });
  await vi.advanceTimersByTimeAsync(waitMsMax);
  expect(await Promise.all(all.slice(runningMax))).toHaveLength(waitingMax + 1);
  expect(begun).toHaveLength(runningMax);
  for (const end of ends) end();
  await settled();
  expect(large.size).toBe(0);
});

test('work that fails gives its place to the next', async () => {
  const { large } = started();
  const failing = Array.from({ length: 4 }, () =>
    large.run('a', () => Promise.reject(new Error('no'))),
  );
  for (const one of await Promise.allSettled(failing)) expect(one.status).toBe('rejected');
  expect(large.size).toBe(0);
});
