// Records migrations: databases of every version of the earlier program are brought up to date and keep what they have.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate, migrations } from './migrations.ts';
import type { RecordTables } from './schema.ts';
import { openConnection } from './sqlite/connection.ts';
import { laneDialect } from './lanes.ts';
import { sqliteSql } from './sqlite/sqlite-sql.ts';

/** The migrations of the program that stored their numbers in `schemaVersion`. */
const oldNames = Object.keys(migrations).filter((name) => name <= '0071-key-check');
const newestName = Object.keys(migrations).sort().at(-1) ?? '';
const numberOf = (name: string) => Number(name.slice(0, 4));

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

function open(file = path): Kysely<RecordTables> {
  const connection = openConnection(file, { ran: () => {}, stopped: () => {} });
  const db = new Kysely<RecordTables>({ dialect: laneDialect(connection, sqliteSql) });
  opened.push(db);
  return db;
}

/** What the earlier program left behind, with a user and an organization. */
async function makeOldDatabase(names: readonly string[]): Promise<void> {
  await open()
    .transaction()
    .execute(async (db) => {
      const versions = db as unknown as Kysely<{ schemaVersion: { version: number } }>;
      await versions.schema
        .createTable('schemaVersion')
        .addColumn('version', 'integer', (versionColumn) => versionColumn.primaryKey())
        .execute();
      for (const name of names) {
        await migrations[name]?.up(db);
        await versions
          .insertInto('schemaVersion')
          .values({ version: numberOf(name) })
          .execute();
      }
    });
  sqlite((database) => {
    for (const table of ['users', 'organizations']) database.exec(keptRow(database, table));
  });
}

/** A row with a value in every column that the table has by then. */
function keptRow(database: DatabaseSync, table: string): string {
  const columns = database.prepare(`select type from pragma_table_info('${table}')`).all();
  const values = columns.map(({ type }) =>
    type === 'INTEGER' || type === 'integer' ? '7' : `'kept'`,
  );
  return `insert into ${table} values (${values.join(', ')})`;
}

