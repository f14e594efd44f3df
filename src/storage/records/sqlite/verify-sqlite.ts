// Verification of records.sqlite, before it is opened and as a whole; it changes nothing.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type CheckRecords,
  checkRecordsAt,
  findingsMax,
  type RecordsFindings,
  type RecordsProbe,
} from '../records-check.ts';

/**
 * Reads the whole database of a folder that nobody has open. `refusal` is why a start would refuse
 * it.
 */
export function verifySqlite(directory: string, refusal?: string): RecordsFindings {
  const path = join(directory, 'records.sqlite');
  const refused = refusal === undefined ? [] : [refusal];
  if (!existsSync(path))
    return { path, damage: refused.length > 0 ? refused : ['The file is missing'] };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(`pragma integrity_check(${findingsMax})`).all();
    const said = rows.map((row) => String(row['integrity_check']));
    return { path, damage: [...refused, ...said.filter((line) => line !== 'ok')] };
  } catch (error) {
    return { path, damage: refused.length > 0 ? refused : [(error as Error).message] };
  } finally {
    database?.close();
  }
}

// Check of records.sqlite before it is opened, at every start and by `verify`.

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
