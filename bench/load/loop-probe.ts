// Loop probe: loaded into a platform before its program, tells how long its main thread works between two looks at requests.
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Names the file with the figures of the time since the last SIGUSR2, as JSON. */
export const probeVariable = 'LOOP_PROBE_FILE';

/** Milliseconds of processor time of the main thread. */
export interface Turns {
  readonly longestMs: number;
  /** What somebody meets who comes at any moment of that work, on average. */
  readonly metMs: number;
  /** Collections of garbage, by the clock, so that a loaded machine counts. */
  readonly garbage: Garbage;
}

export interface Garbage {
  readonly sumMs: number;
  readonly longestMs: number;
  /** Longer than `longGarbageMs`. */
  readonly longOnes: number;
}

export const longGarbageMs = 8;

const file = process.env[probeVariable];
if (file !== undefined && isMainThread) {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let longest = 0;
  let sum = 0;
  let squares = 0;
  let before = spent();
  const none: Garbage = { sumMs: 0, longestMs: 0, longOnes: 0 };
  let garbage = none;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      garbage = {
        sumMs: garbage.sumMs + duration,
        longestMs: Math.max(garbage.longestMs, duration),
        longOnes: garbage.longOnes + Number(duration > longGarbageMs),
      };
  }).observe({ entryTypes: ['gc'] });
  setInterval(() => {
    const now = spent();
    const turn = now - before;
    longest = Math.max(longest, turn);
    sum += turn;
    squares += turn ** 2;
    before = now;
  }, 1).unref();
  process.on('SIGUSR2', () => {
    const metMs = sum === 0 ? 0 : squares / sum;
    const turns: Turns = { longestMs: longest, metMs, garbage };
    writeFileSync(`${file}.new`, JSON.stringify(turns));
    renameSync(`${file}.new`, file);
    longest = sum = squares = 0;
    garbage = none;
  });
}
