// Rule pacing: slices of evaluation and rests after writes, so that devices and requests are answered first.

const pacingLimits = {
  /** Evaluation without a pause: no acknowledgement waits longer. */
  sliceMs: 0.5,
  /** Longer than one turn of the event loop, because an answer to a device takes several. */
  pauseMs: 1,
  /**
   * A pause that took longer, because other work waited, is extended by this many times its delay.
   */
  busyShare: 2,
  busyPauseMsMax: 10,
  /**
   * A write of this many condition states, or effects on alarms, is followed by a rest of
   * `restShare` times its duration.
   */
  restStates: 100,
  restShare: 8,
  restMsMax: 100,
} as const;

export class RulePacing {
  readonly #clock: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  #sliceEndMs = 0;

  constructor({
    clock,
    pause,
  }: {
    /** Milliseconds since any fixed moment. */
    readonly clock: () => number;
    readonly pause: (ms: number) => Promise<void>;
  }) {
    this.#clock = clock;
    this.#pause = pause;
  }

  startSlice(): void {
    this.#sliceEndMs = this.#clock() + pacingLimits.sliceMs;
  }

  /**
   * Call after each sample. Undefined within the slice; else a promise that resolves when the next
   * slice has started.
   */
  yieldWhenDue(): Promise<void> | undefined {
    if (this.#clock() < this.#sliceEndMs) return undefined;
    return this.#yieldToOthers();
  }

  /**
   * Resolves after a rest that depends on the write: one write serves all samples that arrive in
   * the meantime.
   */
  async restAfterWrite(states: number, writeMs: number): Promise<void> {
    const { restStates, restShare, restMsMax } = pacingLimits;
    if (states >= restStates) await this.#pause(Math.min(restMsMax, writeMs * restShare));
  }

  /** Answers come first: under load, evaluation pauses longer. */
  async #yieldToOthers(): Promise<void> {
    const { pauseMs, busyShare, busyPauseMsMax } = pacingLimits;
    const startedMs = this.#clock();
    await this.#pause(pauseMs);
    const delayMs = this.#clock() - startedMs - pauseMs;
    if (delayMs > pauseMs) await this.#pause(Math.min(busyPauseMsMax, delayMs * busyShare));
    this.startSlice();
  }
}
