// Version 130: up to which time each rule has judged the samples of a device, and the times of samples of alarms.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema
    .createTable('ruleJudgedTimes')
    .addColumn('deviceId', 'text', (column) => column.primaryKey())
    .addColumn('times', 'text', (column) => column.notNull())
    .execute();
  await schema.alterTable('alarms').addColumn('firstSampleAt', 'bigint').execute();
  await schema.alterTable('alarms').addColumn('lastSampleAt', 'bigint').execute();
}
