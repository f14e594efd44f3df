// Version 93: an index that finds devices by the EUI among their LoRa properties.
import { type Kysely, sql } from 'kysely';
import { jsonSql } from '../json-sql.ts';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const eui = jsonSql(db).text(sql.ref('loraKeys'), 'deviceEui');
  await sql`
    create index "devicesByorganizationIddeviceEui" on "devices" ("organizationId", (${eui}))
    where "loraKeys" is not null`.execute(db);
}
