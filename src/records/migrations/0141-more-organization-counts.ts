// Version 141: how many open alarms and views each organization has, kept by the database itself.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

/** What is counted, and which rows of its table count. */
const counted = [
  { what: 'views', table: 'views', counts: () => sql`1 = 1` },
  {
    what: 'openAlarms',
    table: 'alarms',
    counts: (row: string) => sql`${sql.raw(row)}"openKey" is not null`,
  },
] as const;

export async function up(db: Kysely<RecordTables>): Promise<void> {
  for (const { what, table, counts } of counted) {
    await sql`
      insert into "organizationCounts" ("organizationId", "what", "count")
      select "organizationId", ${sql.lit(what)}, count(*) from ${sql.table(table)}
      where ${counts('')} group by "organizationId"`.execute(db);
    const add = sql`
      insert into "organizationCounts" ("organizationId", "what", "count")
      select "id", ${sql.lit(what)}, 1 from "organizations" where "id" = new."organizationId"
      on conflict ("organizationId", "what") do update
      set "count" = "organizationCounts"."count" + 1`;
    const remove = sql`
      update "organizationCounts" set "count" = "count" - 1
      where "organizationId" = old."organizationId" and "what" = ${sql.lit(what)}`;
    const isNew = counts('new.');
    const wasOld = counts('old.');
    await addRowTrigger(db, {
      ...{ name: `${what}Added`, event: 'insert', table, when: isNew, work: add },
    });
    await addRowTrigger(db, {
      ...{ name: `${what}Removed`, event: 'delete', table, when: wasOld, work: remove },
    });
    if (what !== 'openAlarms') continue;
    const update = { event: 'update', table, columns: ['openKey'] } as const;
    await addRowTrigger(db, {
      ...{ ...update, name: 'openAlarmsOpened', work: add },
      when: sql`${isNew} and not (${wasOld})`,
    });
    await addRowTrigger(db, {
      ...{ ...update, name: 'openAlarmsCleared', work: remove },
      when: sql`${wasOld} and not (${isNew})`,
    });
  }
}
