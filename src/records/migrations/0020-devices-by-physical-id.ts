// Version 20: devices are found by their physical id alone, which is all that a device token tells.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await schema.createIndex('devicesBydeviceId').on('devices').column('deviceId').execute();
}
