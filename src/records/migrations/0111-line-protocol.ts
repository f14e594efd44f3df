// Version 111: how device connectors map points of line protocol to samples, as JSON.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('deviceConnectors').addColumn('lineProtocol', 'text').execute();
}
