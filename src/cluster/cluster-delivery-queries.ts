// Shared delivery book: with several nodes, each lists deliveries of the records and sends them again.
import type { DeliveryBook, DeliveryFilter } from '../inventory/data-flows/deliveries.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  findSharedDelivery,
  listSharedDeliveries,
  renewSharedDeliveries,
} from '../storage/records/rows/deliveries.ts';
import { transaction } from '../storage/records/transaction.ts';

export function createSharedDeliveryBook(parts: {
  readonly db: RecordsDb;
  /** Resolves when the results of this node are in the records. */
  readonly written: () => Promise<void>;
  /** Lets the nodes that hold the connectors read what waits. */
  readonly wakeHolders: (connectorIds: readonly string[]) => void;
  readonly now: () => EpochMs;
}): DeliveryBook {
  const { db, written, wakeHolders, now } = parts;

  async function renew(
    filter: DeliveryFilter & { readonly ids?: readonly string[] | undefined },
    max: number,
  ): Promise<number> {
    await written();
    return transaction(db, async (step) => {
      const count = await renewSharedDeliveries(step.db, filter, { at: now(), max });
      step.afterCommit(() => wakeHolders([filter.connectorId]));
      return count;
    });
  }

  return {
    async list(filter, page) {
      await written();
      return listSharedDeliveries(db, filter, page);
    },
    find: (id) => findSharedDelivery(db, id),
    renew,
    async renewOne(id) {
      await written();
      const delivery = await findSharedDelivery(db, id);
      if (delivery === undefined || delivery.state === 'PENDING') return delivery;
      const { connectorId, organizationId } = delivery;
      await renew({ connectorId, organizationId, ids: [id] }, 1);
      return findSharedDelivery(db, id);
    },
  };
}
