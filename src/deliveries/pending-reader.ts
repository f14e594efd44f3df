// Pending reader: reads new deliveries from the log, page by page, when it is notified of them.
import type { PendingDelivery } from '../model/delivery.ts';
import { createRetryingWorker } from '../structures/retrying-worker.ts';
import type { SetTimer } from '../structures/timers.ts';

const readerLimits = { pageSize: 1_000, retryDelaysMs: [1_000] } as const;

export interface PendingReaderParts {
  /** Deliveries after a sequence, oldest first. */
  readonly findPending: (after: number, max: number) => Promise<readonly PendingDelivery[]>;
  readonly found: (page: readonly PendingDelivery[]) => void;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

export interface PendingReader {
  readonly isReading: boolean;
  /** Call after deliveries were written to the log. */
  wake(): void;
  /** Resolves when the reading in progress has ended. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export function createPendingReader(parts: PendingReaderParts): PendingReader {
  const { findPending, found, failed, setTimer } = parts;
  const { pageSize, retryDelaysMs } = readerLimits;
  let lastSequence = 0;
  let isRequested = false;
  let isReading = false;
  let isClosed = false;

  async function readPages(): Promise<void> {
    let hasMore = true;
    while (hasMore && !isClosed) {
      const page = await findPending(lastSequence, pageSize);
      if (isClosed) return;
      lastSequence = page.at(-1)?.sequence ?? lastSequence;
      found(page);
      hasMore = page.length === pageSize;
    }
  }

  async function work(): Promise<void> {
    isReading = true;
    try {
      while (isRequested) {
        isRequested = false;
        await readPages();
      }
    } catch (error) {
      isRequested = true;
      throw error;
    } finally {
      isReading = false;
    }
  }

  const hasWork = () => isRequested;
  const worker = createRetryingWorker({ hasWork, work, failed, retryDelaysMs, setTimer });
  return {
    get isReading() {
      return isReading;
    },
    wake() {
      isRequested = true;
      worker.retryNow();
    },
    idle: () => worker.idle(),
    close() {
      isClosed = true;
      return worker.close();
    },
  };
}