function sqlite<T>(work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/**
 * Tables with their columns, indexes and triggers; the order of columns depends on that of the
 * migrations.
 */
function schemaOf(): unknown {
  return sqlite((database) => {
    const objects = database
      .prepare(`select type, name, tbl_name from sqlite_master order by type, name`)
      .all();
    const columns = database.prepare(
      `select name, type, "notnull", dflt_value, pk from pragma_table_info(?) order by name`,
    );
    return objects.map((row) => [row, columns.all(String(row['name']))]);
  });
}

function column(statement: string): unknown[] {
  return sqlite((database) =>
    database
      .prepare(statement)
      .all()
      .map((row) => Object.values(row)[0]),
  );
}

let fresh: unknown;
async function freshSchema(): Promise<unknown> {
  if (fresh !== undefined) return fresh;
  const own = path;
  path = join(directory, 'fresh.sqlite');
  expect(await migrate(open())).toBe(false);
  fresh = schemaOf();
  path = own;
  return fresh;
}

const without = (left: string) => oldNames.filter((name) => name !== left);
const histories: [string, readonly string[]][] = [
  ...oldNames.map((name, at): [string, string[]] => [name, oldNames.slice(0, at + 1)]),
  ['all but 15, which was added after 34', without('0015-registration-in-lists')],
  ['all but 50, which was added after 52', without('0050-request-parts')],
];

test.each(histories)(
  'reliability 11: a database at %s of the earlier program is migrated, which is told',
  async (_, names) => {
    await makeOldDatabase(names);
    const told: unknown[] = [];
    expect(await migrate(open(), { migrating: (step) => void told.push(step) })).toBe(true);
    const [to, migrationsLeft] = [Object.keys(migrations).sort().at(-1), expect.any(Number)];
    // reliability 11: an operator learns that the records were migrated, and how long it took.
    const step = { from: [...names].sort().at(-1), to, migrations: migrationsLeft };
    expect(told).toEqual([step, { ...step, ms: expect.any(Number) }]);
    expect(schemaOf()).toEqual(await freshSchema());
    expect(column('select name from organizations')).toContain('kept');
    expect(column('select name from kysely_migration order by name')).toEqual(
      Object.keys(migrations),
    );
    expect(await migrate(open())).toBe(false);
  },
);

test('the earlier program refuses a database that this one wrote', async () => {
  await migrate(open());
  expect(Math.max(...column('select version from schemaVersion').map(Number))).toBe(72);
});

test('a number that the earlier program stored and this one does not know is refused', async () => {
  await makeOldDatabase(oldNames);
  sqlite((database) => database.exec('insert into schemaVersion values (999)'));
  await expect(migrate(open())).rejects.toThrow(
    new RegExp(`newer version.*records version 999, this program knows ${newestName}`),
  );
});

test('a migration that fails leaves the database as it was, with all that would have run before', async () => {
  await makeOldDatabase(oldNames);
  const before = schemaOf();
  const failing = {
    ...migrations,
    '0098-made': {
      up: async (db: Kysely<RecordTables>) => {
        await db.schema.createTable('made').addColumn('id', 'text').execute();
      },
    },
    '0099-fails': { up: () => Promise.reject(new Error('no space left')) },
  };
  await expect(migrate(open(), {}, failing)).rejects.toThrow('no space left');
  expect(column(`select name from sqlite_master where name = 'made'`)).toEqual([]);
  expect(column('select max(version) from schemaVersion')).toEqual([71]);
  expect(await migrate(open())).toBe(true);
  expect(schemaOf()).not.toEqual(before);
  expect(schemaOf()).toEqual(await freshSchema());
});

test('a database that is up to date is only read, also while another process writes', async () => {
  await migrate(open());
  const db = open();
  const writer = new DatabaseSync(path);
  writer.exec('begin immediate');
  expect(await migrate(db)).toBe(false);
  writer.close();
});

test('fleet 5: devices and last uplinks of an earlier version are counted', async () => {
  const earlier = Object.entries(migrations).filter(([name]) => name < '0080');
  await migrate(open(), {}, Object.fromEntries(earlier));
  sqlite((database) => {
    database.exec('pragma foreign_keys = off');
    const device = database.prepare(
      `insert into devices (id, name, searchText, created, version, organizationId, workspaceId, deviceId,
         connectivity, dataFlowId, properties, onlineTimeoutSeconds, excludeFromLifecycleReport, registered)
       values (?, 'n', 'n', 1, 0, 'o', ?, ?, 'LORA', 'f', '{}', 60, 0, ?)`,
    );
    const [w1, w2] = ['w1', 'w2'];
    for (const id of [w1, w2])
      database.exec(
        `insert into workspaces (id, name, searchText, created, version, organizationId, settings, properties)
         values ('${id}', 'n', 'n', 1, 0, 'o', '{}', '{}')`,
      );
    device.run('a', w1, 'a', null);
    device.run('b', w1, 'b', 0);
    device.run('c', w2, 'c', 1);
    device.run('d', w2, 'd', 1);
    const status = database.prepare(
      'insert into deviceStatus (deviceId, uplinkMetrics, lastUplinkAt) values (?, ?, ?)',
    );
    for (const [at, id] of ['a', 'b', 'c', 'deleted'].entries()) status.run(id, `{"at":${at}}`, at);
  });
  await migrate(open());
  const rows = (query: string) => sqlite((database) => database.prepare(query).all());
  expect(rows('select * from workspaceCounts order by workspaceId, what')).toMatchObject([
    { workspaceId: 'w1', what: 'devices', count: 2 },
    { workspaceId: 'w1', what: 'heard', count: 2 },
    { workspaceId: 'w2', what: 'devices', count: 2 },
    { workspaceId: 'w2', what: 'heard', count: 1 },
  ]);
  expect(rows('select * from onlineCounts order by workspaceId')).toMatchObject([
    { workspaceId: 'w1', period: 1, count: 1 },
    { workspaceId: 'w2', period: 1, count: 1 },
  ]);
  expect(
    rows('select deviceId, workspaceId, onlineUntil from deviceStatus order by deviceId'),
  ).toMatchObject([
    { deviceId: 'a', workspaceId: 'w1', onlineUntil: 60_000 },
    { deviceId: 'b', workspaceId: 'w1', onlineUntil: null },
    { deviceId: 'c', workspaceId: 'w2', onlineUntil: 60_002 },
    { deviceId: 'deleted', workspaceId: null, onlineUntil: null },
  ]);
});
