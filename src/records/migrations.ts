// Records migrations: Kysely's Migrator brings a database to this program's version, in one transaction.
import type { Kysely } from 'kysely';
import {
  DEFAULT_MIGRATION_TABLE,
  type Migration,
  type MigrationResultSet,
  Migrator,
  NO_MIGRATIONS,
} from 'kysely/migration';
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
import * as registrationInLists from './migrations/0015-registration-in-lists.ts';
import * as devicesByPhysicalId from './migrations/0020-devices-by-physical-id.ts';
import * as integrations from './migrations/0024-integrations-and-downlinks.ts';
import * as deliveries from './migrations/0034-deliveries.ts';
import * as rules from './migrations/0044-rules.ts';
import * as ruleState from './migrations/0045-rule-state.ts';
import * as requestParts from './migrations/0050-request-parts.ts';
import * as provenAddresses from './migrations/0052-proven-addresses.ts';
import * as organizationCounts from './migrations/0060-organization-counts.ts';
import * as keyCheck from './migrations/0071-key-check.ts';
import * as oldVersionMark from './migrations/0072-old-version-mark.ts';
import * as deliveryLog from './migrations/0073-delivery-log.ts';
import * as deviceCounts from './migrations/0080-device-counts.ts';
import * as alarms from './migrations/0090-alarms.ts';
import * as userPreferences from './migrations/0091-user-preferences.ts';
import * as views from './migrations/0092-views.ts';
import * as devicesByEui from './migrations/0093-devices-by-eui.ts';
import * as activity from './migrations/0094-activity.ts';
import * as demoWorkspaces from './migrations/0095-demo-workspaces.ts';
import * as periodCounts from './migrations/0096-period-counts.ts';
import * as dashboardShares from './migrations/0097-dashboard-shares.ts';
import * as preferences from './migrations/0098-preferences.ts';
import * as onlineCounts from './migrations/0099-online-counts.ts';
import * as commitOrder from './migrations/0100-commit-order.ts';
import * as leases from './migrations/0110-leases.ts';
import * as lineProtocol from './migrations/0111-line-protocol.ts';
import * as recordChanges from './migrations/0112-record-changes.ts';
import * as sharedDeliveries from './migrations/0113-shared-deliveries.ts';
import * as rulePositions from './migrations/0114-rule-positions.ts';
import * as requestRuns from './migrations/0115-request-runs.ts';
import * as statusFences from './migrations/0116-status-fences.ts';
import * as journalCopies from './migrations/0117-journal-copies.ts';
import * as sessionsAndExpiry from './migrations/0119-sessions-and-expiry.ts';
import * as signInProvider from './migrations/0120-sign-in-provider.ts';
import * as secondFactors from './migrations/0121-second-factors.ts';
import * as sparkplug from './migrations/0122-sparkplug.ts';
import * as passkeys from './migrations/0123-passkeys.ts';
import * as sampleExports from './migrations/0124-sample-exports.ts';
import * as judgedTimes from './migrations/0130-judged-times.ts';
import * as refusals from './migrations/0140-refusals.ts';
import * as moreOrganizationCounts from './migrations/0141-more-organization-counts.ts';
import * as alarmEnds from './migrations/0155-alarm-ends.ts';
import type { EngineEvents } from './engine.ts';
import * as shareIds from './migrations/0150-share-ids.ts';
import * as firstPasswords from './migrations/0158-first-passwords.ts';
import type { RecordTables } from './schema.ts';

