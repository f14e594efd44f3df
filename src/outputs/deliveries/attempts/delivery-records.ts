// Delivery records: waiting deliveries read from the log, and the outcomes of their attempts written to it.
import type { DeliveryLog } from '../../../storage/delivery-log/delivery-log.ts';
import type { Delivery } from '../../../model/delivery.ts';
import type { TriedDelivery } from './delivery-worker.ts';
import { deliveryOf, recordAfter, type WaitingDelivery } from './waiting-delivery.ts';

/** Undefined for a delivery that is gone or cannot be read. */
export function loadDelivery(
  { isGone, draft, place }: WaitingDelivery,
  log: DeliveryLog,
): Delivery | undefined | Promise<Delivery | undefined> {
  if (isGone) return undefined;
  if (draft !== undefined) return draft;
  if (place === undefined) return undefined;
  return log.read(place).then((stored) => stored && deliveryOf(stored));
}

/** The log writes the record soon. After a crash without it the delivery is sent again. */
export function recordAttempt(
  { waiting, delivery, outcome }: TriedDelivery,
  log: DeliveryLog,
): void {
  if (waiting.isGone) return;
  waiting.place = log.append(recordAfter(delivery, outcome, waiting.revision));
  waiting.revision += 1;
  waiting.updated = outcome.updated;
  waiting.draft = undefined;
}
