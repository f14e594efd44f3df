// Line limits: of what repeats, one log line each period, so that a lasting trouble does not fill the log.
import { createBoundedMap } from '../structures/bounded-map.ts';

/** Keys remembered; beyond it the oldest may have its line before the period is over. */
const keysMax = 10_000;

export class LineLimit {
  readonly #periodMs: number;
  readonly #clock: () => number;
  readonly #writtenAt = createBoundedMap<string, number>(keysMax);

  constructor(periodMs: number, clock: () => number = () => performance.now()) {
    this.#periodMs = periodMs;
    this.#clock = clock;
  }

  /**
   * Whether the line of this key is due: it was not written within the period. Counts as written
   * then.
   */
  isDue(key: string): boolean {
    const now = this.#clock();
    const before = this.#writtenAt.get(key);
    if (before !== undefined && now - before < this.#periodMs) return false;
    this.#writtenAt.set(key, now);
    return true;
  }
}
