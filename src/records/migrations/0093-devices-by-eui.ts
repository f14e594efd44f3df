// Version 93: an index that finds devices by the EUI among their LoRa properties.
import { type Kysely, sql } from 'kysely';
import { engineSql } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

/** The expression is that of `engineSql`, else no query would use the index. */
export async function up(db: Kysely<RecordTables>): Promise<void> {
  await sql`
    create index "devicesByorganizationIddeviceEui"
    on "devices" ("organizationId", (${engineSql(db).text(sql.ref('loraKeys'), 'deviceEui')}))
    where "loraKeys" is not null`.execute(db);
}
