// Period counter: counts by record, kind and period in memory, until they are written to the records.
import type { EpochMs } from '../model/instant.ts';
import { type PeriodCount, type PeriodKind, periodOf } from '../records/rows/period-counts.ts';

export interface PeriodCounter {
  readonly add: (recordId: string, what: PeriodKind, at: EpochMs, amount: number) => void;
  /** What was counted since the last call. */
  readonly take: () => readonly PeriodCount[];
}

export function createPeriodCounter(): PeriodCounter {
  let counts = new Map<string, { -readonly [K in keyof PeriodCount]: PeriodCount[K] }>();
  return {
    add(recordId, what, at, amount) {
      const start = periodOf(what, at);
      const key = `${what}${start}${recordId}`;
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { recordId, what, start, count: amount });
      else known.count += amount;
    },
    take() {
      const taken = [...counts.values()];
      counts = new Map();
      return taken;
    },
  };
}
