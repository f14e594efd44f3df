// Delivery recovery: the deliveries that the last process left waiting in the log.
import type { DeliveryLog } from '../storage/delivery-log/delivery-log.ts';
import { type WaitingDelivery, waitingRecord } from './attempts/waiting-delivery.ts';

interface RecoveredDeliveries {
  /** In the order of making. */
  readonly waiting: readonly WaitingDelivery[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}

/** `from` is the journal position that is followed next. Deliveries of deleted connectors end. */
export async function recoverDeliveries(
  log: DeliveryLog,
  {
    from,
    existing,
  }: {
    readonly from: number;
    /** Those of the connectors that exist. */
    readonly existing: (connectorIds: readonly string[]) => Promise<ReadonlySet<string>>;
  },
): Promise<RecoveredDeliveries> {
  const { pending, known } = await log.recover(from);
  const connectors = await existing([...new Set(pending.map(({ connectorId }) => connectorId))]);
  const waiting = pending
    .filter(({ connectorId }) => connectors.has(connectorId))
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((row) => waitingRecord(row, row.place));
  return { waiting, known };
}
