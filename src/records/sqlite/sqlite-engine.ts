// SQLite engine: the records in one file of the data folder, written by this process.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { syncFolder } from '../../data-folder/data-folder.ts';
import type { OpenEngine } from '../engine.ts';
import { elsewhereDialect, laneDialect } from '../lanes.ts';
import { createListChanges } from '../list-changes.ts';
import { migrate } from '../migrations.ts';
import type { RecordTables } from '../schema.ts';
import { refreshStatistics } from '../statistics.ts';
import { openConnection } from './connection.ts';
import { followListChanges } from './list-triggers.ts';
import { sqliteSql } from './sqlite-sql.ts';

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it
 * returns. Throws when the folder was written by a newer version of the program.
 */
export function sqliteEngine(directory: string): OpenEngine {
  return async ({ stopped }) => {
    mkdirSync(directory, { recursive: true });
    const listChanges = createListChanges();
    const { ran } = listChanges;
    const connection = openConnection(join(directory, 'records.sqlite'), { ran, stopped });
    const db = new Kysely<RecordTables>({ dialect: laneDialect(connection, sqliteSql) });
    try {
      // New indexes begin without statistics, and the query planner would pass them over.
      if (await migrate(db)) await refreshStatistics(db);
      followListChanges(connection, listChanges.changed);
      // SQLite syncs what it writes into its files; that the files are there is for us to keep.
      syncFolder(directory);
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return {
      db,
      elsewhere: (organizationId) =>
        new Kysely<RecordTables>({
          dialect: elsewhereDialect(connection, sqliteSql, organizationId),
        }),
      revisionOf: listChanges.revisionOf,
      hurry: connection.hurry,
      close: () => db.destroy(),
    };
  };
}
