// Version 60: how many devices and rules each organization has, kept by the database itself, so that a limit costs no scan.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger } from '../engine-sql.ts';
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
    await addRowTrigger(db, {
      name: `${what}Added`,
      event: 'insert',
      table: what,
      work: sql`
        insert into "organizationCounts" ("organizationId", "what", "count")
        values (new."organizationId", ${sql.lit(what)}, 1)
        on conflict ("organizationId", "what") do update
        set "count" = "organizationCounts"."count" + 1`,
    });
    await addRowTrigger(db, {
      name: `${what}Removed`,
      event: 'delete',
      table: what,
      work: sql`
        update "organizationCounts" set "count" = "count" - 1
        where "organizationId" = old."organizationId" and "what" = ${sql.lit(what)}`,
    });
  }
}
