// Check of the records in PostgreSQL before they are opened, at every start and by `verify`.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import { type CheckRecords, checkRecordsAt, type RecordsProbe } from '../records-check.ts';
import { isLost } from './records-error.ts';
import { placeOf, postgresLimits, type PostgresServer, sessionOf } from './server.ts';

const retryMs = 500;

/** Throws DataFolderError when the server does not answer. */
export function checkPostgres(server: PostgresServer): CheckRecords {
  const path = placeOf(server.url);
  const fromBackup = `Restore the database from its backup, or set DATA_DIR to an empty folder`;
  return async (check) => {
    const client = await connected(server);
    try {
      const probe = async () => probeOf(client);
      return await checkRecordsAt({ path, fromBackup, probe }, check);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}

/** A session that only reads; waits for a server that is about to start. */
export async function connected({ url }: PostgresServer): Promise<pg.Client> {
  const startedAt = performance.now();
  for (;;) {
    const client = new pg.Client({
      ...sessionOf(url, postgresLimits.readMsMax),
      options: '-c default_transaction_read_only=on',
    });
    try {
      await client.connect();
      client.on('error', () => undefined);
      return client;
    } catch (error) {
      const isOver = performance.now() - startedAt > postgresLimits.startMsMax;
      if (!isLost(error) || isOver)
        throw new DataFolderError(
          `Cannot use RECORDS_URL: ${placeOf(url)}: ${(error as Error).message || String((error as { code?: unknown }).code)}`,
        );
    }
    await delay(retryMs);
  }
}

function probeOf(client: pg.Client): RecordsProbe {
  return {
    rows: async (query) => (await client.query<Record<string, unknown>>(query)).rows,
    hasTable: async (name) => {
      const { rows } = await client.query<{ found: unknown }>(
        `select to_regclass(quote_ident($1)) as "found"`,
        [name],
      );
      return rows[0]?.found !== null;
    },
    close: async () => undefined,
  };
}
