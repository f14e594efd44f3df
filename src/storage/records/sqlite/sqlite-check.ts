// Check of records.sqlite before it is opened, at every start and by `verify`.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type CheckRecords, checkRecordsAt, type RecordsProbe } from '../records-check.ts';

export const checkSqlite: CheckRecords = (check) => {
  const { directory } = check;
  const path = join(directory, 'records.sqlite');
  const fromBackup =
    'Restore records.sqlite and secrets.key from the same backup, or set DATA_DIR to an empty folder';
  return checkRecordsAt({ path, fromBackup, probe: async () => probeFile(path) }, check);
};

function probeFile(path: string): RecordsProbe | 'missing' | 'empty' {
  if (!existsSync(path)) return 'missing';
  if (statSync(path).size === 0) return 'empty';
  const database = new DatabaseSync(path, { readOnly: true });
  return {
    rows: async (query) => database.prepare(query).all(),
    hasTable: async (name) =>
      database
        .prepare(`select 1 from sqlite_master where type = 'table' and name = ?`)
        .get(name) !== undefined,
    close: async () => database.close(),
  };
}
