// Records of the platform: in the data folder, or in PostgreSQL when RECORDS_URL names a server.
import type { Config } from './config/config.ts';
import type { OpenEngine } from '../storage/records/engine.ts';
import { postgresEngine } from '../storage/records/postgres/postgres-engine.ts';
import { checkPostgres, verifyPostgres } from '../storage/records/postgres/server.ts';
import type { CheckRecords, RecordsFindings } from '../storage/records/records-check.ts';
import {
  checkSqlite,
  sqliteEngine,
  verifySqlite,
} from '../storage/records/sqlite/sqlite-engine.ts';

/** `node` is the id of this node where several share the records. */
export function recordsPlaceOf(
  { recordsUrl, dataDirectory: directory }: Pick<Config, 'recordsUrl' | 'dataDirectory'>,
  node?: string,
): {
  /** Opens the database and creates what is missing. */
  readonly engine: OpenEngine;
  /** What a start would refuse, and what the records know of the journal. */
  readonly check: CheckRecords;
  /** Reads the whole database; `refusal` is why a start would refuse it. */
  readonly verify: (refusal: string | undefined) => Promise<RecordsFindings>;
} {
  if (recordsUrl !== undefined) {
    const server = { url: recordsUrl, node };
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
