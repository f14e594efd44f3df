// Version 155: what keeps alarms open is found by device and by output, to end it with them.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  for (const column of ['deviceId', 'connectorId'] as const)
    await schema.createIndex(`alarmSourcesBy${column}`).on('alarmSources').column(column).execute();
}
