// Records of the platform: in the data folder, or in PostgreSQL when RECORDS_URL names a server.
import type { Config } from '../config.ts';
import type { OpenEngine } from '../records/engine.ts';
import { checkPostgres } from '../records/postgres/postgres-check.ts';
import { postgresEngine } from '../records/postgres/postgres-engine.ts';
import { verifyPostgres } from '../records/postgres/verify-postgres.ts';
import type { CheckRecords, RecordsFindings } from '../records/records-check.ts';
import { checkSqlite } from '../records/sqlite/sqlite-check.ts';
import { sqliteEngine } from '../records/sqlite/sqlite-engine.ts';
import { verifySqlite } from '../records/sqlite/verify-sqlite.ts';

export interface RecordsPlace {
  /** Opens the database and creates what is missing. */
  readonly engine: OpenEngine;
  /** What a start would refuse, and what the records know of the journal. */
  readonly check: CheckRecords;
  /** Reads the whole database; `refusal` is why a start would refuse it. */
  readonly verify: (refusal: string | undefined) => Promise<RecordsFindings>;
}

export function recordsPlaceOf({
  recordsUrl,
  dataDirectory: directory,
  cluster,
}: Pick<Config, 'recordsUrl' | 'dataDirectory' | 'cluster'>): RecordsPlace {
  if (recordsUrl !== undefined) {
    const server = { url: recordsUrl, isShared: cluster !== undefined };
    return {
      engine: postgresEngine(server),
      check: checkPostgres(server),
      verify: (refusal) => verifyPostgres(server, refusal),
    };
  }
  return {
    engine: sqliteEngine(directory),
    check: checkSqlite,
    verify: async (refusal) => verifySqlite(directory, refusal),
  };
}
