// Verification of the records in PostgreSQL, before they are opened and row by row; it changes nothing.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import {
  type CheckRecords,
  checkRecordsAt,
  findingsMax,
  type RecordsFindings,
  type RecordsProbe,
} from '../records-check.ts';
import { isLost, placeOf, postgresLimits, type PostgresServer, sessionOf } from './server.ts';

/** `refusal` is why a start would refuse the records. The server itself checks its pages. */
export async function verifyPostgres(
  server: PostgresServer,
  refusal: string | undefined,
): Promise<RecordsFindings> {
  const damage: string[] = refusal === undefined ? [] : [refusal];
  const client = await connected(server);
  try {
    // A whole table takes longer than a statement of a request.
    await client.query('set statement_timeout = 0');
    if ((await settingOf(client, 'data_checksums')) !== 'on')
      damage.push(
        'The cluster has no data checksums, so damaged pages stay unnoticed: stop it and run pg_checksums --enable',
      );
    for (const table of await tablesOf(client)) damage.push(...(await damageOf(client, table)));
    damage.push(...(await brokenReferences(client)));
  } finally {
    await client.end().catch(() => undefined);
  }
  return { path: placeOf(server.url), damage: damage.slice(0, findingsMax) };
}

async function settingOf(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select current_setting($1) as "value"', [
    name,
  ]);
  return rows[0]?.value;
}

async function tablesOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident("tablename") as "name" from "pg_catalog"."pg_tables"
     where "schemaname" = current_schema() order by "tablename"`,
  );
  return rows.map(({ name }) => name);
}

/** Reads every column of every row; the server reports what it cannot read. */
async function damageOf(client: pg.Client, table: string): Promise<readonly string[]> {
  try {
    await client.query(`select count(r::text) from ${table} as r`);
    return [];
  } catch (error) {
    return [`${table}: ${(error as Error).message}`];
  }
}

interface ForeignKey {
  readonly name: string;
  readonly child: string;
  readonly parent: string;
  readonly childColumn: string;
  readonly parentColumn: string;
}

/** Rows that name a row which is not there, as after a restore of single tables. */
async function brokenReferences(client: pg.Client): Promise<readonly string[]> {
  const { rows: keys } = await client.query<ForeignKey>(
    `select c.conname as "name", c.conrelid::regclass::text as "child",
       c.confrelid::regclass::text as "parent",
       quote_ident(a.attname) as "childColumn", quote_ident(b.attname) as "parentColumn"
     from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[1]
     where c.contype = 'f' and cardinality(c.conkey) = 1
       and c.connamespace = current_schema()::regnamespace`,
  );
  const damage: string[] = [];
  for (const { child, parent, childColumn, parentColumn } of keys) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*) as "count" from ${child} as c where ${childColumn} is not null
       and not exists (select 1 from ${parent} as p where p.${parentColumn} = c.${childColumn})`,
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) damage.push(`${child}: ${count} rows name a row of ${parent} that is missing`);
  }
  return damage;
}

// Check of the records in PostgreSQL before they are opened, at every start and by `verify`.

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
async function connected({ url }: PostgresServer): Promise<pg.Client> {
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
