// Verification of the records in PostgreSQL: reads every row and every reference, and changes nothing.
import type pg from 'pg';
import { findingsMax, type RecordsFindings } from '../records-check.ts';
import { connected } from './postgres-check.ts';
import { placeOf, type PostgresServer } from './server.ts';

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
