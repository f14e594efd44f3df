// SQL of SQLite for Kysely: its compiler, and no lock besides that of the records connection.
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { KyselyParts } from '../lanes.ts';

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
