// PostgreSQL engine: one writer, order of texts and nulls, NUL, errors as problems, and restored databases.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Problem } from '../../../model/problem.ts';
import { openRecords, type OpenRecords } from '../records.ts';
import { onTheirWayRows } from '../rows/deliveries.ts';
import { recordsSettings } from '../testing-engine.ts';
import { checkPostgres, placeOf, recordsError } from './server.ts';
import { postgresEngine } from './postgres-engine.ts';

let directory: string;
let url: string;
const opened: OpenRecords[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  url = (await recordsSettings(directory))['RECORDS_URL'] ?? '';
});
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(isShared = false): Promise<OpenRecords> {
  const engine = postgresEngine({ url, isShared });
  const records = await openRecords({ directory, engine, announce: () => undefined });
  opened.push(records);
  return records;
}

const draft = {
  connectorId: 'c',
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: 'd',
  correlationId: 'c',
  cause: 'RULE' as const,
  context: {},
};

test('a second platform on the same database is refused', async () => {
  await open();
  const second = postgresEngine({ url, waitMsMax: 100 })({ stopped: () => undefined });
  await expect(second).rejects.toThrow(/database is locked/);
});

test('a database of a development version from before the first release is refused', async () => {
  const { db } = await open();
  await sql`create table "schemaVersion" ("version" bigint primary key)`.execute(db);
  await opened.pop()?.close();
  const sentence = /^The records were written by a development version/;
  await expect(open()).rejects.toThrow(sentence);
  const check = { directory, secretsKey: 'key', hasSamples: false };
  expect((await checkPostgres({ url })(check)).refusal).toMatch(sentence);
});

test('strings are in the order of their bytes, and null is less than all, as in SQLite', async () => {
  const { db } = await open();
  const ids = ['b', 'B', 'a-b', 'ab', 'ä', 'a'];
  await sql`create table "ordered" ("id" text collate "C", "updated" bigint)`.execute(db);
  for (const [n, id] of ids.entries())
    await sql`insert into "ordered" values (${id}, ${n % 2 === 0 ? null : n})`.execute(db);
  const table = db.selectFrom('ordered' as 'tags');
  const names = await table.select('id').orderBy('id').execute();
  expect(names.map(({ id }) => id)).toEqual(['B', 'a', 'a-b', 'ab', 'b', 'ä']);
  const byTime = (direction: 'asc' | 'desc') =>
    table.select('updated').orderBy('updated', direction).execute();
  expect((await byTime('asc')).map(({ updated }) => updated)).toEqual([null, null, null, 1, 3, 5]);
  expect((await byTime('desc')).map(({ updated }) => updated)).toEqual([5, 3, 1, null, null, null]);
});

test('a string of a device with NUL is stored with the replacement character', async () => {
  const { db } = await open();
  await db.insertInto('deviceState').values({ deviceId: 'd\0', state: '{}' }).execute();
  const row = await db.selectFrom('deviceState').select('deviceId').executeTakeFirst();
  expect(row?.deviceId).toBe('d\u{fffd}');
});

test('rows of a restored database, whose transactions are ahead of the server, are read', async () => {
  const first = await open();
  await onTheirWayRows.insert(first.db, [{ id: '1', draft: { ...draft, idempotencyKey: '1' } }], 0);
  await sql`update "deliveries" set "xid" = cast('900000000000' as xid8)`.execute(first.db);
  await opened.pop()?.close();
  const { db } = await open();
  expect((await onTheirWayRows.behind(db, undefined, 10)).map(({ id }) => id)).toEqual(['1']);
});

test('rows wait for an older transaction of another writer, and are then in order', async () => {
  const [one, other] = [await open(true), await open(true)];
  const insert = (db: OpenRecords['db'], id: string) =>
    onTheirWayRows.insert(db, [{ id, draft: { ...draft, idempotencyKey: id } }], 0);
  let commit: (() => void) | undefined;
  const older = one.db.transaction().execute(async (db) => {
    await insert(db, 'older');
    await new Promise<void>((resolve) => {
      commit = resolve;
    });
  });
  await expect.poll(() => commit).toBeDefined();
  await insert(other.db, 'newer');
  const found = onTheirWayRows.behind(other.db, undefined, 10);
  expect(await Promise.race([found, sql`select pg_sleep(0.05)`.execute(other.db)])).toHaveProperty(
    'rows',
  );
  commit?.();
  await older;
  expect((await found).map(({ id }) => id)).toEqual(['older', 'newer']);
});

describe('errors', () => {
  test.each([
    ['53100', '50700', 507],
    ['57P01', '50307', 503],
    ['08006', '50307', 503],
    ['ECONNREFUSED', '50307', 503],
    ['40001', '50305', 503],
    ['57014', '50305', 503],
    ['XX001', '50304', 503],
  ])('%s is a problem %s', (code, start, status) => {
    const translated = recordsError(Object.assign(new Error('at 10.0.0.1'), { code }));
    expect(translated).toBeInstanceOf(Problem);
    expect((translated as Problem).status).toBe(status);
    if (status === 503) expect((translated as Problem).code).toContain(start);
  });

  test('others stay what they are', () => {
    const error = Object.assign(new Error('duplicate key'), { code: '23505' });
    expect(recordsError(error)).toBe(error);
  });

  test('no message names the password', async () => {
    const wrong = `postgres://someone:secret-word@127.0.0.1:${new URL(url).port}/missing`;
    expect(placeOf(wrong)).not.toContain('secret-word');
    const check = checkPostgres({ url: wrong });
    const refused = check({ directory, secretsKey: 'k', hasSamples: false });
    await expect(refused).rejects.toThrow(/Cannot use RECORDS_URL: PostgreSQL 127\.0\.0\.1/);
    await expect(refused).rejects.not.toThrow(/secret-word/);
  });
});

test('review reliability 2: while the server takes no connections, statements are refused at once', async () => {
  const to = new URL(url);
  const target = { host: to.hostname, port: Number(to.port) || 5432 };
  const sockets = new Set<Socket>();
  let isSilent = false;
  const proxy = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (isSilent) return;
    const server = connect(target).on('error', () => socket.destroy());
    socket.pipe(server).pipe(socket);
    socket.on('close', () => server.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  to.hostname = '127.0.0.1';
  to.port = String((proxy.address() as AddressInfo).port);
  const engine = postgresEngine({ url: to.href, isShared: true });
  const records = await openRecords({ directory, engine, announce: () => undefined });
  opened.push(records);
  const { db } = records;
  const ask = () => db.selectFrom('tags').select('id').execute();
  await ask();

  isSilent = true;
  for (const socket of sockets) socket.destroy();
  const write = () => db.deleteFrom('tags').where('id', '=', 'none').execute();
  const isRefusedSoon = async (statement: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await expect(statement()).rejects.toThrow('The record database is unreachable');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  };
  const allAreRefusedSoon = async () => {
    for (const statement of [ask, write, ask, write]) await isRefusedSoon(statement);
  };
  // The first ones lose their connections, and wait for others.
  await vi.waitFor(allAreRefusedSoon, { timeout: 60_000 });

  isSilent = false;
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(ask, { timeout: 60_000 });
  await write();
});
