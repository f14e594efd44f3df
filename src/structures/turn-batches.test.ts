// Turn batches: one read for a turn, in parts, one after the other, and a failure only for those that asked.
import { expect, test } from 'vitest';
import { createTurnBatches } from './turns.ts';

function batches(max: number) {
  const calls: (readonly string[])[] = [];
  const read = createTurnBatches(async (keys) => {
    calls.push(keys);
    if (keys.includes('broken')) throw new Error('disk');
    return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
  }, max);
  return { calls, read };
}

test('what is asked for in one turn is read by one call, each key once', async () => {
  const { calls, read } = batches(10);
  const asked = ['a', 'b', 'a', 'none'].map((key) => read(key));
  expect(await Promise.all(asked)).toEqual(['A', 'B', 'A', undefined]);
  expect(await read('c')).toBe('C');
  expect(calls).toEqual([['a', 'b', 'none'], ['c']]);
});

test('a call has at most the given number of keys', async () => {
  const { calls, read } = batches(2);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(read));
  expect(calls).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('only the keys of a failed read are rejected', async () => {
  const { read } = batches(2);
  const results = await Promise.allSettled(['a', 'broken', 'c'].map(read));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('what is asked for during a read waits, and is read together', async () => {
  const calls: (readonly string[])[] = [];
  const started: (() => void)[] = [];
  const read = createTurnBatches(async (keys) => {
    calls.push(keys);
    await new Promise<void>((resolve) => void started.push(resolve));
    return new Map(keys.map((key) => [key, key.toUpperCase()]));
  }, 10);
  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
  const asked = [read('a')];
  await turn();
  for (const key of ['b', 'c']) {
    asked.push(read(key));
    await turn();
  }
  expect(calls).toEqual([['a']]);
  started.shift()?.();
  await turn();
  expect(calls).toEqual([['a'], ['b', 'c']]);
  started.shift()?.();
  expect(await Promise.all(asked)).toEqual(['A', 'B', 'C']);
  asked.push(read('d'));
  await turn();
  started.shift()?.();
  expect(await asked[3]).toBe('D');
});
