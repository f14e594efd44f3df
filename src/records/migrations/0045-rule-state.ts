// Version 45: what rules remember between runs, and what they have still to do. Written together with the follower's position.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

/**
 * None of these refers to its rule: the engine writes them behind the journal, and drops what is of
 * a rule that is gone.
 */
export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('ruleScriptStates')
    .addColumn('ruleId', 'text', (column) => column.primaryKey())
    .addColumn('activation', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('ruleDeviceStates')
    .addColumn('ruleId', 'text', (column) => column.notNull())
    .addColumn('deviceId', 'text', (column) => column.notNull())
    .addColumn('activation', 'integer', (column) => column.notNull())
    .addColumn('holds', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ruleDeviceStatesKey', ['ruleId', 'deviceId'])
    .execute();
  await schema
    .createTable('ruleLastSamples')
    .addColumn('deviceId', 'text', (column) => column.notNull())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('dataKey', 'text', (column) => column.notNull())
    .addColumn('sample', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ruleLastSamplesKey', ['deviceId', 'topic', 'dataKey'])
    .execute();
  await schema
    .createTable('ruleTimers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('ruleId', 'text', (column) => column.notNull())
    .addColumn('activation', 'integer', (column) => column.notNull())
    .addColumn('runAt', 'bigint', (column) => column.notNull())
    .addColumn('meta', 'text')
    .execute();
  await schema
    .createTable('ruleTriggers')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('ruleId', 'text', (column) => column.notNull())
    .addColumn('activation', 'integer', (column) => column.notNull())
    .addColumn('trigger', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('ruleRuns')
    .addColumn('ruleId', 'text', (column) => column.primaryKey())
    .addColumn('runs', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('ruleTimersByrunAt').on('ruleTimers').column('runAt').execute();
  await schema.createIndex('ruleTimersByruleId').on('ruleTimers').column('ruleId').execute();
  await schema
    .createIndex('ruleTriggersByruleId')
    .on('ruleTriggers')
    .columns(['ruleId', 'sequence'])
    .execute();
}
