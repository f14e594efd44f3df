// Version 91: what users store for the console.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('userPreferences')
    .addColumn('userId', 'text', (column) =>
      column.primaryKey().references('users.id').onDelete('cascade'),
    )
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('updated', 'bigint', (column) => column.notNull())
    .execute();
}
