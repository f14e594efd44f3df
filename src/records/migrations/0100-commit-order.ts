// Version 100: the transaction of rows that are read in the order of commits, where sequences do not give it.
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  for (const table of ['deliveries', 'ruleTriggers'] as const) {
    await sql`
      alter table ${sql.table(table)} add column "xid" xid8 not null default pg_current_xact_id()`.execute(
      db,
    );
    await sql`
      create index ${sql.id(`${table}Byxidsequence`)} on ${sql.table(table)} ("xid", "sequence")`.execute(
      db,
    );
  }
}
