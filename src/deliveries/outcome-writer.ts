// Writes down what became of tries, many in one transaction, and keeps what could not be written until it can.
import type { TriedDelivery } from '../model/delivery.ts';

const writerLimits = {
  /** With more unwritten, nothing further is tried. */
  unwrittenMax: 5_000,
  retryMs: 1_000,
} as const;

interface WriterParts {
  readonly save: (tried: readonly TriedDelivery[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly schedule: (task: () => void, delayMs: number) => () => void;
}

export function outcomeWriter({ save, failed, schedule }: WriterParts) {
  let unwritten = 0;
  let waiting: { readonly tried: TriedDelivery; readonly written: () => void }[] = [];
  let writing: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      // What ends in the same turn of the loop shares a transaction.
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
      for (const { written } of batch) written();
    }
  }

  function start(): void {
    if (writing !== undefined || cancelRetry !== undefined || waiting.length === 0) return;
    writing = write()
      .catch((error: unknown) => {
        failed(error);
        cancelRetry = schedule(() => {
          cancelRetry = undefined;
          start();
        }, writerLimits.retryMs);
      })
      .finally(() => {
        writing = undefined;
        // What came between the last look and here.
        start();
      });
  }

  return {
    get size() {
      return unwritten;
    },
    get isBehind() {
      return unwritten >= writerLimits.unwrittenMax;
    },
    /** Resolves when it is written. */
    add(tried: TriedDelivery): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      unwritten += 1;
      waiting.push({ tried, written: resolve });
      start();
      return promise;
    },
    async settled(): Promise<void> {
      await writing;
    },
    /** One last attempt; what cannot be written is tried again after the next start. */
    async close(): Promise<void> {
      cancelRetry?.();
      cancelRetry = undefined;
      start();
      await writing;
    },
  };
}
