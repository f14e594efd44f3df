// Clock steps with a clock that a test sets.
import { expect, test } from 'vitest';
import { watchClockSteps } from './clock.ts';

test.each([
  ['back 5 s', -5_000, [5_000]],
  ['back a day', -86_400_000, [86_400_000]],
  ['back two years', -2 * 365 * 86_400_000, [2 * 365 * 86_400_000]],
  ['back 1 s', -1_000, []],
  ['ahead 5 s', 5_000, []],
  ['ahead two years', 2 * 365 * 86_400_000, []],
])('behaviour 7: a clock that is set %s is told once', (_, step, told) => {
  let [wall, steady] = [1_700_000_000_000, 0];
  let look = (): void => undefined;
  const seen: number[] = [];
  watchClockSteps({
    now: () => wall,
    clock: () => steady,
    setRepeatingTimer(task) {
      look = task;
      return () => undefined;
    },
    setBack: (byMs) => seen.push(byMs),
  });
  for (let second = 0; second < 5; second++) {
    wall += 1_000 + (second === 2 ? step : 0);
    steady += 1_000;
    look();
  }
  expect(seen).toEqual(told);
});
