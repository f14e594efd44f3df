// Period counter: counts by record, kind and period in memory, until they are written to the records.
import type { EpochMs } from '../../model/instant.ts';
import {
  type PeriodCount,
  type PeriodKind,
  periodOf,
} from '../../storage/records/rows/period-counts.ts';

export interface PeriodCounter {
  readonly add: (recordId: string, what: PeriodKind, at: EpochMs, amount: number) => void;
  /** What was counted since the last call. */
  readonly take: () => readonly PeriodCount[];
}

type Counted = { -readonly [K in keyof PeriodCount]: PeriodCount[K] };

export function createPeriodCounter(): PeriodCounter {
  let counts = new Map<string, Counted>();
  // Entries of one request follow one another.
  let last: { readonly counted: Counted; readonly at: EpochMs } | undefined;
  return {
    add(recordId, what, at, amount) {
      if (last?.at === at && last.counted.recordId === recordId && last.counted.what === what) {
        last.counted.count += amount;
        return;
      }
      const start = periodOf(what, at);
      const key = `${what}${start}${recordId}`;
      const counted = counts.get(key) ?? { recordId, what, start, count: 0 };
      counted.count += amount;
      counts.set(key, counted);
      last = { counted, at };
    },
    take() {
      const taken = [...counts.values()];
      counts = new Map();
      last = undefined;
      return taken;
    },
  };
}
