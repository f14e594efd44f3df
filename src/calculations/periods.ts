// Periods of a calculation: where they begin and end in its time zone.
import { hourMs, type EpochMs } from '../model/instant.ts';
import type { TimeZone } from '../model/time-zone.ts';
import { seriesBuckets } from '../query/bucket-plan.ts';

export interface Period {
  readonly start: EpochMs;
  /** Exclusive; the start of the next period. */
  readonly end: EpochMs;
}

/** The most that a clock is set forward or back; shorter periods do not follow it. */
const jumpMs = 3 * hourMs;

export class Periods {
  readonly #period: string;
  readonly #ms: number;
  readonly #jumpMs: number;
  readonly #zone: TimeZone;

  /** `ms` is the length of a period without a change of the clock. */
  constructor(period: string, ms: number, zone: TimeZone) {
    this.#period = period;
    this.#ms = ms;
    this.#jumpMs = ms < hourMs ? 0 : jumpMs;
    this.#zone = zone;
  }

  /** The start of the period that contains the moment. */
  startOf(at: EpochMs): EpochMs {
    // The first edge is where the search begins, and the last is behind the moment.
    return this.#edges(at - 2 * this.#ms - this.#jumpMs, at + 1).at(-2) ?? at;
  }

  /** The periods from the one that contains `from` on that end at `to` at the latest; at most `max`. */
  between(from: EpochMs, to: EpochMs, max: number): Period[] {
    const start = this.startOf(from);
    const until = Math.min(to, start + this.#ms * (max + 1) + this.#jumpMs);
    if (until <= start) return [];
    // Behind the last edge there is a part of a period, unless it is one.
    const edges = this.#edges(start, until + 1);
    const periods: Period[] = [];
    for (const [i, end] of edges.slice(1, -1).entries()) {
      if (periods.length === max) break;
      periods.push({ start: edges[i] ?? start, end });
    }
    return periods;
  }

  #edges(from: EpochMs, to: EpochMs): readonly EpochMs[] {
    return seriesBuckets('raw', { from, to }, this.#period, this.#zone).edges;
  }
}
