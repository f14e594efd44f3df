// Keyed queue: order within a key, the limit across keys, retries and closing.
import { expect, test } from 'vitest';
import { KeyedQueue } from './work-queues.ts';
import { manualTimers } from './testing-timers.ts';

function queueWith(runningMax: number, work: (key: string) => void = () => undefined) {
  const timers = manualTimers();
  const started: string[] = [];
  const failures: unknown[] = [];
  const ends: (() => void)[] = [];
  const queue = new KeyedQueue({
    work: async (key, isImmediate) => {
      started.push(isImmediate ? `${key}!` : key);
      work(key);
      await new Promise<void>((resolve) => ends.push(resolve));
    },
    failed: (error) => failures.push(error),
    setTimer: timers.setTimer,
    runningMax,
    retryMs: 1_000,
  });
  async function endNext(): Promise<void> {
    ends.shift()?.();
    for (let i = 0; i < 5; i++) await Promise.resolve();
  }
  return { queue, timers, started, failures, endNext };
}

test('a key runs once at a time, and once more for all that was scheduled meanwhile', async () => {
  const { queue, started, endNext } = queueWith(10);
  queue.schedule('a');
  queue.schedule('a');
  queue.schedule('a', true);
  queue.schedule('b');
  expect(started).toEqual(['a', 'b']);
  await endNext();
  expect(started).toEqual(['a', 'b', 'a!']);
  await endNext();
  await endNext();
  await queue.idle();
  expect(started).toHaveLength(3);
});

test('at the maximum, further keys wait for their turn', async () => {
  const { queue, started, endNext } = queueWith(2);
  for (const key of ['a', 'b', 'c', 'd']) queue.schedule(key);
  expect(started).toEqual(['a', 'b']);
  await endNext();
  expect(started).toEqual(['a', 'b', 'c']);
  await endNext();
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

test('work that fails is reported and scheduled again after the delay', async () => {
  let failing = true;
  const { queue, timers, started, failures } = queueWith(1, () => {
    if (failing) throw new Error('no answer');
  });
  queue.schedule('a', true);
  await queue.idle();
  expect(failures).toEqual([new Error('no answer')]);
  expect(timers.delays()).toEqual([1_000]);
  failing = false;
  timers.fire();
  expect(started).toEqual(['a!', 'a']);
});

test('a later delay of a key replaces the earlier one, and closing cancels all', async () => {
  const { queue, timers, started, endNext } = queueWith(1);
  queue.scheduleLater('a', 5_000);
  queue.scheduleLater('a', 100);
  queue.scheduleLater('b', 200);
  expect(timers.delays()).toEqual([100, 200]);
  queue.schedule('c');
  queue.schedule('d');
  const closed = queue.close();
  await endNext();
  await closed;
  queue.schedule('e');
  queue.scheduleLater('e', 1);
  expect(timers.delays()).toEqual([]);
  expect(started).toEqual(['c']);
});
