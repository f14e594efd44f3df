// Pace: limits samples per second evenly, with two counters (contract 37).
import type { EpochMs } from '../model/instant.ts';

export interface Pace {
  readonly perSecond: number;
  /** Whether another sample may be sent now. */
  readonly isFree: (now: EpochMs) => boolean;
  /** Counts a sample that was sent. */
  readonly note: (now: EpochMs) => void;
}

const windowMs = 1_000;

/**
 * The count of the last second is estimated from this window and the rest of the previous one. So
 * a second has no more than the limit, and a constant surplus is thinned evenly.
 */
export function createPace(perSecond: number): Pace {
  let window = 0;
  let previous = 0;
  let current = 0;

  function move(now: EpochMs): void {
    const index = Math.floor(now / windowMs);
    if (index === window) return;
    previous = index === window + 1 ? current : 0;
    current = 0;
    window = index;
  }

  return {
    perSecond,
    isFree(now) {
      move(now);
      const rest = 1 - (now % windowMs) / windowMs;
      return previous * rest + current < perSecond;
    },
    note(now) {
      move(now);
      current += 1;
    },
  };
}
