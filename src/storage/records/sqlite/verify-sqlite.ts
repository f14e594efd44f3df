// Checking the records database of a data folder without changing it: SQLite reads every page and every index against its table.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findingsMax, type RecordsFindings } from '../records-check.ts';

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
