// Delivery counts: deliveries that ended, by workspace and output connector, written every few seconds (contract 37).
import type { TriedDelivery } from './attempts/delivery-worker.ts';
import { databaseConnectorId } from '../model/ids.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { transaction } from '../storage/records/transaction.ts';
import { addPeriodCounts } from '../storage/records/rows/period-counts.ts';
import { createSerialQueue } from '../structures/serial-queue.ts';
import type { SetTimer } from '../structures/timers.ts';
import { createPeriodCounter } from '../uplinks/followers/period-counter.ts';

const saveEveryMs = 5_000;

export interface DeliveryCountsParts {
  readonly db: RecordsDb;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export interface DeliveryCounts {
  readonly tried: (tried: TriedDelivery) => void;
  /** Resolves when all that was counted can be read from the records. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A crash loses the counts of the last seconds; the deliveries themselves are in their log. */
export function createDeliveryCounts(parts: DeliveryCountsParts): DeliveryCounts {
  const { db, setRepeatingTimer, failed } = parts;
  const counter = createPeriodCounter();
  const turns = createSerialQueue();

  async function save(): Promise<void> {
    const counts = counter.take();
    if (counts.length === 0) return;
    try {
      await transaction(db, (step) => addPeriodCounts(step.db, counts), 'lazy');
    } catch (error) {
      for (const { recordId, what, start, count } of counts)
        counter.add(recordId, what, start, count);
      throw error;
    }
  }

  const settled = () => turns.run(save);
  const stop = setRepeatingTimer(() => void settled().catch(failed), saveEveryMs);
  return {
    tried({ waiting, outcome }) {
      if (outcome.state === 'PENDING' || waiting.isGone) return;
      const what = outcome.state === 'DELIVERED' ? 'delivered' : 'failed';
      const { workspaceId, connectorId } = waiting;
      counter.add(workspaceId, what, outcome.updated, 1);
      // That connector belongs to all organizations, so that a count would show them to each other.
      if (connectorId !== databaseConnectorId) counter.add(connectorId, what, outcome.updated, 1);
    },
    settled,
    async close() {
      stop();
      await settled();
    },
  };
}
