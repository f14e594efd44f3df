// SQLite engine: how its file is written, which files it refuses, and that no secret is in clear.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OpenRecords, openRecords } from '../records.ts';
import { sqliteEngine } from './sqlite-engine.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sqlite-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(): Promise<OpenRecords> {
  return openRecords({ directory, engine: sqliteEngine(directory), announce: () => undefined });
}

test('the file has a write-ahead log, and references are checked', async () => {
  const records = await open();
  const pragma = async (name: string) =>
    Object.values((await sql`pragma ${sql.raw(name)}`.execute(records.db)).rows[0]!)[0];
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('foreign_keys')).toBe(1);
  await records.close();
});

test('a folder of a newer version is refused with both versions named', async () => {
  await (await open()).close();
  const database = new DatabaseSync(join(directory, 'records.sqlite'));
  database.exec(`insert into kysely_migration values ('0099-later', '2026-11-22T00:00:00.000Z')`);
  database.close();
  await expect(open()).rejects.toThrow(
    /newer version.*records version 0099-later; this version supports \d+/,
  );
});

test('the file holds no secret in clear', async () => {
  const records = await open();
  await sql`insert into "deviceState" ("deviceId", "state") values ('d', ${records.sealer.seal('open sesame')})`.execute(
    records.db,
  );
  await records.close();
  expect(readFileSync(join(directory, 'records.sqlite')).includes('open sesame')).toBe(false);
});
