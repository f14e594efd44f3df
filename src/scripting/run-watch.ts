// Run watch: keeps one run of a script within its limits.
import type { RunRecorder } from './run-recorder.ts';
import type { ScriptLimits } from './script-limits.ts';

export interface RunWatch {
  /** Applies the limits from now on. */
  start(): void;
  /** Applies no limits from now on, because trusted code runs. */
  release(): void;
  /** The run must end. What it still emits is ignored. */
  readonly stopped: boolean;
  /** Why the host ended it. */
  readonly error: string | undefined;
  /** The limit of CPU time ended it. */
  readonly isLate: boolean;
  /** Ends the run, whose error is already recorded. */
  stop(): void;
  /** Ends the run with an error. */
  fail(message: string): void;
  /** Called by the engine every few thousand steps. Returns `stopped`. */
  poll(): boolean;
}

export interface RunWatchParts {
  readonly limits: ScriptLimits;
  readonly recorder: RunRecorder;
  /** CPU time of this thread in milliseconds. */
  readonly cpuMs: () => number;
}

export function createRunWatch({ limits, cpuMs, recorder }: RunWatchParts): RunWatch {
  let isLimited = false;
  let stopped = false;
  let error: string | undefined;
  let isLate = false;
  let startedAt = 0;
  let cpuAtStart: number | undefined;

  function fail(message: string): void {
    if (stopped) return;
    stopped = true;
    error = message;
  }

  /**
   * The limit is CPU time, so that a busy machine does not end valid runs. Reading it is expensive:
   * the wall clock is checked first. Wall time until the first poll counts as CPU time, unless it
   * exceeds the limit: the machine may have stood still.
   */
  function checkCpuTime(): void {
    const passed = performance.now() - startedAt;
    if (passed < limits.cpuMs && cpuAtStart !== undefined) return;
    const cpu = cpuMs();
    cpuAtStart ??= passed < limits.cpuMs ? cpu - passed : cpu;
    if (stopped || cpu - cpuAtStart <= limits.cpuMs) return;
    isLate = true;
    fail(`The script exceeded its time limit of ${limits.cpuMs} ms`);
  }

  return {
    get stopped() {
      return stopped;
    },
    get error() {
      return error;
    },
    get isLate() {
      return isLate;
    },
    release() {
      isLimited = false;
      stopped = false;
    },
    start() {
      isLimited = true;
      stopped = false;
      error = undefined;
      isLate = false;
      cpuAtStart = undefined;
      startedAt = performance.now();
    },
    stop: () => void (stopped = true),
    fail,
    poll() {
      recorder.beat();
      if (!isLimited) return false;
      checkCpuTime();
      return stopped;
    },
  };
}
