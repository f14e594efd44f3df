// Outcome writer: saves the outcomes of attempts, many per transaction, and retries failed writes.
import type { TriedDelivery } from '../model/delivery.ts';
import { createRetryingWorker } from '../structures/retrying-worker.ts';
import type { SetTimer } from '../structures/timers.ts';

const writerLimits = {
  /** With more unsaved outcomes, no delivery starts. */
  unwrittenMax: 5_000,
  retryDelaysMs: [1_000],
} as const;

interface OutcomeWriterParts {
  /** Saves all or none. */
  readonly save: (tried: readonly TriedDelivery[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

interface Unsaved {
  readonly tried: TriedDelivery;
  readonly saved: () => void;
}

export interface OutcomeWriter {
  /** Outcomes that are not saved yet. */
  readonly size: number;
  readonly isBehind: boolean;
  /** Resolves when the outcome is saved. */
  add(tried: TriedDelivery): Promise<void>;
  /** Resolves when the run in progress has ended. */
  settled(): Promise<void>;
  /** Makes one last attempt. What it cannot save is attempted again after the next start. */
  close(): Promise<void>;
}

export function createOutcomeWriter({ save, failed, setTimer }: OutcomeWriterParts): OutcomeWriter {
  let unwritten = 0;
  let waiting: Unsaved[] = [];

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      // Outcomes of the same turn share a transaction.
      await new Promise((resolve) => void setImmediate(resolve));
      const batch = waiting;
      waiting = [];
      try {
        await save(batch.map(({ tried }) => tried));
      } catch (error) {
        waiting = [...batch, ...waiting];
        throw error;
      }
      unwritten -= batch.length;
      for (const { saved } of batch) saved();
    }
  }

  const { retryDelaysMs } = writerLimits;
  const hasWork = () => waiting.length > 0;
  const worker = createRetryingWorker({ hasWork, work: write, failed, retryDelaysMs, setTimer });
  return {
    get size() {
      return unwritten;
    },
    get isBehind() {
      return unwritten >= writerLimits.unwrittenMax;
    },
    add(tried) {
      const { promise, resolve } = Promise.withResolvers<void>();
      unwritten += 1;
      waiting.push({ tried, saved: resolve });
      worker.wake();
      return promise;
    },
    settled: () => worker.idle(),
    async close() {
      worker.retryNow();
      await worker.close();
    },
  };
}
