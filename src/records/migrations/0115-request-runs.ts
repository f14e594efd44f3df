// Version 115: which process does the work of a request with a key; others wait for its answer.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('idempotencyKeys').addColumn('runBy', 'text').execute();
}
