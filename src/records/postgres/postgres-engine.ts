// PostgreSQL engine: the records in a database of a server.
import { type Kysely, sql } from 'kysely';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import type { OpenEngine } from '../engine.ts';
import { openLanes } from '../lanes.ts';
import { createListChanges } from '../list-changes.ts';
import { migrate } from '../migrations.ts';
import type { RecordTables } from '../schema.ts';
import { transaction } from '../transaction.ts';
import { openPostgresConnection } from './connection.ts';
import { addListTriggers } from './list-triggers.ts';
import { postgresSql } from './postgres-sql.ts';
import { placeOf, type PostgresServer, versionMin } from './server.ts';

/**
 * Opens the database, which must exist, and brings it to this version. Throws DataFolderError for a
 * server that cannot be used.
 */
export function postgresEngine(server: PostgresServer): OpenEngine {
  return async ({ published, migrating }) => {
    const listChanges = createListChanges();
    const connection = openPostgresConnection(server, { ...listChanges, published });
    const nullable = new Set<string>();
    const { revisionOf, listsChanged } = listChanges;
    const kyselyParts = postgresSql(nullable, server.node);
    return openLanes({ connection, kyselyParts, revisionOf, listsChanged }, async (db) => {
      await refuseOtherServers(db, server);
      await migrate(db, { migrating });
      // Nodes that start together make them in turn.
      await transaction(db, (step) => addListTriggers(step.db));
      if (!server.isShared) await renumberRestored(db);
      for (const name of await nullableColumns(db)) nullable.add(name);
      await connection.limitStatements();
    });
  };
}

async function refuseOtherServers(
  db: Kysely<RecordTables>,
  { url }: PostgresServer,
): Promise<void> {
  const { rows } = await sql<{ version: string; encoding: string }>`
    select current_setting('server_version_num') as "version",
      current_setting('server_encoding') as "encoding"`.execute(db);
  const [{ version, encoding } = { version: '', encoding: '' }] = rows;
  if (Number(version) < versionMin)
    throw new DataFolderError(
      `${placeOf(url)} has version ${Math.floor(Number(version) / 10_000)}: the records need PostgreSQL 15 or newer`,
    );
  if (encoding !== 'UTF8')
    throw new DataFolderError(
      `${placeOf(url)} has the encoding ${encoding}: create the database with ENCODING 'UTF8'`,
    );
}

/**
 * A restored database can hold transactions that its new server has not reached, which would never
 * be below the horizon.
 */
async function renumberRestored(db: Kysely<RecordTables>): Promise<void> {
  for (const table of ['deliveries', 'ruleTriggers'] as const)
    await sql`
      update ${sql.table(table)} set "xid" = pg_current_xact_id()
      where "xid" > pg_current_xact_id()`.execute(db);
}

async function nullableColumns(db: Kysely<RecordTables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct "column_name" as "name" from "information_schema"."columns"
    where "table_schema" = current_schema() and "is_nullable" = 'YES'`.execute(db);
  return rows.map(({ name }) => name);
}
