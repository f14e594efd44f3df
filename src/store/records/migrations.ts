// Brings a database to this program's version: numbered steps, each with its number in one transaction.
import { type Kysely, sql } from 'kysely';
import { DataFolderError } from '../data-folder.ts';
import * as firstRecords from './migrations/0001-first-records.ts';
import * as idempotencyKeys from './migrations/0002-idempotency-keys.ts';
import * as access from './migrations/0003-access.ts';
import type { RecordTables } from './schema.ts';

interface Migration {
  up(db: Kysely<RecordTables>): Promise<void>;
}

/** Version n is reached by entry n - 1. Entries are only ever added. */
const migrations: readonly Migration[] = [firstRecords, idempotencyKeys, access];

interface VersionTable {
  schemaVersion: { version: number };
}

/** Throws when the database is at a later version than this program knows. */
export async function migrate(db: Kysely<RecordTables>): Promise<void> {
  const versions = db as unknown as Kysely<VersionTable>;
  await versions.schema
    .createTable('schemaVersion')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .execute();
  const { at } = await versions
    .selectFrom('schemaVersion')
    .select(sql<number>`coalesce(max(version), 0)`.as('at'))
    .executeTakeFirstOrThrow();
  if (at > migrations.length) {
    throw new DataFolderError(
      `The data folder was written by a newer version of the program (records version ${at}, this program knows ${migrations.length}); start that version, or restore a backup made before it`,
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < at) continue;
    await db.transaction().execute(async (step) => {
      await migration.up(step);
      await (step as unknown as Kysely<VersionTable>)
        .insertInto('schemaVersion')
        .values({ version: index + 1 })
        .execute();
    });
  }
}
