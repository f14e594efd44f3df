// Delivery queues: order within a queue, no delay by another queue, one delivery at a time for a broken target.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PendingDelivery } from '../../../model/delivery.ts';
import { mailConnectorId } from '../../../model/ids.ts';
import { DeliveryQueues, DueQueue, queueLimits } from './delivery-queues.ts';

function pending(
  sequence: number,
  connectorId = 'c',
  deviceId = 'd',
  nextAt = 0,
  tries = 0,
  organizationId = 'o',
): PendingDelivery {
  return { sequence, connectorId, organizationId, deviceId, tries, nextAt };
}

const over = { isOver: true } as const;

test('one delivery of a queue at a time, in order of creation, for any order of arrival', () => {
  const queues = new DeliveryQueues();
  for (const sequence of [1, 4, 2, 3, 2]) queues.add(pending(sequence), 0);
  const order: number[] = [];
  for (let [queue] = queues.start(0); queue !== undefined; [queue] = queues.start(0)) {
    expect([...queues.start(0)]).toEqual([]);
    order.push(queue.waiting[0]!.sequence);
    queues.end(queue, over, true, 0);
  }
  expect([order, queues.size]).toEqual([[1, 2, 3, 4], 0]);
});

test('a connector whose deliveries hang uses up its own places alone', () => {
  const queues = new DeliveryQueues();
  for (let i = 0; i < 100; i++) queues.add(pending(i, 'hanging', `d${i}`), 0);
  expect([...queues.start(0)]).toHaveLength(queueLimits.inProgressMax);
  queues.add(pending(1_000, 'well', 'd1'), 0);
  expect([...queues.start(0)].map(({ connectorId }) => connectorId)).toEqual(['well']);
});

test('an organization that floods the mail of the installation delays no other, nor breaks it for others', () => {
  const queues = new DeliveryQueues();
  const mail = (sequence: number, organizationId: string) =>
    queues.add(pending(sequence, mailConnectorId, `d${sequence}`, 0, 0, organizationId), 0);
  for (let i = 0; i < 10_000; i++) mail(i, 'hostile');
  const started = [...queues.start(0)];
  expect(started).toHaveLength(queueLimits.inProgressMax);
  for (const queue of started) queues.end(queue, { isOver: false, nextAt: 9_000 }, false, 0);
  for (let i = 20_000; i < 20_003; i++) mail(i, 'other');
  const others = [...queues.start(0)].filter(({ key }) => key.endsWith(' other'));
  expect(others.map(({ waiting: [first] }) => first?.sequence)).toEqual([20_000, 20_001, 20_002]);
  expect(others.map(({ key }) => [queues.isBroken(key), queues.sizeOf(key)])[0]).toEqual([
    false,
    3,
  ]);
  expect(queues.waitingOf(mailConnectorId)).toBe(10_003);
  expect([...queues.waiting(mailConnectorId)]).toHaveLength(10_003);
  expect(queues.nextRetryOf(mailConnectorId)).toBe(9_000);
});

test('what failed keeps its queue waiting and comes again when it is due', () => {
  const queues = new DeliveryQueues();
  for (const sequence of [1, 2]) queues.add(pending(sequence), 0);
  const [queue] = queues.start(0);
  queues.end(queue!, { isOver: false, nextAt: 1_000 }, false, 0);
  expect([[...queues.start(999)].length, queues.earliest]).toEqual([0, 1_000]);
  expect(
    [...queues.start(1_000)][0]?.waiting.map(({ sequence, tries }) => [sequence, tries]),
  ).toEqual([
    [1, 1],
    [2, 0],
  ]);
});

test('the next retry of a connector is the earliest of those that failed', () => {
  const queues = new DeliveryQueues();
  for (const [i, nextAt] of [3_000, 2_000, 4_000].entries()) {
    queues.add(pending(i, 'c', `d${i}`), 0);
    queues.end([...queues.start(0)][0]!, { isOver: false, nextAt }, false, 0);
  }
  queues.add(pending(9, 'c', 'fresh'), 0);
  expect([queues.nextRetryOf('c'), queues.nextRetryOf('unknown')]).toEqual([2_000, undefined]);
  for (const queue of [...queues.start(5_000)]) queues.end(queue, over, true, 5_000);
  expect(queues.nextRetryOf('c')).toBeUndefined();
});

test('a broken target is asked by one delivery at a time, first by those that failed, until one arrives', () => {
  const queues = new DeliveryQueues();
  for (let i = 0; i < 40; i++) queues.add(pending(i, 'c', `d${i}`), 0);
  const first = [...queues.start(0)];
  for (const queue of first) queues.end(queue, { isOver: false, nextAt: 1_000 }, false, 0);
  expect(queues.brokenTargets).toBe(1);
  expect([...queues.start(500)]).toEqual([]);
  const [probe, ...others] = queues.start(1_000);
  expect([probe?.waiting[0]?.tries, others.length]).toEqual([1, 0]);
  queues.end(probe!, over, true, 1_000);
  expect(queues.brokenTargets).toBe(0);
  expect([...queues.start(1_000)]).toHaveLength(queueLimits.inProgressMax);
});

test('a broken target whose failed deliveries are all given up is asked by one that was never tried', () => {
  const queues = new DeliveryQueues();
  for (let i = 0; i < 10; i++) queues.add(pending(i, 'c', `d${i}`), 0);
  for (const queue of queues.start(0)) queues.end(queue, over, false, 0);
  for (let i = 10; i < 13; i++) queues.add(pending(i, 'c', `d${i}`), 0);
  expect(queues.brokenTargets).toBe(1);
  expect([...queues.start(0)]).toHaveLength(1);
});

test('property: every delivery is tried, in order within its queue, and never two of a queue at once', () => {
  const one = fc.record({
    connector: fc.integer({ min: 0, max: 3 }),
    device: fc.integer({ min: 0, max: 5 }),
    fails: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 80 }), (wanted) => {
      const queues = new DeliveryQueues();
      const failuresLeft = new Map(wanted.map(({ fails }, sequence) => [sequence, fails]));
      wanted.forEach(({ connector, device }, i) =>
        queues.add(pending(i, `c${connector}`, `d${device}`), 0),
      );
      const done: number[] = [];
      for (let now = 0; queues.size > 0; now = Math.max(now, queues.earliest ?? now)) {
        const started = [...queues.start(now)];
        expect(new Set(started).size).toBe(started.length);
        for (const queue of started) {
          const { sequence } = queue.waiting[0]!;
          const left = failuresLeft.get(sequence)!;
          failuresLeft.set(sequence, left - 1);
          if (left === 0) done.push(sequence);
          queues.end(
            queue,
            left === 0 ? over : { isOver: false, nextAt: now + 10 },
            left === 0,
            now,
          );
        }
      }
      const queueOf = (sequence: number) =>
        `${wanted[sequence]!.connector} ${wanted[sequence]!.device}`;
      expect(done.toSorted((a, b) => a - b)).toEqual(wanted.map((_, i) => i));
      for (const queue of new Set(wanted.map((_, i) => queueOf(i)))) {
        const order = done.filter((sequence) => queueOf(sequence) === queue);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }),
  );
});

test('property: due times come out earliest first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), (times) => {
      const due = new DueQueue<number>();
      for (const at of times) due.add(at, at);
      expect([...due.takeDue(50)]).toEqual(times.toSorted((a, b) => a - b));
    }),
  );
});
