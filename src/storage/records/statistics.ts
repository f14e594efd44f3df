// Statistics of the query planner, after many rows were written.
import { SqliteAdapter, sql } from 'kysely';
import type { RecordsDb } from './records.ts';

/**
 * Tells SQLite how many rows its indexes stand for, where that changed much: without, it walks
 * whole lists where an index on a custom field would find the device at once. PostgreSQL sees to
 * that itself.
 */
export async function refreshStatistics(db: RecordsDb): Promise<void> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  await sql`pragma analysis_limit = 1000`.execute(db);
  // All tables that were ever given an index, whether this connection read them or not.
  await sql`pragma optimize = 0x10002`.execute(db);
}
