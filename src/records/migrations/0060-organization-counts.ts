// Version 60: how many devices and rules each organization has, kept by the database itself, so that a limit costs no scan.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

const counted = ['devices', 'rules'] as const;

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('organizationCounts')
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('organizationCountsKey', ['organizationId', 'what'])
    .execute();
  for (const what of counted) {
    await sql`
      insert into "organizationCounts" ("organizationId", "what", "count")
      select "organizationId", ${sql.lit(what)}, count(*) from ${sql.table(what)} group by "organizationId"`.execute(
      db,
    );
    // Triggers are part of the transaction that they follow: what is rolled back was never counted.
    await sql`
      create trigger ${sql.id(`${what}Added`)} after insert on ${sql.table(what)} begin
        insert into "organizationCounts" ("organizationId", "what", "count")
        values (new."organizationId", ${sql.lit(what)}, 1)
        on conflict ("organizationId", "what") do update set "count" = "count" + 1;
      end`.execute(db);
    await sql`
      create trigger ${sql.id(`${what}Removed`)} after delete on ${sql.table(what)} begin
        update "organizationCounts" set "count" = "count" - 1
        where "organizationId" = old."organizationId" and "what" = ${sql.lit(what)};
      end`.execute(db);
  }
}
