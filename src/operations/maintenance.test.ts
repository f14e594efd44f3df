// Maintenance: rounds of tasks, of which none stops another.
import { expect, test } from 'vitest';
import { manualTimers } from '../structures/testing-timers.ts';
import { Maintenance } from './maintenance.ts';

function started(tasks: Readonly<Record<string, () => Promise<unknown>>>) {
  const timers = manualTimers();
  const failures: string[] = [];
  const maintenance = new Maintenance({
    tasks,
    failed: (task, error) => failures.push(`${task}: ${String(error)}`),
    pause: async () => undefined,
    setRepeatingTimer: timers.setTimer,
  });
  return { maintenance, timers, failures };
}

test('a task that throws or rejects is reported, and the next one runs', async () => {
  const ran: string[] = [];
  const { maintenance, failures } = started({
    throwing: () => {
      throw new Error('a');
    },
    rejecting: async () => Promise.reject(new Error('b')),
    last: async () => ran.push('last'),
  });
  await maintenance.run();
  expect(failures).toEqual(['throwing: Error: a', 'rejecting: Error: b']);
  expect(ran).toEqual(['last']);
});

test('a round in progress is joined, and the close waits for it', async () => {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const { maintenance, timers } = started({
    slow: async () => {
      runs += 1;
      await gate.promise;
    },
  });
  expect(timers.delays()).toEqual([60_000]);
  const first = maintenance.run();
  expect(maintenance.run()).toBe(first);
  const order: string[] = [];
  void first.then(() => order.push('round'));
  const closed = maintenance.close().then(() => order.push('closed'));
  gate.resolve();
  await closed;
  expect(order).toEqual(['round', 'closed']);
  expect(runs).toBe(1);
  expect(timers.delays()).toEqual([]);
});

test('a round starts with the timer', async () => {
  const gate = Promise.withResolvers<void>();
  const { timers } = started({ task: async () => gate.resolve() });
  timers.fire();
  await gate.promise;
});
