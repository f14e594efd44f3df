// Retrying worker: one run at a time, nothing lost between runs, delays of consecutive failures.
import { expect, test } from 'vitest';
import { RetryingWorker } from './retrying-worker.ts';
import { manualTimers } from './testing-timers.ts';

function workerWith(handle: (item: string) => Promise<void> | void) {
  const timers = manualTimers();
  const waiting: string[] = [];
  const done: string[] = [];
  const failures: string[] = [];
  let running = 0;
  const worker = new RetryingWorker({
    hasWork: () => waiting.length > 0,
    async work(progressed) {
      running += 1;
      expect(running).toBe(1);
      try {
        for (const item of [...waiting]) {
          await handle(item);
          waiting.shift();
          done.push(item);
          progressed();
        }
      } finally {
        running -= 1;
      }
    },
    failed: (error) => failures.push((error as Error).message),
    retryDelaysMs: [1, 20, 300],
    setTimer: timers.setTimer,
  });
  function add(item: string): void {
    waiting.push(item);
    worker.wake();
  }
  return { worker, timers, add, done, failures };
}

test('work that is added during a run is done in the next one, without a further call', async () => {
  const { worker, add, done } = workerWith(() => Promise.resolve());
  add('a');
  add('b');
  await worker.idle();
  await worker.idle();
  expect(done).toEqual(['a', 'b']);
});

test('consecutive failures wait longer, up to the last delay; progress starts over', async () => {
  let failing = true;
  const { worker, timers, add, done, failures } = workerWith((item) => {
    if (failing || item === 'b') throw new Error(`cannot do ${item}`);
  });
  add('a');
  for (const delayMs of [1, 20, 300, 300]) {
    await worker.idle();
    expect(timers.delays()).toEqual([delayMs]);
    add('b');
    expect(timers.delays()).toEqual([delayMs]);
    timers.fire();
  }
  await worker.idle();
  failing = false;
  timers.fire();
  await worker.idle();
  expect(done).toEqual(['a']);
  expect(timers.delays()).toEqual([1]);
  expect(failures).toHaveLength(6);
});

test('retryNow ends the wait', async () => {
  let failing = true;
  const { worker, timers, add, done } = workerWith(() => {
    if (failing) throw new Error('no');
  });
  add('a');
  await worker.idle();
  failing = false;
  worker.retryNow();
  expect(timers.delays()).toEqual([]);
  await worker.idle();
  expect(done).toEqual(['a']);
});

test('work that throws before its first await is a failure as any other', async () => {
  const timers = manualTimers();
  const failures: unknown[] = [];
  const worker = new RetryingWorker({
    hasWork: () => true,
    work: () => {
      throw new Error('thrown');
    },
    failed: (error) => failures.push(error),
    retryDelaysMs: [5],
    setTimer: timers.setTimer,
  });
  worker.wake();
  await worker.idle();
  expect(timers.delays()).toEqual([5]);
  timers.fire();
  await worker.idle();
  expect(failures).toHaveLength(2);
});

test('after close nothing starts, and close waits for the run in progress', async () => {
  const gate = Promise.withResolvers<void>();
  const { worker, timers, add, done } = workerWith(() => gate.promise);
  add('a');
  const closed = worker.close().then(() => done.push('closed'));
  gate.resolve();
  await closed;
  add('b');
  worker.retryNow();
  await worker.idle();
  expect(done).toEqual(['a', 'closed']);
  expect(timers.delays()).toEqual([]);
});