/**
 * By the name of its file. Each runs once; missing ones run in order of name. Rows are only ever
 * added.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first-records': firstRecords,
  '0002-idempotency-keys': idempotencyKeys,
  '0003-access': access,
  '0005-retention': retention,
  '0010-custom-fields': customFields,
  '0011-device-records': deviceRecords,
  '0012-blobs-and-dashboards': dashboards,
  '0013-operations': operations,
  '0014-registration': registration,
  '0015-registration-in-lists': registrationInLists,
  '0020-devices-by-physical-id': devicesByPhysicalId,
  '0024-integrations-and-downlinks': integrations,
  '0034-deliveries': deliveries,
  '0044-rules': rules,
  '0045-rule-state': ruleState,
  '0050-request-parts': requestParts,
  '0052-proven-addresses': provenAddresses,
  '0060-organization-counts': organizationCounts,
  '0071-key-check': keyCheck,
  '0072-old-version-mark': oldVersionMark,
  '0073-delivery-log': deliveryLog,
  '0080-device-counts': deviceCounts,
  '0090-alarms': alarms,
  '0091-user-preferences': userPreferences,
  '0092-views': views,
  '0093-devices-by-eui': devicesByEui,
  '0094-activity': activity,
  '0095-demo-workspaces': demoWorkspaces,
  '0096-period-counts': periodCounts,
  '0097-dashboard-shares': dashboardShares,
  '0098-preferences': preferences,
  '0099-online-counts': onlineCounts,
  '0100-commit-order': commitOrder,
  '0110-leases': leases,
  '0111-line-protocol': lineProtocol,
  '0112-record-changes': recordChanges,
  '0113-shared-deliveries': sharedDeliveries,
  '0114-rule-positions': rulePositions,
  '0115-request-runs': requestRuns,
  '0116-status-fences': statusFences,
  '0117-journal-copies': journalCopies,
  '0119-sessions-and-expiry': sessionsAndExpiry,
  '0120-sign-in-provider': signInProvider,
  '0121-second-factors': secondFactors,
  '0122-sparkplug': sparkplug,
  '0123-passkeys': passkeys,
  '0124-sample-exports': sampleExports,
  '0130-judged-times': judgedTimes,
  '0140-refusals': refusals,
  '0141-more-organization-counts': moreOrganizationCounts,
  '0150-share-ids': shareIds,
  '0155-alarm-ends': alarmEnds,
  '0158-first-passwords': firstPasswords,
};

/**
 * Numbers of migrations, as programs before the Migrator stored them; a program that finds a later
 * one refuses the database.
 */
interface OldTables {
  schemaVersion: { version: number };
}

interface MigratorTables {
  [DEFAULT_MIGRATION_TABLE]: { name: string; timestamp: string };
}

/**
 * True when an older database was changed. Throws `DataFolderError` when the database is at a later
 * version than this program knows. A migration that fails leaves the database as it was.
 */
export async function migrate(
  db: Kysely<RecordTables>,
  { migrating }: Pick<EngineEvents, 'migrating'> = {},
  known: Readonly<Record<string, Migration>> = migrations,
): Promise<boolean> {
  const names = Object.keys(known).sort();
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...known }) },
    // Databases of earlier versions ran some of them in another order.
    allowUnorderedMigrations: true,
  });
  const done = await namesDone(db, migrator, names);
  const later = done.filter((name) => !names.includes(name)).sort();
  if (later.length > 0) throw newerVersion(later.at(-1), names.at(-1));
  // A database that is up to date is not even locked.
  if (names.every((name) => done.includes(name))) return false;
  const [from, to] = [done.toSorted().at(-1), names.at(-1) ?? ''];
  const migration = { from: from ?? '', to, migrations: names.length - done.length };
  const startedAt = performance.now();
  if (from !== undefined) migrating?.(migration);
  throwFailure(await migrator.migrateToLatest());
  if (from === undefined) return false;
  migrating?.({ ...migration, ms: Math.round(performance.now() - startedAt) });
  return true;
}

/**
 * The names of the migrations that ran; those that only the old table knows are carried over to the
 * Migrator's.
 */
async function namesDone(
  db: Kysely<RecordTables>,
  migrator: Migrator,
  names: readonly string[],
): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const tableNames = new Set(tables.map(({ name }) => name));
  const migratorDb = db as unknown as Kysely<MigratorTables>;
  if (tableNames.has(DEFAULT_MIGRATION_TABLE)) {
    const rows = await migratorDb.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').execute();
    if (rows.length > 0) return rows.map(({ name }) => name);
  }
  if (!tableNames.has('schemaVersion')) return [];
  const old = await namesOfOldTable(db as unknown as Kysely<OldTables>, names);
  if (old.length === 0) return [];
  // Creates the Migrator's tables and runs nothing.
  throwFailure(await migrator.migrateTo(NO_MIGRATIONS));
  const timestamp = new Date(0).toISOString();
  await migratorDb
    .insertInto(DEFAULT_MIGRATION_TABLE)
    .values(old.map((name) => ({ name, timestamp })))
    .execute();
  return old;
}

async function namesOfOldTable(db: Kysely<OldTables>, names: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('schemaVersion').select('version').orderBy('version').execute();
  return rows.map(({ version }) => {
    const name = names.find((candidate) => Number.parseInt(candidate, 10) === version);
    if (name === undefined) throw newerVersion(version, names.at(-1));
    return name;
  });
}

/** The Migrator returns errors instead of throwing them. */
function throwFailure({ error }: MigrationResultSet): void {
  if (error instanceof Error) throw error;
  if (error !== undefined) throw new Error(String(error));
}

function newerVersion(
  found: string | number | undefined,
  known: string | undefined,
): DataFolderError {
  return new DataFolderError(
    `The data folder was written by a newer version of the program (records version ${found}, this program knows ${known}); start that version, or restore a backup made before it`,
  );
}
