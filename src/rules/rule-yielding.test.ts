// Rule pacing, on a clock that only pauses and the test move.
import { expect, test } from 'vitest';
import { RulePacing } from './rule-follower.ts';

function pacingWith(delayMs = 0) {
  let nowMs = 1_000;
  const pauses: number[] = [];
  const pacing = new RulePacing({
    clock: () => nowMs,
    pause: async (ms) => {
      pauses.push(ms);
      nowMs += ms + (pauses.length === 1 ? delayMs : 0);
    },
  });
  pacing.startSlice();
  return { pacing, pauses, pass: (ms: number) => void (nowMs += ms) };
}

test('a slice lasts half a millisecond, and the next one starts after a pause', async () => {
  const { pacing, pauses, pass } = pacingWith();
  pass(0.4);
  expect(pacing.yieldWhenDue()).toBeUndefined();
  pass(0.1);
  await pacing.yieldWhenDue();
  expect(pauses).toEqual([1]);
  expect(pacing.yieldWhenDue()).toBeUndefined();
  pass(0.5);
  expect(pacing.yieldWhenDue()).toBeInstanceOf(Promise);
});

test.each([
  { delayMs: 1, expected: [1] },
  { delayMs: 3, expected: [1, 6] },
  { delayMs: 500, expected: [1, 10] },
])('a pause delayed by $delayMs ms is followed by $expected', async ({ delayMs, expected }) => {
  const { pacing, pauses, pass } = pacingWith(delayMs);
  pass(1);
  await pacing.yieldWhenDue();
  expect(pauses).toEqual(expected);
});

test.each([
  { states: 99, writeMs: 50, expected: [] },
  { states: 100, writeMs: 5, expected: [40] },
  { states: 10_000, writeMs: 50, expected: [100] },
])('after a write of $states states in $writeMs ms: rests $expected', async (write) => {
  const { pacing, pauses } = pacingWith();
  await pacing.restAfterWrite(write.states, write.writeMs);
  expect(pauses).toEqual(write.expected);
});
