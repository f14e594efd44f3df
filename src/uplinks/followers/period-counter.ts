// Period counter: counts by record, kind and period in memory, until they are written to the records.
import type { EpochMs } from '../../model/instant.ts';
import {
  type PeriodCount,
  type PeriodKind,
  periodOf,
} from '../../storage/records/rows/period-counts.ts';

type Counted = { -readonly [K in keyof PeriodCount]: PeriodCount[K] };

export class PeriodCounter {
  #counts = new Map<string, Counted>();
  // Entries of one request follow one another.
  #last: { readonly counted: Counted; readonly at: EpochMs } | undefined;

  add(recordId: string, what: PeriodKind, at: EpochMs, amount: number): void {
    if (
      this.#last?.at === at &&
      this.#last.counted.recordId === recordId &&
      this.#last.counted.what === what
    ) {
      this.#last.counted.count += amount;
      return;
    }
    const start = periodOf(what, at);
    const key = `${what}${start}${recordId}`;
    const counted = this.#counts.get(key) ?? { recordId, what, start, count: 0 };
    counted.count += amount;
    this.#counts.set(key, counted);
    this.#last = { counted, at };
  }

  /** What was counted since the last call. */
  take(): readonly PeriodCount[] {
    const taken = [...this.#counts.values()];
    this.#counts = new Map();
    this.#last = undefined;
    return taken;
  }
}
