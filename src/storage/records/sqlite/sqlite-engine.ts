// SQLite engine: the records in one file of the data folder, written by this process.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { syncFolder } from '../../data-folder/data-folder.ts';
import { type OpenEngine, refreshStatistics } from '../engine.ts';
import { type KyselyParts, openLanes } from '../connection-pool.ts';
import { createListChanges, organizationOf } from '../list-cache.ts';
import { migrate } from '../migrations.ts';
import { RecordsConnection } from './connection.ts';

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it
 * returns. Throws when the folder was written by a newer version of the program.
 */
export function sqliteEngine(directory: string): OpenEngine {
  return async ({ stopped, migrating }) => {
    mkdirSync(directory, { recursive: true });
    const { ran, changed, revisionOf } = createListChanges();
    const connection = new RecordsConnection(join(directory, 'records.sqlite'), { ran, stopped });
    const lists = { revisionOf, listsChanged: () => undefined };
    return openLanes({ connection, kyselyParts: sqliteSql, ...lists }, async (db) => {
      // New indexes begin without statistics, and the query planner would pass them over.
      if (await migrate(db, { migrating })) await refreshStatistics(db);
      followListChanges(connection, changed);
      // SQLite syncs what it writes into its files; that the files are there is for us to keep.
      syncFolder(directory);
    });
  };
}

// List triggers of SQLite: temporary ones, which call this process during the statement.

const functionName = 'noteListChange';

/** Adds the triggers; call once, after the tables are migrated. */
function followListChanges(
  connection: RecordsConnection,
  changed: (organizationId: string) => void,
): void {
  connection.addTriggers([...triggers()].join('\n'), functionName, changed);
}

function* triggers(): Iterable<string> {
  const rowOf = { insert: 'new', update: 'new', delete: 'old' } as const;
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, row] of Object.entries(rowOf))
      yield `create temp trigger "${table}ListChangedBy${event}" after ${event} on main."${table}" begin
        select ${functionName}("id") from (select ${organization(row)} as "id") where "id" is not null;
      end;`;
}

// SQL of SQLite for Kysely: its compiler, and no lock besides that of the records connection.

/**
 * No lock: the records connection queues its callers. Kysely's lock would notify all waiting
 * callers at every release.
 */
class OwnOrderAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  /**
   * SQLite rolls back changes of the schema like any other, so that migrations run in a
   * transaction.
   */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export const sqliteSql: KyselyParts = {
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new OwnOrderAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
};
