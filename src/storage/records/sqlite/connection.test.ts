// The records connection: its order of callers, its turns, what reads see, and which commits survive a power cut.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Problem } from '../../../model/problem.ts';
import { WriteLock } from '../connection-pool.ts';
import { checkpointLimits, Turns, RecordsConnection } from './sqlite-engine.ts';

let directory: string;
let path: string;
let connection: RecordsConnection;
const ran: string[] = [];

function open(): RecordsConnection {
  return new RecordsConnection(path, {
    ran: (statement) => void ran.push(statement),
    stopped: () => undefined,
  });
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'connection-'));
  path = join(directory, 'records.sqlite');
  connection = open();
  await connection.run('create table "things" (id integer primary key, text text)', []);
});
afterEach(async () => {
  await connection.close();
  rmSync(directory, { recursive: true, force: true });
});

const insert = 'insert into "things" (text) values (?)';
const countThings = 'select count(*) as n from "things"';
const count = async () => (await connection.run(countThings, [])).rows[0];

test('review security 1: callers of the write lock come in the order of asking, and each release wakes one', async () => {
  const lock = new WriteLock();
  const order: number[] = [];
  const callers = Array.from({ length: 20_000 }, async (_, i) => {
    const release = await lock.take();
    order.push(i);
    release();
  });
  const started = process.cpuUsage();
  await Promise.all(callers);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  // Waking all that wait at each release is 200 million steps.
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
});

test('review security 1: statements share the turns of the event loop by time, in the order of asking', async () => {
  let ms = 0;
  const turns = new Turns(() => ms);
  let turn = 0;
  const countTurns = () => {
    turn += 1;
    if (turn < 1_000) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const seen: { readonly i: number; readonly turn: number }[] = [];
  await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const wait = turns.take(false);
      if (wait !== undefined) await wait;
      ms += 2;
      seen.push({ i, turn });
    }),
  );
  expect(seen.map(({ i }) => i)).toEqual(Array.from({ length: 30 }, (_, i) => i));
  // At most three of 2 ms in a turn.
  for (const one of seen)
    expect(seen.filter((other) => other.turn === one.turn).length).toBeLessThanOrEqual(3);
});

test('a transaction comes before those that wait for their turn', async () => {
  let ms = 0;
  const turns = new Turns(() => ms);
  const order: string[] = [];
  const one = async (name: string, isUrgent: boolean) => {
    const wait = turns.take(isUrgent);
    if (wait !== undefined) await wait;
    ms += 10;
    order.push(name);
  };
  await Promise.all([
    one('first', false),
    one('a', false),
    one('b', false),
    one('transaction', true),
  ]);
  expect(order).toEqual(['first', 'transaction', 'a', 'b']);
});

test('reads do not wait for a transaction and see what is committed', async () => {
  const transaction = await connection.begin();
  await transaction.run(insert, ['a']);
  expect(await count()).toEqual({ n: 0 });
  expect((await connection.readElsewhere('tenant', countThings, [])).rows).toEqual([{ n: 0 }]);
  expect((await transaction.run(countThings, [])).rows).toEqual([{ n: 1 }]);
  await transaction.commit(false);
  expect(await count()).toEqual({ n: 1 });
  expect((await connection.readElsewhere('tenant', countThings, [])).rows).toEqual([{ n: 1 }]);
});

test('a read that takes long elsewhere leaves the event loop free', async () => {
  await connection.run(
    'insert into "things" (text) with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n',
    [],
  );
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const slow =
    'select count(*) as n from "things" a join "things" b on a.text < b.text where a.id < 400';
  await connection.readElsewhere('tenant', 'select 1', []);
  delay.enable();
  const started = performance.now();
  await connection.readElsewhere('tenant', slow, []);
  const tookMs = performance.now() - started;
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(Math.max(30, tookMs / 2));
});

