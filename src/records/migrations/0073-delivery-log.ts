// Version 73: deliveries move to the delivery log; earlier programs, which do not know it, refuse the database.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

/** Rows stay for moments, so that indexes for lists only cost time. */
export async function up(db: Kysely<RecordTables>): Promise<void> {
  for (const index of ['deliveriesByConnector', 'deliveriesPending'])
    await db.schema.dropIndex(index).ifExists().execute();
}
