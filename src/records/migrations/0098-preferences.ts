// Version 98: API keys and OAuth clients have preferences too, not only users.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('preferences')
    .addColumn('ownerId', 'text', (column) => column.primaryKey())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('updated', 'bigint', (column) => column.notNull())
    .execute();
  await sql`
    insert into "preferences" ("ownerId", "content", "updated")
    select "userId", "content", "updated" from "userPreferences"
  `.execute(db);
  await db.schema.dropTable('userPreferences').execute();
}
