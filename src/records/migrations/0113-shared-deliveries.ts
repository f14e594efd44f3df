// Version 113: deliveries that several nodes share stay rows, each with the shard of its connector.
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('deliveries').addColumn('shard', 'integer').execute();
  for (const name of ['revision', 'isResent'])
    await db.schema
      .alterTable('deliveries')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`
    create index "deliveriesWaitingByShard" on "deliveries" ("shard", "sequence")
    where "state" = 'PENDING'`.execute(db);
  await sql`
    create index "deliveriesByConnectorState" on "deliveries" ("connectorId", "state", "updated")`.execute(
    db,
  );
}
