// Version mark for programs that read `schemaVersion`: they refuse the database from here on, with both versions named.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

/** Greater than every number that those programs know. */
const mark = 72;

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const marks = db as unknown as Kysely<{ schemaVersion: { version: number } }>;
  await marks.schema
    .createTable('schemaVersion')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .execute();
  await marks.insertInto('schemaVersion').values({ version: mark }).execute();
}
