// Version 96: counts of what happened in workspaces, times of the last samples of flows, and low batteries.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger, engineSql } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await addCounts(db);
  await addLastSamples(db);
  await addBatteryLevels(db);
}

/** Rows may outlive their record for a day: what happened is counted after it was deleted. */
async function addCounts({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('periodCounts')
    .addColumn('recordId', 'text', (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('start', 'bigint', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('periodCountsKey', ['recordId', 'what', 'start'])
    .execute();
  await schema
    .createIndex('periodCountsBywhatstart')
    .on('periodCounts')
    .columns(['what', 'start'])
    .execute();
}

async function addLastSamples(db: Kysely<RecordTables>): Promise<void> {
  await db.schema
    .createTable('flowSamples')
    .addColumn('dataFlowId', 'text', (column) => column.primaryKey())
    .addColumn('lastSampleAt', 'bigint', (column) => column.notNull())
    .execute();
  for (const [table, column, of] of [
    ['flowSamples', 'dataFlowId', 'dataFlows'],
    ['periodCounts', 'recordId', 'workspaces'],
    ['periodCounts', 'recordId', 'outputConnectors'],
  ] as const)
    await addRowTrigger(db, {
      name: `${of}Drop${table}`,
      event: 'delete',
      table: of,
      work: sql`delete from ${sql.table(table)} where ${sql.ref(column)} = old."id"`,
    });
}

/** Only low batteries are in the index, so that it costs the others nothing. */
async function addBatteryLevels(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('deviceStatus').addColumn('batteryLevel', 'real').execute();
  const level = engineSql(db).number(sql.ref('uplinkMetrics'), 'batteryLevel');
  await db
    .updateTable('deviceStatus')
    .set({ batteryLevel: level })
    .where('uplinkMetrics', 'like', '%"batteryLevel"%')
    .execute();
  await db.schema
    .createIndex('deviceStatusLowBattery')
    .on('deviceStatus')
    .columns(['workspaceId', 'batteryLevel'])
    .where(sql.ref('batteryLevel'), '<', sql.lit(40))
    .execute();
}
