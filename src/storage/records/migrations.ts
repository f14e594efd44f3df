// Records migrations: Kysely's Migrator brings a database to this program's version, in one transaction.
import type { Kysely } from 'kysely';
import {
  DEFAULT_MIGRATION_TABLE,
  type Migration,
  type MigrationResultSet,
  Migrator,
} from 'kysely/migration';
import { DataFolderError } from '../data-folder/data-folder.ts';
import type { EngineEvents } from './engine.ts';
import * as schema from './migrations/0001-schema.ts';
import { unreleasedRefusal, unreleasedTable } from './records-check.ts';
import type { RecordTables } from './schema.ts';

/**
 * By the name of its file. Each runs once, in order of name. From release 0.2.0 on, rows are only
 * ever added, and a migration stays as it was released.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-schema': schema,
};

/**
 * True when an older database was changed. Throws `DataFolderError` for a database of a later
 * version than this program knows, and for one from before the first release. A migration that
 * fails leaves the database as it was.
 */
export async function migrate(
  db: Kysely<RecordTables>,
  { migrating }: Partial<EngineEvents> = {},
  known: Readonly<Record<string, Migration>> = migrations,
): Promise<boolean> {
  const names = Object.keys(known).sort();
  const done = await namesDone(db);
  const later = done.filter((name) => !names.includes(name)).sort();
  if (later.length > 0) throw newerVersion(later.at(-1), names.at(-1));
  // A database that is up to date is not even locked.
  if (names.every((name) => done.includes(name))) return false;
  const [from, to] = [done.toSorted().at(-1), names.at(-1) ?? ''];
  const migration = { from: from ?? '', to, migrations: names.length - done.length };
  const startedAt = performance.now();
  if (from !== undefined) migrating?.(migration);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...known }) } });
  throwFailure(await migrator.migrateToLatest());
  if (from === undefined) return false;
  migrating?.({ ...migration, ms: Math.round(performance.now() - startedAt) });
  return true;
}

/** The names of the migrations that ran. */
async function namesDone(db: Kysely<RecordTables>): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const tableNames = new Set(tables.map(({ name }) => name));
  if (tableNames.has(unreleasedTable)) throw new DataFolderError(unreleasedRefusal);
  if (!tableNames.has(DEFAULT_MIGRATION_TABLE)) return [];
  const migratorDb = db as unknown as Kysely<{
    [DEFAULT_MIGRATION_TABLE]: { name: string };
  }>;
  const rows = await migratorDb.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').execute();
  return rows.map(({ name }) => name);
}

/** The Migrator returns errors instead of throwing them. */
function throwFailure({ error }: MigrationResultSet): void {
  if (error instanceof Error) throw error;
  if (error !== undefined) throw new Error(String(error));
}

function newerVersion(found: string | undefined, known: string | undefined): DataFolderError {
  return new DataFolderError(
    `The data folder was written by a newer version (records version ${found}; this version supports ${known}). Start that version, or restore an earlier backup.`,
  );
}