test('many reads of one tenant elsewhere cost another tenant one of them', async () => {
  const order: string[] = [];
  const read = async (tenant: string, name: string) => {
    await connection.readElsewhere(tenant, 'select 1', []);
    order.push(name);
  };
  const refused = async () => {
    await expect(connection.readElsewhere('many', 'select * from "nothing"', [])).rejects.toThrow(
      'no such table',
    );
    order.push('refused');
  };
  const many = Array.from({ length: 100 }, (_, i) =>
    i === 1 ? refused() : read('many', `many ${i}`),
  );
  await Promise.all([
    ...many,
    read('one', 'one 0'),
    read('one', 'one 1'),
    read('other', 'other 0'),
  ]);
  expect(order.slice(0, 6)).toEqual(['many 0', 'refused', 'one 0', 'other 0', 'many 2', 'one 1']);
  expect(order.slice(6)).toEqual(Array.from({ length: 97 }, (_, i) => `many ${i + 3}`));
});

test('what SQLite refuses elsewhere is told like here', async () => {
  await expect(connection.readElsewhere('tenant', 'select * from "nothing"', [])).rejects.toThrow(
    'no such table: nothing',
  );
  expect((await connection.readElsewhere('tenant', 'select 1 as one', [])).rows).toEqual([
    { one: 1 },
  ]);
});

test('review reliability 7: the cause of a failed transaction is not masked by its rollback', async () => {
  await connection.run('pragma max_page_count = 20', []);
  const transaction = await connection.begin();
  const failed = transaction.run(insert, ['x'.repeat(200_000)]);
  const cause = await failed.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(cause).toBeInstanceOf(Problem);
  expect(cause).toMatchObject({ status: 507, cause: { message: 'database or disk is full' } });
  await transaction.rollback();
  await connection.run(insert, ['small']);
  expect(await count()).toEqual({ n: 1 });
});

test('another program that holds the lock is waited for off the event loop', async () => {
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  let turns = 0;
  const waiting = connection.run(insert, ['a']);
  for (; turns < 100; turns++) await new Promise((resolve) => void setImmediate(resolve));
  other.exec('rollback');
  other.close();
  await waiting;
  expect(await count()).toEqual({ n: 1 });
});

test('review reliability 12: a long log is copied and emptied off the event loop, and nothing is lost by it', async () => {
  const big = 'x'.repeat(100_000);
  const wanted = Math.ceil((checkpointLimits.checkpointBytes / big.length) * 1.2);
  for (let i = 0; i < wanted; i++) {
    const transaction = await connection.begin();
    await transaction.run(insert, [big]);
    await transaction.commit(true);
  }
  await (await connection.begin()).rollback();
  expect(statSync(`${path}-wal`).size).toBeLessThan(checkpointLimits.checkpointBytes / 2);
  expect(await count()).toEqual({ n: wanted });
});

// A power cut leaves what was synced and any part of what was not: here every prefix of the log
// behind the last sync.
test('review reliability 12: after a power cut everything acknowledged is there, and of the rest whole transactions', async () => {
  for (let i = 0; i < 5; i++) await connection.run(insert, [`synced ${i}`]);
  const synced = statSync(`${path}-wal`).size;
  for (let i = 0; i < 3; i++) {
    const transaction = await connection.begin();
    await transaction.run(insert, [`lazy ${i}`]);
    await transaction.run(insert, [`lazy ${i} too`]);
    await transaction.commit(true);
  }
  const all = statSync(`${path}-wal`).size;
  expect(all).toBeGreaterThan(synced);
  const left = new Set<number>();
  for (let bytes = synced; bytes <= all; bytes += 1_000) {
    const copy = join(directory, 'after-cut.sqlite');
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, bytes);
    const database = new DatabaseSync(copy);
    const [row] = database.prepare(countThings).all();
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    database.close();
    left.add(Number(row!['n']));
  }
  expect([...left].sort((a, b) => a - b)).toEqual([5, 7, 9]);
});

test('what was committed is there after the next start, the log empty and synced', async () => {
  await connection.run(insert, ['a']);
  // What a killed process leaves: database, log and no closing.
  const copy = join(directory, 'killed.sqlite');
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  const again = new RecordsConnection(copy, { ran: () => undefined, stopped: () => undefined });
  expect((await again.run(countThings, [])).rows).toEqual([{ n: 1 }]);
  expect(readFileSync(`${copy}-wal`).length).toBe(0);
  await again.close();
});
