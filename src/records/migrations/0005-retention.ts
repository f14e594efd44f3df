// Version 5: how long a data flow's samples are kept, and deleted devices whose samples are still to be dropped.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema.alterTable('dataFlows').addColumn('retentionDays', 'integer').execute();
  await schema
    .createTable('deletedDevices')
    .addColumn('deviceId', 'text', (column) => column.primaryKey())
    .addColumn('deletedAt', 'bigint', (column) => column.notNull())
    .execute();
}
