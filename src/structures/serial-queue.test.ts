// Serial queue: order, failures and waiting.
import { expect, test } from 'vitest';
import { createSerialQueue } from './work-queues.ts';

test('tasks run one at a time in their order, and a failed one does not stop the next', async () => {
  const queue = createSerialQueue();
  const log: string[] = [];
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const tasks = gates.map(({ promise }, i) =>
    queue.run(async () => {
      log.push(`start ${i}`);
      await promise;
      log.push(`end ${i}`);
      if (i === 1) throw new Error('task 1 failed');
      return i;
    }),
  );
  const settled = Promise.allSettled(tasks);
  for (const { resolve } of gates.toReversed()) resolve();
  expect(await settled).toMatchObject([
    { value: 0 },
    { reason: { message: 'task 1 failed' } },
    { value: 2 },
  ]);
  expect(log).toEqual(['start 0', 'end 0', 'start 1', 'end 1', 'start 2', 'end 2']);
});

test('a task that throws at once rejects, and idle resolves after the last task', async () => {
  const queue = createSerialQueue();
  const failed = queue.run(() => {
    throw new Error('thrown');
  });
  let isDone = false;
  void queue.run(async () => {
    await Promise.resolve();
    isDone = true;
  });
  await queue.idle();
  expect(isDone).toBe(true);
  await expect(failed).rejects.toThrow('thrown');
});
