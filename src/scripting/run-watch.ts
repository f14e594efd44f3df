// Run watch: keeps one run of a script within its limits.
import type { RunRecorder } from './run-recorder.ts';
import type { ScriptLimits } from './script-limits.ts';

export class RunWatch {
  readonly #limits: ScriptLimits;
  readonly #cpuMs: () => number;
  readonly #recorder: RunRecorder;
  #isLimited = false;
  #stopped = false;
  #error: string | undefined;
  #isLate = false;
  #startedAt = 0;
  #cpuAtStart: number | undefined;

  constructor({
    limits,
    cpuMs,
    recorder,
  }: {
    readonly limits: ScriptLimits;
    readonly recorder: RunRecorder;
    /** CPU time of this thread in milliseconds. */
    readonly cpuMs: () => number;
  }) {
    this.#limits = limits;
    this.#cpuMs = cpuMs;
    this.#recorder = recorder;
  }

  /** The run must end. What it still emits is ignored. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Why the host ended it. */
  get error(): string | undefined {
    return this.#error;
  }

  /** The limit of CPU time ended it. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Applies no limits from now on, because trusted code runs. */
  release(): void {
    this.#isLimited = false;
    this.#stopped = false;
  }

  /** Applies the limits from now on. */
  start(): void {
    this.#isLimited = true;
    this.#stopped = false;
    this.#error = undefined;
    this.#isLate = false;
    this.#cpuAtStart = undefined;
    this.#startedAt = performance.now();
  }

  /** Ends the run, whose error is already recorded. */
  stop(): void {
    this.#stopped = true;
  }

  /** Ends the run with an error. */
  fail(message: string): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#error = message;
  }

  /** Called by the engine every few thousand steps. Returns `stopped`. */
  poll(): boolean {
    this.#recorder.beat();
    if (!this.#isLimited) return false;
    this.#checkCpuTime();
    return this.#stopped;
  }

  /**
   * The limit is CPU time, so that a busy machine does not end valid runs. Reading it is
   * expensive: the wall clock is checked first. Wall time until the first poll counts as CPU time,
   * unless it exceeds the limit: the machine may have stood still.
   */
  #checkCpuTime(): void {
    const passed = performance.now() - this.#startedAt;
    if (passed < this.#limits.cpuMs && this.#cpuAtStart !== undefined) return;
    const cpu = this.#cpuMs();
    this.#cpuAtStart ??= passed < this.#limits.cpuMs ? cpu - passed : cpu;
    if (this.#stopped || cpu - this.#cpuAtStart <= this.#limits.cpuMs) return;
    this.#isLate = true;
    this.fail(`The script exceeded its time limit of ${this.#limits.cpuMs} ms`);
  }
}
