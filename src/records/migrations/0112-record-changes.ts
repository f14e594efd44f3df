// Version 112: record changes for other nodes that share the records, and the node of a request with a key.
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .alterTable('idempotencyKeys')
    .addColumn('node', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  // The time of the server, because every node removes old rows.
  const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  await db.schema
    .createTable('recordChanges')
    .addColumn('sequence', 'integer', (column) => column.autoIncrement().primaryKey())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('created', 'integer', (column) => column.notNull().defaultTo(now))
    .addColumn('changes', 'text', (column) => column.notNull())
    .addColumn('lists', 'text', (column) => column.notNull())
    .execute();
  // A node knows by a row up to where it has read: one always exists.
  await sql`
    insert into "recordChanges" ("node", "changes", "lists") values ('', '[]', '[]')`.execute(db);
}
