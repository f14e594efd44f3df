// Fair turns: keys alternate, whoever has less waiting comes sooner, and what is too much is refused.
import { expect, test } from 'vitest';
import { FairTurns } from './work-queues.ts';

const limits = { runningMax: 1, waitingPerKeyMax: 3, keysMax: 2 };

function work() {
  const turns = new FairTurns(limits, () => new Error('full'));
  const ends: (() => void)[] = [];
  const started: string[] = [];
  const run = (key: string, name: string) =>
    turns.run(key, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  return { run, ends, started };
}

test('work of a key that came later runs between the work of a key with much of it', async () => {
  const { run, ends, started } = work();
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1'), run('a', 'a4')];
  for (let at = 0; at < all.length; at++) {
    await expect.poll(() => ends.length).toBe(at + 1);
    ends[at]?.();
  }
  await Promise.all(all);
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('a key with too much work, and a key too many, are refused; failed work frees its turn', async () => {
  const { run, ends } = work();
  const all = ['1', '2', '3', '4'].map((name) => run('a', name));
  await expect(run('a', 'too much')).rejects.toThrow('full');
  all.push(run('b', 'b'));
  await expect(run('c', 'a key too many')).rejects.toThrow('full');
  for (let at = 0; at < all.length; at++) {
    await expect.poll(() => ends.length).toBe(at + 1);
    ends[at]?.();
  }
  await Promise.all(all);
  const turns = new FairTurns(limits, () => new Error('full'));
  await expect(turns.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await turns.run('a', () => Promise.resolve(1))).toBe(1);
});
