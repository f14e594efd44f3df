// Clocks: due work begins in time, also when the wall clock jumps.
import type { EpochMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

const clockSteps = {
  everyMs: 1_000,
  /** What is set back less is due a moment later. */
  toleratedMs: 2_000,
} as const;

/** Returns a function that ends the watch. */
export function watchClockSteps({
  now,
  clock,
  setRepeatingTimer,
  setBack,
}: {
  readonly now: () => EpochMs;
  /** Milliseconds since any fixed moment. */
  readonly clock: () => number;
  readonly setRepeatingTimer: SetTimer;
  /** Called with how far the clock was set back. Clocks that jump ahead need nothing: all is due. */
  readonly setBack: (byMs: number) => void;
}): () => void {
  let ahead = now() - clock();
  return setRepeatingTimer(() => {
    const before = ahead;
    ahead = now() - clock();
    if (before - ahead > clockSteps.toleratedMs) setBack(Math.round(before - ahead));
  }, clockSteps.everyMs);
}

// Rule clock: runs the due timers, and reads the clock every second, because clocks jump.

const checkEveryMs = 1_000;

export class RuleTimers {
  readonly #nextTime: () => Promise<EpochMs | undefined>;
  readonly #runDue: () => Promise<void>;
  readonly #now: () => EpochMs;
  readonly #setTimer: SetTimer;
  readonly #failed: (error: unknown) => void;
  #next: EpochMs | undefined;
  #isKnown = true;
  #running: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #hasFailed = false;
  #closed = false;
  readonly #run = (): void => {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#closed || this.#running !== undefined) return;
    this.#hasFailed = false;
    this.#running = this.#check()
      .catch((error: unknown) => {
        this.#isKnown = false;
        this.#hasFailed = true;
        this.#failed(error);
      })
      .finally(() => {
        this.#running = undefined;
        if (this.#closed || (this.#isKnown && this.#next === undefined)) return;
        this.#cancel = this.#setTimer(this.#run, this.#delayMs());
      });
  };

  constructor({
    nextTime,
    runDue,
    now,
    setTimer,
    failed,
  }: {
    /** When the next timer is due; undefined when none is set. */
    readonly nextTime: () => Promise<EpochMs | undefined>;
    readonly runDue: () => Promise<void>;
    readonly now: () => EpochMs;
    readonly setTimer: SetTimer;
    readonly failed: (error: unknown) => void;
  }) {
    this.#nextTime = nextTime;
    this.#runDue = runDue;
    this.#now = now;
    this.#setTimer = setTimer;
    this.#failed = failed;
  }

  /** Call when timers were set or changed. */
  readonly changed = (): void => {
    this.#isKnown = false;
    this.#run();
  };

  readonly close = async (): Promise<void> => {
    this.#closed = true;
    this.#cancel?.();
    await this.#running;
  };

  async #check(): Promise<void> {
    if (!this.#isKnown) {
      this.#isKnown = true;
      this.#next = await this.#nextTime();
    }
    if (this.#next === undefined || this.#next > this.#now()) return;
    await this.#runDue();
    this.#isKnown = false;
  }

  #delayMs(): number {
    if (this.#isKnown && this.#next !== undefined)
      return Math.min(checkEveryMs, Math.max(1, this.#next - this.#now()));
    if (this.#hasFailed) return checkEveryMs;
    return 1;
  }
}
