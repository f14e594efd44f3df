// Memory of the start: one garbage collection frees it, because the heap shrinks only while there is work.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setRepeatingTimer } from '../structures/timers.ts';

const restMs = 2_000;
/** Part of the time that a platform at rest is busy. */
const busyPartMax = 0.02;

/**
 * One collection of garbage, some 80 ms long, after the first two seconds at rest; a platform at rest
 * then takes 30 MiB less. Work frees the memory by itself, and must not wait for this.
 */
export function giveBackStartMemory(): void {
  let before = performance.eventLoopUtilization();
  const cancel = setRepeatingTimer(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > busyPartMax) return;
    cancel();
    collectGarbage();
  }, restMs);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  // Only this flavor returns empty pages to the system.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
