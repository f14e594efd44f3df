// Kept lists of devices: never other than what the tables hold, whatever is written in between, rolled back or refused.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenRecords, openRecords } from './records.ts';
import { listDevices } from './rows/device-lists.ts';
import { type CachedList, changesLists, createListCache, listCacheLimits } from './list-cache.ts';

let directory: string;
let records: OpenRecords;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kept-lists-'));
  records = await openRecords({ directory, announce: () => undefined });
  await records.db.connection().execute(async (db) => {
    await db.executeQuery(CompiledQuery.raw('pragma foreign_keys = off'));
  });
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

const audit = { created: 1, updated: null, version: 0 };
const device = (n: number, name = `device ${n}`) => ({
  ...audit,
  id: `02${n}`,
  name,
  searchText: name,
  nameKey: name,
  description: null,
  descriptionKey: null,
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: `d${n}`,
  deviceIdKey: `d${n}`,
  connectivity: 'HTTP',
  dataFlowId: 'f',
  properties: '{}',
  onlineTimeoutSeconds: 60,
  loraProperties: null,
  loraKeys: null,
  integrationId: null,
  excludeFromLifecycleReport: 0,
  registered: null,
  active: null,
});
const page = (number: number, size = 2) => ({ page: number, size, sort: [] });
async function list(search: string, number = 0) {
  const { rows, total } = await listDevices(
    records,
    { organizationId: 'o', search },
    page(number),
    1,
  );
  return [total, ...rows.map(({ id }) => id)];
}

test('a list is the same again, and another one after every kind of write', async () => {
  const { db } = records;
  for (let n = 0; n < 5; n++) await db.insertInto('devices').values(device(n)).execute();
  expect(await list('device')).toEqual([5, '020', '021']);
  expect(await list('device', 2)).toEqual([5, '024']);
  expect(await list('device', 9)).toEqual([5]);
  await db.insertInto('devices').values(device(5)).execute();
  expect(await list('device', 2)).toEqual([6, '024', '025']);
  await db.updateTable('devices').set({ searchText: 'other' }).where('id', '=', '020').execute();
  expect(await list('device')).toEqual([5, '021', '022']);
  await db.deleteFrom('devices').where('id', '=', '021').execute();
  expect(await list('device')).toEqual([4, '022', '023']);
});

test('a list too long to be kept whole: pages from both ends are those of a list in order', async () => {
  const rows = Array.from({ length: 3_000 }, (_, n) => ({
    ...device(1_000 + n, `long ${(n * 7) % 3_000}`),
    description: n % 3 === 0 ? null : `${n % 11}`,
    dataFlowId: 'long',
  }));
  for (let at = 0; at < rows.length; at += 300) {
    await records.db
      .insertInto('devices')
      .values(rows.slice(at, at + 300))
      .execute();
  }
  const filter = { organizationId: 'o', dataFlowId: 'long' };
  for (const direction of ['asc', 'desc'] as const) {
    const sort = [{ field: 'description', direction }];
    const ids: string[] = [];
    for (let number = 0; number < 11; number++) {
      const read = await listDevices(records, filter, { page: number, size: 299, sort }, 1);
      expect(read.total).toBe(3_000);
      ids.push(...read.rows.map(({ id }) => id));
    }
    const all = await listDevices(records, filter, { page: 0, size: 3_000, sort }, 1);
    expect(ids).toEqual(all.rows.map(({ id }) => id));
    expect(new Set(ids).size).toBe(3_000);
    expect((await listDevices(records, filter, { page: 50, size: 299, sort }, 1)).rows).toEqual([]);
  }
  await records.db.deleteFrom('devices').where('dataFlowId', '=', 'long').execute();
});

test('what a transaction undid is not remembered', async () => {
  const refused = records.db.transaction().execute(async (step) => {
    await step.insertInto('devices').values(device(50)).execute();
    const within = await listDevices(
      { ...records, db: step },
      { organizationId: 'o', search: 'device' },
      page(0),
      1,
    );
    expect(within.total).toBe(5);
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(await list('device')).toEqual([4, '022', '023']);
});

test('what uplinks write moves no list, but lists that look at it are read each time', async () => {
  const stamp = records.lists.stamp();
  const status = { deviceId: '022', lastUplinkAt: 1, uplinkMetrics: '{}' };
  await records.db.insertInto('deviceStatus').values(status).execute();
  expect(records.lists.stamp()).toBe(stamp);
  const online = async (now: number) =>
    (await listDevices(records, { organizationId: 'o', online: true }, page(0), now)).total;
  expect(await online(2)).toBe(1);
  await records.db.updateTable('deviceStatus').set({ lastUplinkAt: -100_000 }).execute();
  expect(await online(2)).toBe(0);
});

test.each([
  ['insert into "devices" values (1)', true],
  ['  UPDATE "tags" set "name" = 1', true],
  ['delete from deviceTags where 1', true],
  ['rollback', true],
  ['rollback to savepoint item', true],
  ['drop table "devices"', true],
  ['create index a on b (c)', true],
  ['insert into "deviceStatus" values (1)', false],
  ['update "sessions" set "a" = 1', false],
  ['insert into "somethingNew" values (1)', false],
  ['begin immediate', false],
  ['commit', false],
  ['release savepoint item', false],
  ['pragma synchronous = full', false],
])('%s: %s', (statement, expected) => expect(changesLists(statement)).toBe(expected));

describe('limits', () => {
  const query = (n: number | string) => CompiledQuery.raw('select "id" from "devices"', [n]);
  const long = (rows: number): CachedList => ({
    total: rows,
    rows: Array.from({ length: rows }, () => null),
  });
  test('the oldest make room', () => {
    const lists = createListCache(() => 1);
    for (let n = 0; n <= listCacheLimits.listsMax; n++)
      lists.keep(query(n), { total: n, rows: undefined }, 1);
    expect(lists.find(query(0))).toBeUndefined();
    expect(lists.find(query(1))).toEqual({ total: 1, rows: undefined });
    const half = listCacheLimits.rowsMax / 2;
    lists.keep(query('a'), long(half), 1);
    lists.keep(query('b'), long(half), 1);
    lists.keep(query('b'), long(half), 1);
    expect(lists.find(query('a'))?.total).toBe(half);
    lists.keep(query('c'), long(1), 1);
    expect(lists.find(query('a'))).toBeUndefined();
    expect(lists.find(query('b'))?.total).toBe(half);
  });
  test('a list that looks at a table that is not watched is not kept', () => {
    const lists = createListCache(() => 1);
    const looking = CompiledQuery.raw(
      'select "id" from "devices" where "id" in (select "x" from "somethingNew")',
    );
    lists.keep(looking, long(1), 1);
    expect(lists.find(looking)).toBeUndefined();
  });
  test('what was written while a list was read is not kept; neither are very long filters', () => {
    let revision = 1;
    const lists = createListCache(() => revision);
    const stamp = lists.stamp();
    revision = 2;
    lists.keep(query(1), long(1), stamp);
    expect(lists.find(query(1))).toBeUndefined();
    lists.keep(query('x'.repeat(listCacheLimits.keyLengthMax)), long(1), 2);
    expect(lists.find(query('x'.repeat(listCacheLimits.keyLengthMax)))).toBeUndefined();
  });
});
