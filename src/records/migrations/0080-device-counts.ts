// Version 80: counts of devices and times of last uplinks by workspace, so that lists count no rows.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger, type RowTrigger } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await addCounts(db);
  await addStatusColumns(db);
  await addTriggers(db);
  await addIndexes(db);
}

async function addCounts(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('workspaceCounts')
    .addColumn('workspaceId', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('workspaceCountsKey', ['workspaceId', 'what'])
    .execute();
  await sql`
    insert into "workspaceCounts" ("workspaceId", "what", "count")
    select "workspaceId", 'devices', count(*) from "devices" group by "workspaceId"`.execute(db);
}

/** Copies of columns of `devices`, so that a count of online devices reads one table. */
async function addStatusColumns(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('deviceStatus').addColumn('workspaceId', 'text').execute();
  await db.schema.alterTable('deviceStatus').addColumn('onlineUntil', 'bigint').execute();
  await sql`
    update "deviceStatus" set ("workspaceId", "onlineUntil") = (
      select "workspaceId",
        case when "registered" = 0 then null else "lastUplinkAt" + "onlineTimeoutSeconds" * 1000 end
      from "devices" where "devices"."id" = "deviceStatus"."deviceId")`.execute(db);
  await sql`
    insert into "workspaceCounts" ("workspaceId", "what", "count")
    select "workspaceId", 'heard', count(*) from "deviceStatus"
    where "workspaceId" is not null group by "workspaceId"`.execute(db);
}

async function addTriggers(db: Kysely<RecordTables>): Promise<void> {
  for (const [table, what] of [
    ['devices', 'devices'],
    ['deviceStatus', 'heard'],
  ] as const)
    for (const trigger of countTriggers(table, what)) await addRowTrigger(db, trigger);
  await addRowTrigger(db, {
    name: 'devicesChangedOnline',
    event: 'update',
    table: 'devices',
    columns: ['workspaceId', 'onlineTimeoutSeconds', 'registered'],
    when: sql`old."workspaceId" is distinct from new."workspaceId"
      or old."onlineTimeoutSeconds" is distinct from new."onlineTimeoutSeconds"
      or old."registered" is distinct from new."registered"`,
    work: sql`
      update "deviceStatus" set
        "workspaceId" = new."workspaceId",
        "onlineUntil" = case when new."registered" = 0 then null
          else "lastUplinkAt" + new."onlineTimeoutSeconds" * 1000 end
      where "deviceId" = new."id"`,
  });
}

function countTriggers(table: string, what: string): readonly RowTrigger[] {
  const add = sql`
    insert into "workspaceCounts" ("workspaceId", "what", "count")
    values (new."workspaceId", ${sql.lit(what)}, 1)
    on conflict ("workspaceId", "what") do update set "count" = "workspaceCounts"."count" + 1`;
  const remove = sql`
    update "workspaceCounts" set "count" = "count" - 1
    where "workspaceId" = old."workspaceId" and "what" = ${sql.lit(what)}`;
  const isMoved = sql`old."workspaceId" is distinct from new."workspaceId"`;
  const hasNew = sql`new."workspaceId" is not null`;
  const hadOld = sql`old."workspaceId" is not null`;
  const moved = { table, event: 'update', columns: ['workspaceId'] } as const;
  return [
    { name: `${table}AddedToWorkspace`, table, event: 'insert', when: hasNew, work: add },
    { name: `${table}RemovedFromWorkspace`, table, event: 'delete', when: hadOld, work: remove },
    { ...moved, name: `${table}LeftWorkspace`, when: sql`${isMoved} and ${hadOld}`, work: remove },
    { ...moved, name: `${table}JoinedWorkspace`, when: sql`${isMoved} and ${hasNew}`, work: add },
  ];
}

async function addIndexes({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createIndex('deviceStatusByworkspaceIdlastUplinkAt')
    .on('deviceStatus')
    .columns(['workspaceId', 'lastUplinkAt', 'deviceId', 'onlineUntil'])
    .execute();
  await schema
    .createIndex('devicesByworkspaceIdcreatedid')
    .on('devices')
    .columns(['workspaceId', 'created', 'id'])
    .execute();
  await schema
    .createIndex('devicesByworkspaceIdonlineTimeoutSeconds')
    .on('devices')
    .columns(['workspaceId', 'onlineTimeoutSeconds'])
    .execute();
  // Few devices are in it, and the others cost it nothing.
  await schema
    .createIndex('devicesDeregistered')
    .on('devices')
    .columns(['workspaceId', 'id'])
    .where(sql.ref('registered'), '=', sql.lit(0))
    .execute();
}
