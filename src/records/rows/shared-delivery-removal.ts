// Shared delivery removal: deliveries of several nodes that ended long ago, or are too many of one connector.
import type { EpochMs } from '../../model/instant.ts';
import type { RecordsDb } from '../records.ts';

/** Removes deliveries that ended before the time. Returns their number, at most `max`. */
export async function removeDeliveriesBefore(
  db: RecordsDb,
  before: EpochMs,
  max: number,
): Promise<number> {
  const old = db
    .selectFrom('deliveries')
    .select('id')
    .where('state', '!=', 'PENDING')
    .where('updated', '<', before)
    .limit(max);
  const { numDeletedRows } = await db
    .deleteFrom('deliveries')
    .where('id', 'in', old)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Connectors with more deliveries that ended than are kept. */
export async function connectorsWithSurplus(db: RecordsDb, kept: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select('connectorId')
    .where('state', '!=', 'PENDING')
    .groupBy('connectorId')
    .having(({ fn }) => fn.countAll(), '>', kept)
    .execute();
  return rows.map(({ connectorId }) => connectorId);
}

/** Removes the oldest ones of the connector that ended, at most `max`. Returns their number. */
export async function removeSurplusDeliveries(
  db: RecordsDb,
  connectorId: string,
  { kept, max }: { readonly kept: number; readonly max: number },
): Promise<number> {
  const surplus = db
    .selectFrom('deliveries')
    .select('id')
    .where('connectorId', '=', connectorId)
    .where('state', '!=', 'PENDING')
    .orderBy('updated', 'desc')
    .orderBy('id')
    .offset(kept)
    .limit(max);
  const { numDeletedRows } = await db
    .deleteFrom('deliveries')
    .where('id', 'in', surplus)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
