// Brings a database to this program's version: numbered steps, each with its number in one transaction.
import type { Kysely } from 'kysely';
import { DataFolderError } from '../data-folder/data-folder.ts';
import * as firstRecords from './migrations/0001-first-records.ts';
import * as idempotencyKeys from './migrations/0002-idempotency-keys.ts';
import * as access from './migrations/0003-access.ts';
import * as retention from './migrations/0005-retention.ts';
import * as customFields from './migrations/0010-custom-fields.ts';
import * as deviceRecords from './migrations/0011-device-records.ts';
import * as dashboards from './migrations/0012-blobs-and-dashboards.ts';
import * as operations from './migrations/0013-operations.ts';
import * as registration from './migrations/0014-registration.ts';
import * as deliveries from './migrations/0034-deliveries.ts';
import * as registrationInLists from './migrations/0015-registration-in-lists.ts';
import * as devicesByPhysicalId from './migrations/0020-devices-by-physical-id.ts';
import * as integrations from './migrations/0024-integrations-and-downlinks.ts';
import * as rules from './migrations/0044-rules.ts';
import * as ruleState from './migrations/0045-rule-state.ts';
import * as provenAddresses from './migrations/0052-proven-addresses.ts';
import * as requestParts from './migrations/0050-request-parts.ts';
import * as organizationCounts from './migrations/0060-organization-counts.ts';
import * as keyCheck from './migrations/0071-key-check.ts';
import type { RecordTables } from './schema.ts';

interface Migration {
  up(db: Kysely<RecordTables>): Promise<void>;
}

/** By number, as in the names of the files; each runs once, those that are missing in order. Entries are only ever added. */
const migrations: Readonly<Record<number, Migration>> = {
  1: firstRecords,
  2: idempotencyKeys,
  3: access,
  5: retention,
  10: customFields,
  11: deviceRecords,
  12: dashboards,
  13: operations,
  14: registration,
  34: deliveries,
  15: registrationInLists,
  20: devicesByPhysicalId,
  24: integrations,
  44: rules,
  45: ruleState,
  52: provenAddresses,
  50: requestParts,
  60: organizationCounts,
  71: keyCheck,
};

interface VersionTable {
  schemaVersion: { version: number };
}

/** True when an older database was changed. Throws when it is at a later version than this program knows. */
export async function migrate(db: Kysely<RecordTables>): Promise<boolean> {
  const versions = db as unknown as Kysely<VersionTable>;
  await versions.schema
    .createTable('schemaVersion')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .execute();
  const known = Object.keys(migrations).map(Number);
  const rows = await versions.selectFrom('schemaVersion').select('version').execute();
  const done = new Set(rows.map((row) => row.version));
  const latest = Math.max(0, ...done);
  if (latest > Math.max(...known)) {
    throw new DataFolderError(
      `The data folder was written by a newer version of the program (records version ${latest}, this program knows ${Math.max(...known)}); start that version, or restore a backup made before it`,
    );
  }
  const missing = known.filter((number) => !done.has(number));
  for (const number of missing) {
    await db.transaction().execute(async (step) => {
      await migrations[number]!.up(step);
      await (step as unknown as Kysely<VersionTable>)
        .insertInto('schemaVersion')
        .values({ version: number })
        .execute();
    });
  }
  return done.size > 0 && missing.length > 0;
}
