// Statistics of simulated payloads: counts, reasons of failures, and times of acknowledgements.

/**
 * Durations fall into classes that grow by this factor, so that percentiles are right within 5 %.
 */
const growth = 1.05;
const smallestMs = 0.05;
const reasonsMax = 20;

export interface Statistics {
  sent(): void;
  acknowledged(ms: number): void;
  failed(reason: string): void;
  /** Payloads without an answer. */
  unanswered(count: number): void;
  readonly counts: {
    readonly sent: number;
    readonly acknowledged: number;
    readonly errors: number;
  };
  /** Reason to how often. */
  readonly reasons: ReadonlyMap<string, number>;
  /**
   * The duration that this share of acknowledgements kept below, in milliseconds; 0 without any.
   */
  percentileMs(share: number): number;
  readonly maxMs: number;
}

export function createStatistics(): Statistics {
  const classes: number[] = [];
  const reasons = new Map<string, number>();
  const counts = { sent: 0, acknowledged: 0, errors: 0 };
  let maxMs = 0;

  const fail = (reason: string, count: number): void => {
    counts.errors += count;
    const name = reasons.has(reason) || reasons.size < reasonsMax ? reason : 'other';
    reasons.set(name, (reasons.get(name) ?? 0) + count);
  };

  return {
    sent: () => void (counts.sent += 1),
    acknowledged(ms) {
      counts.acknowledged += 1;
      maxMs = Math.max(maxMs, ms);
      const at = Math.max(0, Math.ceil(Math.log(ms / smallestMs) / Math.log(growth)));
      classes[at] = (classes[at] ?? 0) + 1;
    },
    failed: (reason) => fail(reason, 1),
    unanswered: (count) => count > 0 && fail('no answer', count),
    counts,
    reasons,
    percentileMs(share) {
      let rest = Math.ceil(counts.acknowledged * share);
      if (rest === 0) return 0;
      for (const [at, count] of classes.entries()) {
        rest -= count ?? 0;
        if (rest <= 0) return Math.min(smallestMs * growth ** at, maxMs);
      }
      return maxMs;
    },
    get maxMs() {
      return maxMs;
    },
  };
}
