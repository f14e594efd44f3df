// Version 99: counts of devices by the minute in which their online time ends.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger, type RowTrigger } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

/** See `onlinePeriodMs` in `online-totals.ts`: migrations stay as they are. */
const periodOf = (column: string) => sql`${sql.raw(column)} / 60000`;

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('onlineCounts')
    .addColumn('workspaceId', 'text', (column) => column.notNull())
    .addColumn('period', 'bigint', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('onlineCountsKey', ['workspaceId', 'period'])
    .execute();
  await sql`
    insert into "onlineCounts" ("workspaceId", "period", "count")
    select "workspaceId", ${periodOf('"onlineUntil"')}, count(*) from "deviceStatus"
    where "workspaceId" is not null and "onlineUntil" is not null
    group by "workspaceId", ${periodOf('"onlineUntil"')}`.execute(db);
  await addTriggers(db);
}

/** Triggers are part of the transaction that they follow: what is rolled back was never counted. */
async function addTriggers(db: Kysely<RecordTables>): Promise<void> {
  const add = sql`
    insert into "onlineCounts" ("workspaceId", "period", "count")
    values (new."workspaceId", ${periodOf('new."onlineUntil"')}, 1)
    on conflict ("workspaceId", "period") do update set "count" = "onlineCounts"."count" + 1`;
  const remove = sql`
    update "onlineCounts" set "count" = "count" - 1
    where "workspaceId" = old."workspaceId" and "period" = ${periodOf('old."onlineUntil"')}`;
  // A period without devices has no row, so that there are never more rows than devices.
  const empty = sql`
    delete from "onlineCounts"
    where "workspaceId" = new."workspaceId" and "period" = new."period"`;
  const isMoved = sql`(old."workspaceId" is distinct from new."workspaceId"
    or ${periodOf('old."onlineUntil"')} is distinct from ${periodOf('new."onlineUntil"')})`;
  const isCounted = sql`new."workspaceId" is not null and new."onlineUntil" is not null`;
  const wasCounted = sql`old."workspaceId" is not null and old."onlineUntil" is not null`;
  const moved = {
    event: 'update',
    table: 'deviceStatus',
    columns: ['workspaceId', 'onlineUntil'],
  } as const;
  const [table, counts] = ['deviceStatus', 'onlineCounts'];
  const triggers: readonly RowTrigger[] = [
    { name: 'deviceStatusAddedOnline', event: 'insert', table, when: isCounted, work: add },
    { name: 'deviceStatusRemovedOnline', event: 'delete', table, when: wasCounted, work: remove },
    {
      ...moved,
      name: 'deviceStatusLeftOnline',
      when: sql`${isMoved} and ${wasCounted}`,
      work: remove,
    },
    {
      ...moved,
      name: 'deviceStatusJoinedOnline',
      when: sql`${isMoved} and ${isCounted}`,
      work: add,
    },
    {
      name: 'onlineCountsEmptied',
      event: 'update',
      table: counts,
      when: sql`new."count" <= 0`,
      work: empty,
    },
  ];
  for (const trigger of triggers) await addRowTrigger(db, trigger);
}
