// Checking the records database of a data folder without changing it: SQLite reads every page and every index against its table.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const findingsMax = 100;

export interface RecordsFindings {
  readonly path: string;
  /** Sentences, at most `findingsMax`; empty when all is sound. */
  readonly damage: readonly string[];
}

/** Reads the whole database of a folder that nobody has open. */
export function verifyRecords(directory: string): RecordsFindings {
  const path = join(directory, 'records.sqlite');
  if (!existsSync(path)) return { path, damage: ['The file is missing'] };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(`pragma integrity_check(${findingsMax})`).all();
    const said = rows.map((row) => String(row['integrity_check']));
    return { path, damage: said.filter((line) => line !== 'ok') };
  } catch (error) {
    return { path, damage: [(error as Error).message] };
  } finally {
    database?.close();
  }
}
