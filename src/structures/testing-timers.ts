// Timers of tests: they fire when the test says so.
import type { SetTimer } from './timers.ts';

interface ManualTimers {
  readonly setTimer: SetTimer;
  /** Delays of the timers that are set, in the order in which they were set. */
  delays(): readonly number[];
  /** Fires the timers that are set now. */
  fire(): void;
}

export function manualTimers(): ManualTimers {
  const timers = new Set<{ readonly task: () => void; readonly delayMs: number }>();
  return {
    setTimer(task, delayMs) {
      const timer = { task, delayMs };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    delays: () => [...timers].map(({ delayMs }) => delayMs),
    fire() {
      for (const timer of [...timers]) if (timers.delete(timer)) timer.task();
    },
  };
}
