// Delivery intake: writes new deliveries to the log, and rejects those of a connector with too many waiting deliveries.
import { type Deliverer, delivererLimits } from '../deliveries/delivery-worker.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import { lazyTransaction, type OpenRecords, type RecordsDb } from '../records/records.ts';
import { insertDeliveries, type NewDelivery } from '../records/rows/deliveries.ts';

/**
 * `durable`: the log is on disk when the call resolves. `lazy`: a later durable write puts it
 * there. A transaction of the caller: the deliveries are committed or rolled back with it.
 */
export type DeliveryWrite = RecordsDb | 'durable' | 'lazy';

export interface DeliveryIntakeParts {
  readonly records: Pick<OpenRecords, 'db' | 'transactionsEnded'>;
  readonly deliverer: Pick<Deliverer, 'waitingOf' | 'wake'>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * Returns a function that resolves when the deliveries are in the log. Those with a known key are
 * ignored.
 */
export function createDeliveryIntake(
  parts: DeliveryIntakeParts,
): (drafts: readonly DeliveryDraft[], write: DeliveryWrite) => Promise<void> {
  const { records, deliverer, newId, now } = parts;

  function deliveryOf(draft: DeliveryDraft): NewDelivery {
    const { waitingPerConnectorMax } = delivererLimits;
    const id = newId();
    if (deliverer.waitingOf(draft.connectorId) < waitingPerConnectorMax) return { id, draft };
    const refused = `more than ${waitingPerConnectorMax} deliveries of this connector waited already`;
    return { id, draft, refused };
  }

  return async (drafts, write) => {
    const deliveries = drafts.map(deliveryOf);
    const insert = (step: RecordsDb) => insertDeliveries(step, deliveries, now());
    if (write === 'durable') await records.db.transaction().execute(insert);
    else if (write === 'lazy') await lazyTransaction(records.db, insert);
    else await insert(write);
    // Rows of a transaction of the caller are visible only after its commit, which follows this
    // call.
    if (typeof write === 'string') deliverer.wake();
    else void records.transactionsEnded().then(() => deliverer.wake());
  };
}
