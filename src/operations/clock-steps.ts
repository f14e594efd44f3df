// Clock steps: tells when the wall clock was set back, so that what is due by it does not stand still.
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
