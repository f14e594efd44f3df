// Lanes against their rules: order within a lane, no lane held up by another, a broken target asked by one delivery at a time.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PendingDelivery } from '../model/delivery.ts';
import { deliveryLanes, laneLimits } from './delivery-queues.ts';
import { dueTimes } from './due-queue.ts';

function pending(
  sequence: number,
  connectorId = 'c',
  deviceId = 'd',
  nextAt = 0,
  tries = 0,
): PendingDelivery {
  return { sequence, connectorId, deviceId, tries, nextAt };
}

const over = { isOver: true } as const;

test('one delivery of a lane at a time, in order of making, whatever the order they come in', () => {
  const lanes = deliveryLanes();
  for (const sequence of [1, 4, 2, 3, 2]) lanes.add(pending(sequence), 0);
  const order: number[] = [];
  for (let [lane] = lanes.start(0); lane !== undefined; [lane] = lanes.start(0)) {
    expect([...lanes.start(0)]).toEqual([]);
    order.push(lane.waiting[0]!.sequence);
    lanes.end(lane, over, true, 0);
  }
  expect([order, lanes.size]).toEqual([[1, 2, 3, 4], 0]);
});

test('a connector whose deliveries hang uses up its own places alone', () => {
  const lanes = deliveryLanes();
  for (let i = 0; i < 100; i++) lanes.add(pending(i, 'hanging', `d${i}`), 0);
  expect([...lanes.start(0)]).toHaveLength(laneLimits.underWayMax);
  lanes.add(pending(1_000, 'well', 'd1'), 0);
  expect([...lanes.start(0)].map(({ connectorId }) => connectorId)).toEqual(['well']);
});

test('what failed keeps its lane waiting and comes again when it is due', () => {
  const lanes = deliveryLanes();
  for (const sequence of [1, 2]) lanes.add(pending(sequence), 0);
  const [lane] = lanes.start(0);
  lanes.end(lane!, { isOver: false, nextAt: 1_000 }, false, 0);
  expect([[...lanes.start(999)].length, lanes.earliest]).toEqual([0, 1_000]);
  expect(
    [...lanes.start(1_000)][0]?.waiting.map(({ sequence, tries }) => [sequence, tries]),
  ).toEqual([
    [1, 1],
    [2, 0],
  ]);
});

test('a broken target is asked by one delivery at a time, first by those that failed, until one arrives', () => {
  const lanes = deliveryLanes();
  for (let i = 0; i < 40; i++) lanes.add(pending(i, 'c', `d${i}`), 0);
  const first = [...lanes.start(0)];
  for (const lane of first) lanes.end(lane, { isOver: false, nextAt: 1_000 }, false, 0);
  expect(lanes.brokenTargets).toBe(1);
  expect([...lanes.start(500)]).toEqual([]);
  const [probe, ...others] = lanes.start(1_000);
  expect([probe?.waiting[0]?.tries, others.length]).toEqual([1, 0]);
  lanes.end(probe!, over, true, 1_000);
  expect(lanes.brokenTargets).toBe(0);
  expect([...lanes.start(1_000)]).toHaveLength(laneLimits.underWayMax);
});

test('a broken target whose failed deliveries are all given up is asked by one that was never tried', () => {
  const lanes = deliveryLanes();
  for (let i = 0; i < 10; i++) lanes.add(pending(i, 'c', `d${i}`), 0);
  for (const lane of lanes.start(0)) lanes.end(lane, over, false, 0);
  for (let i = 10; i < 13; i++) lanes.add(pending(i, 'c', `d${i}`), 0);
  expect(lanes.brokenTargets).toBe(1);
  expect([...lanes.start(0)]).toHaveLength(1);
});

test('property: every delivery is tried, in order within its lane, and never two of a lane at once', () => {
  const one = fc.record({
    connector: fc.integer({ min: 0, max: 3 }),
    device: fc.integer({ min: 0, max: 5 }),
    fails: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 80 }), (wanted) => {
      const lanes = deliveryLanes();
      const failuresLeft = new Map(wanted.map(({ fails }, sequence) => [sequence, fails]));
      wanted.forEach(({ connector, device }, i) =>
        lanes.add(pending(i, `c${connector}`, `d${device}`), 0),
      );
      const done: number[] = [];
      for (let now = 0; lanes.size > 0; now = Math.max(now, lanes.earliest ?? now)) {
        const started = [...lanes.start(now)];
        expect(new Set(started).size).toBe(started.length);
        for (const lane of started) {
          const { sequence } = lane.waiting[0]!;
          const left = failuresLeft.get(sequence)!;
          failuresLeft.set(sequence, left - 1);
          if (left === 0) done.push(sequence);
          lanes.end(lane, left === 0 ? over : { isOver: false, nextAt: now + 10 }, left === 0, now);
        }
      }
      const laneOf = (sequence: number) =>
        `${wanted[sequence]!.connector} ${wanted[sequence]!.device}`;
      expect(done.toSorted((a, b) => a - b)).toEqual(wanted.map((_, i) => i));
      for (const lane of new Set(wanted.map((_, i) => laneOf(i)))) {
        const order = done.filter((sequence) => laneOf(sequence) === lane);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }),
  );
});

test('property: due times come out earliest first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), (times) => {
      const due = dueTimes<number>();
      for (const at of times) due.add(at, at);
      const out: number[] = [];
      for (let at = due.takeDue(50); at !== undefined; at = due.takeDue(50)) out.push(at);
      expect(out).toEqual(times.toSorted((a, b) => a - b));
    }),
  );
});
