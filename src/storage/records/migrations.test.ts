// Records migrations: an older database is brought up to date in one step, and others are refused as they are.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { laneDialect } from './connection-pool.ts';
import { migrate, migrations } from './migrations.ts';
import type { RecordTables } from './schema.ts';
import { RecordsConnection, sqliteSql } from './sqlite/sqlite-engine.ts';

const first = '0001-schema';

let directory: string;
let path: string;
let opened: Kysely<RecordTables>[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  path = join(directory, 'records.sqlite');
  opened = [];
});
afterEach(async () => {
  for (const db of opened) await db.destroy();
  rmSync(directory, { recursive: true, force: true });
});

function open(): Kysely<RecordTables> {
  const connection = new RecordsConnection(path, { ran: () => {}, stopped: () => {} });
  const db = new Kysely<RecordTables>({ dialect: laneDialect(connection, sqliteSql) });
  opened.push(db);
  return db;
}

function rows(query: string): unknown[] {
  const database = new DatabaseSync(path);
  try {
    return database
      .prepare(query)
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

function change(statement: string): void {
  const database = new DatabaseSync(path);
  database.exec(statement);
  database.close();
}

const schemaNow = () => rows(`select coalesce(sql, name) from sqlite_master order by name`);
const appliedNow = () => rows('select name from kysely_migration order by name');

const addsTable = (name: string): Migration => ({
  up: async (db) => db.schema.createTable(name).addColumn('id', 'text').execute(),
});
const next = { '0002-made': addsTable('made'), '0003-also': addsTable('alsoMade') };

test('reliability 11: an older database is migrated, which is told, and keeps its rows', async () => {
  const told: unknown[] = [];
  const migrating = (step: unknown) => void told.push(step);
  expect(await migrate(open(), { migrating })).toBe(false);
  expect(told).toEqual([]);
  change(`insert into keyCheck values ('kept')`);
  expect(await migrate(open(), { migrating }, { ...migrations, ...next })).toBe(true);
  const step = { from: first, to: '0003-also', migrations: 2 };
  expect(told).toEqual([step, { ...step, ms: expect.any(Number) }]);
  expect(appliedNow()).toEqual([first, '0002-made', '0003-also']);
  expect(schemaNow().join()).toContain('alsoMade');
  expect(rows('select word from keyCheck')).toEqual(['kept']);
  expect(await migrate(open(), {}, { ...migrations, ...next })).toBe(false);
});

test('a migration that fails leaves the database as it was, with all that would have run before', async () => {
  await migrate(open());
  const before = schemaNow();
  const fails = { up: () => Promise.reject(new Error('no space left')) };
  const failing = { ...migrations, ...next, '0003-also': fails };
  await expect(migrate(open(), {}, failing)).rejects.toThrow('no space left');
  expect(schemaNow()).toEqual(before);
  expect(appliedNow()).toEqual([first]);
  expect(await migrate(open(), {}, { ...migrations, ...next })).toBe(true);
});

test('a first start that fails leaves an empty database, and the next one completes it', async () => {
  const failing = { ...migrations, '0002-made': { up: () => Promise.reject(new Error('full')) } };
  await expect(migrate(open(), {}, failing)).rejects.toThrow('full');
  expect(schemaNow().join()).not.toContain('organizations');
  expect(await migrate(open())).toBe(false);
  expect(appliedNow()).toEqual([first]);
});

test('a database of a newer version is refused with both versions named', async () => {
  await migrate(open(), {}, { ...migrations, ...next });
  await expect(migrate(open())).rejects.toThrow(
    /newer version.*records version 0003-also; this version supports 0001-schema/,
  );
});

test('a database of a development version from before the first release is refused unchanged', async () => {
  await migrate(open());
  change(`update kysely_migration set name = '0001-first-records';
    create table schemaVersion (version integer primary key)`);
  const before = schemaNow();
  await expect(migrate(open())).rejects.toThrow(/development version before release 0\.2\.0/);
  expect(schemaNow()).toEqual(before);
  expect(appliedNow()).toEqual(['0001-first-records']);
});

test('a database that is up to date is only read, also while another process writes', async () => {
  await migrate(open());
  const db = open();
  const writer = new DatabaseSync(path);
  writer.exec('begin immediate');
  expect(await migrate(db)).toBe(false);
  writer.close();
});
