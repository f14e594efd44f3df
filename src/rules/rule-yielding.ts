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

export interface RulePacingParts {
  /** Milliseconds since any fixed moment. */
  readonly clock: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

export interface RulePacing {
  startSlice(): void;
  /**
   * Call after each sample. Undefined within the slice; else a promise that resolves when the next
   * slice has started.
   */
  yieldWhenDue(): Promise<void> | undefined;
  /**
   * Resolves after a rest that depends on the write: one write serves all samples that arrive in
   * the meantime.
   */
  restAfterWrite(states: number, writeMs: number): Promise<void>;
}

export function createRulePacing({ clock, pause }: RulePacingParts): RulePacing {
  let sliceEndMs = 0;

  function startSlice(): void {
    sliceEndMs = clock() + pacingLimits.sliceMs;
  }

  /** Answers come first: under load, evaluation pauses longer. */
  async function yieldToOthers(): Promise<void> {
    const { pauseMs, busyShare, busyPauseMsMax } = pacingLimits;
    const startedMs = clock();
    await pause(pauseMs);
    const delayMs = clock() - startedMs - pauseMs;
    if (delayMs > pauseMs) await pause(Math.min(busyPauseMsMax, delayMs * busyShare));
    startSlice();
  }

  return {
    startSlice,
    yieldWhenDue() {
      if (clock() < sliceEndMs) return undefined;
      return yieldToOthers();
    },
    async restAfterWrite(states, writeMs) {
      const { restStates, restShare, restMsMax } = pacingLimits;
      if (states >= restStates) await pause(Math.min(restMsMax, writeMs * restShare));
    },
  };
}
