// Timers: canceled ones do not fire, and none keeps the process alive.
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setRepeatingTimer, setTimer } from './timers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ['setTimer', setTimer, 1],
  ['setRepeatingTimer', setRepeatingTimer, 3],
] as const)('%s fires, and not after it was canceled', (_, set, calls) => {
  const task = vi.fn();
  const cancel = set(task, 100);
  vi.advanceTimersByTime(99);
  expect(task).not.toHaveBeenCalled();
  vi.advanceTimersByTime(201);
  expect(task).toHaveBeenCalledTimes(calls);
  cancel();
  set(task, 100)();
  vi.advanceTimersByTime(1_000);
  expect(task).toHaveBeenCalledTimes(calls);
});

test('a process ends although timers are set', async () => {
  const file = new URL('timers.ts', import.meta.url).href;
  const program = `import { setTimer, setRepeatingTimer } from ${JSON.stringify(file)};
    setTimer(() => {}, 3_600_000);
    setRepeatingTimer(() => {}, 3_600_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
});
