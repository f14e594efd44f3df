// Version 2: what was answered to an Idempotency-Key.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('idempotencyKeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('bodyHash', 'text', (column) => column.notNull())
    .addColumn('firstSeenAt', 'bigint', (column) => column.notNull())
    .addColumn('answer', 'text')
    .execute();
  await schema
    .createIndex('idempotencyKeysByFirstSeenAt')
    .on('idempotencyKeys')
    .column('firstSeenAt')
    .execute();
}
