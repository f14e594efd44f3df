// Version 122: how device connectors map edge nodes of Sparkplug, and devices that are offline before their time.
import { type Kysely, sql } from 'kysely';
import { addRowTrigger, dropRowTrigger } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  await db.schema.alterTable('deviceConnectors').addColumn('sparkplug', 'text').execute();
  const trigger = { name: 'devicesChangedOnline', table: 'devices' };
  await dropRowTrigger(db, trigger);
  // As before, but a device that is gone since its last message stays so.
  await addRowTrigger(db, {
    ...trigger,
    event: 'update',
    columns: ['workspaceId', 'onlineTimeoutSeconds', 'registered'],
    when: sql`old."workspaceId" is distinct from new."workspaceId"
      or old."onlineTimeoutSeconds" is distinct from new."onlineTimeoutSeconds"
      or old."registered" is distinct from new."registered"`,
    work: sql`
      update "deviceStatus" set
        "workspaceId" = new."workspaceId",
        "onlineUntil" = case when new."registered" = 0 then null
          when "onlineUntil" <= "lastUplinkAt" then "onlineUntil"
          else "lastUplinkAt" + new."onlineTimeoutSeconds" * 1000 end
      where "deviceId" = new."id"`,
  });
}
