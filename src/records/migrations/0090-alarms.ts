// Version 90: alarms, who keeps them open, and their comments.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await addAlarms(schema);
  await addParts(schema);
  await addIndexes(schema);
}

type Schema = Kysely<RecordTables>['schema'];

/** Device and rule are copies, because an alarm is kept longer than they may be. */
async function addAlarms(schema: Schema): Promise<void> {
  const texts = ['organizationId', 'name', 'severity', 'state', 'key', 'connectorId'];
  const moreTexts = ['ruleId', 'ruleName', 'data', 'correlationId', 'orderedBy', 'searchText'];
  const numbers = ['severityRank', 'count', 'sources', 'commentCount', 'version'];
  const times = ['acknowledgedAt', 'clearedAt', 'escalatedAt', 'clearAt', 'escalateAt'];
  const people = ['deviceId', 'deviceName', 'devicePhysicalId', 'openKey'];
  const others = ['acknowledgedBy', 'clearedBy', 'clearReason'];
  let table = schema
    .createTable('alarms')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspaceId', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('firstTriggered', 'bigint', (column) => column.notNull())
    .addColumn('lastTriggered', 'bigint', (column) => column.notNull());
  for (const name of [...texts, ...moreTexts])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  for (const name of numbers)
    table = table.addColumn(name, 'integer', (column) => column.notNull());
  for (const name of [...people, ...others]) table = table.addColumn(name, 'text');
  for (const name of times) table = table.addColumn(name, 'bigint');
  await table.execute();
}

async function addParts(schema: Schema): Promise<void> {
  await schema
    .createTable('alarmSources')
    .addColumn('ruleId', 'text', (column) => column.notNull())
    .addColumn('deviceId', 'text', (column) => column.notNull())
    .addColumn('connectorId', 'text', (column) => column.notNull())
    .addColumn('alarmId', 'text', (column) =>
      column.notNull().references('alarms.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('alarmSourcesKey', ['ruleId', 'deviceId', 'connectorId', 'alarmId'])
    .execute();
  await schema
    .createTable('alarmComments')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('alarmId', 'text', (column) =>
      column.notNull().references('alarms.id').onDelete('cascade'),
    )
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('by', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute();
}

async function addIndexes(schema: Schema): Promise<void> {
  const indexes: readonly (readonly [keyof RecordTables, readonly string[]])[] = [
    ['alarms', ['organizationId', 'lastTriggered', 'id']],
    ['alarms', ['workspaceId', 'lastTriggered', 'id']],
    ['alarms', ['deviceId', 'lastTriggered', 'id']],
    ['alarms', ['ruleId', 'lastTriggered', 'id']],
    ['alarmSources', ['alarmId']],
    ['alarmComments', ['alarmId', 'at']],
  ];
  for (const [table, columns] of indexes)
    await schema
      .createIndex(`${table}By${columns.join('')}`)
      .on(table)
      .columns([...columns])
      .execute();
  await schema
    .createIndex('alarmsByopenKey')
    .unique()
    .on('alarms')
    .columns(['workspaceId', 'openKey'])
    .where(sql.ref('openKey'), 'is not', null)
    .execute();
  // Counts of open alarms read this index and no row.
  await schema
    .createIndex('alarmsOpen')
    .on('alarms')
    .columns(['workspaceId', 'state', 'severity'])
    .where(sql.ref('state'), '<>', sql.lit('CLEARED'))
    .execute();
  for (const column of ['clearAt', 'escalateAt', 'clearedAt'])
    await schema
      .createIndex(`alarmsBy${column}`)
      .on('alarms')
      .column(column)
      .where(sql.ref(column), 'is not', null)
      .execute();
}
