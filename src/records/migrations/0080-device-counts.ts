// Version 80: counts of devices and times of last uplinks by workspace, so that lists count no rows.
import { type Kysely, sql } from 'kysely';
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

/** Triggers are part of the transaction that they follow: what is rolled back was never counted. */
async function addTriggers(db: Kysely<RecordTables>): Promise<void> {
  for (const [table, what] of [
    ['devices', 'devices'],
    ['deviceStatus', 'heard'],
  ] as const) {
    const add = sql`
      insert into "workspaceCounts" ("workspaceId", "what", "count")
      values (new."workspaceId", ${sql.lit(what)}, 1)
      on conflict ("workspaceId", "what") do update set "count" = "count" + 1;`;
    const remove = sql`
      update "workspaceCounts" set "count" = "count" - 1
      where "workspaceId" = old."workspaceId" and "what" = ${sql.lit(what)};`;
    await sql`
      create trigger ${sql.id(`${table}AddedToWorkspace`)} after insert on ${sql.table(table)}
      when new."workspaceId" is not null begin ${add} end`.execute(db);
    await sql`
      create trigger ${sql.id(`${table}RemovedFromWorkspace`)} after delete on ${sql.table(table)}
      when old."workspaceId" is not null begin ${remove} end`.execute(db);
    const isMoved = sql`old."workspaceId" is not new."workspaceId"`;
    await sql`
      create trigger ${sql.id(`${table}LeftWorkspace`)}
      after update of "workspaceId" on ${sql.table(table)}
      when ${isMoved} and old."workspaceId" is not null begin ${remove} end`.execute(db);
    await sql`
      create trigger ${sql.id(`${table}JoinedWorkspace`)}
      after update of "workspaceId" on ${sql.table(table)}
      when ${isMoved} and new."workspaceId" is not null begin ${add} end`.execute(db);
  }
  await sql`
    create trigger "devicesChangedOnline"
    after update of "workspaceId", "onlineTimeoutSeconds", "registered" on "devices"
    when old."workspaceId" is not new."workspaceId"
      or old."onlineTimeoutSeconds" is not new."onlineTimeoutSeconds"
      or old."registered" is not new."registered"
    begin
      update "deviceStatus" set
        "workspaceId" = new."workspaceId",
        "onlineUntil" = case when new."registered" = 0 then null
          else "lastUplinkAt" + new."onlineTimeoutSeconds" * 1000 end
      where "deviceId" = new."id";
    end`.execute(db);
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
