// Engine of tests: SQLite, or with RECORDS=postgres a database for each folder, copied from a migrated one.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { OpenEngine } from './engine.ts';
import { postgresEngine } from './postgres/postgres-engine.ts';
import type { RecordsDb } from './records.ts';
import { sqliteEngine } from './sqlite/sqlite-engine.ts';

/** The migrated database that others are copied from; see tests/servers/records-cluster.ts. */
export const templateDatabase = 'records_template';

/** Whether the tests of this process run on PostgreSQL. */
export const isPostgres = process.env['RECORDS'] === 'postgres';

/** The records of the folder, opened several times too, as tests do. */
export function testEngine(directory: string): OpenEngine {
  if (!isPostgres) return sqliteEngine(directory);
  return async (events) => {
    const url = await recordsUrlOf(directory);
    return postgresEngine({ url, isShared: true })(events);
  };
}

/** What a platform on this folder is started with, besides its folder. */
export async function recordsSettings(
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  if (!isPostgres) return {};
  return { RECORDS_URL: await recordsUrlOf(directory), SECRETS_KEY: 'key of the tests' };
}

/** The address of the database of the folder, created by the first call. */
async function recordsUrlOf(directory: string): Promise<string> {
  const cluster = new URL(clusterUrl());
  const name = `records_${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
  const client = new pg.Client({ connectionString: cluster.href });
  await client.connect();
  try {
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rows.length === 0)
      await client.query(`create database ${name} template ${templateDatabase}`);
  } finally {
    await client.end();
  }
  cluster.pathname = `/${name}`;
  return cluster.href;
}

function clusterUrl(): string {
  const url = process.env['RECORDS_CLUSTER'];
  if (url === undefined) throw new Error('Tests on PostgreSQL need the cluster of the test run');
  return url;
}

/** Rows may then name rows that do not exist, so that a test needs only those it is about. */
export async function dropReferences(db: RecordsDb): Promise<void> {
  if (!isPostgres) return void (await sql`pragma foreign_keys = off`.execute(db));
  await sql`do $body$ declare c record; begin
    for c in select conrelid::regclass as "table", conname from pg_constraint where contype = 'f' loop
      execute format('alter table %s drop constraint %I', c."table", c.conname);
    end loop;
  end $body$`.execute(db);
}
