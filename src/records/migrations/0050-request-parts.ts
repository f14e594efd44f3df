// Version 50: what of an interrupted request with an Idempotency-Key is in the journal, and from where on the journal may hold more.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  const table = (): ReturnType<typeof schema.alterTable> => schema.alterTable('idempotencyKeys');
  await table()
    .addColumn('journalPosition', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await table()
    .addColumn('durableParts', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
}
