// SQLite engine: the records in one file of the data folder, written by this process.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../data-folder/data-folder.ts';
import type { OpenEngine } from '../engine.ts';
import { openLanes } from '../lanes.ts';
import { createListChanges } from '../list-changes.ts';
import { migrate } from '../migrations.ts';
import { refreshStatistics } from '../statistics.ts';
import { openConnection } from './connection.ts';
import { followListChanges } from './list-triggers.ts';
import { sqliteSql } from './sqlite-sql.ts';

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it
 * returns. Throws when the folder was written by a newer version of the program.
 */
export function sqliteEngine(directory: string): OpenEngine {
  return async ({ stopped, migrating }) => {
    mkdirSync(directory, { recursive: true });
    const { ran, changed, revisionOf } = createListChanges();
    const connection = openConnection(join(directory, 'records.sqlite'), { ran, stopped });
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
