// Line limits: of what repeats, one log line each period, so that a lasting trouble does not fill the log.
import { createBoundedMap } from '../structures/bounded-map.ts';

/** Keys remembered; beyond it the oldest may have its line before the period is over. */
const keysMax = 10_000;

export interface LineLimit {
  /**
   * Whether the line of this key is due: it was not written within the period. Counts as written
   * then.
   */
  readonly isDue: (key: string) => boolean;
}

export function lineLimit(
  periodMs: number,
  clock: () => number = () => performance.now(),
): LineLimit {
  const writtenAt = createBoundedMap<string, number>(keysMax);
  return {
    isDue(key) {
      const now = clock();
      const before = writtenAt.get(key);
      if (before !== undefined && now - before < periodMs) return false;
      writtenAt.set(key, now);
      return true;
    },
  };
}
