// Version 14: whether LoRa devices are registered with their network server, and active there.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  for (const name of ['registered', 'active']) {
    await db.schema.alterTable('devices').addColumn(name, 'integer').execute();
  }
  await db
    .updateTable('devices')
    .set({ registered: 1, active: 1 })
    .where('connectivity', '=', 'LORA')
    .execute();
}
