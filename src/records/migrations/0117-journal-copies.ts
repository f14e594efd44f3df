// Version 117: where the copies of the journals of nodes are, and which copy was adopted.
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`
    create table "journalCopies" (
      "node" text collate "C" primary key,
      "holder" text collate "C" not null,
      "copy" text not null,
      "adopted" text)`.execute(db);
}
