// Kept lists of devices: never other than what the tables hold, whatever is written in between, rolled back or refused.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenRecords, openRecords } from './records.ts';
import { dropReferences, testEngine } from './testing-engine.ts';
import { listDevices } from './rows/device-lists.ts';
import { type CachedList, ListCaches, listCacheLimits } from './list-cache.ts';

let directory: string;
let records: OpenRecords;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kept-lists-'));
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  await dropReferences(records.db);
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
  const stamp = records.lists.of('o').stamp();
  const status = { deviceId: '022', lastUplinkAt: 1, uplinkMetrics: '{}' };
  await records.db.insertInto('deviceStatus').values(status).execute();
  expect(records.lists.of('o').stamp()).toBe(stamp);
  const online = async (now: number) =>
    (await listDevices(records, { organizationId: 'o', online: true }, page(0), now)).total;
  expect(await online(2)).toBe(1);
  await records.db.updateTable('deviceStatus').set({ lastUplinkAt: -100_000 }).execute();
  expect(await online(2)).toBe(0);
});

const stampOf = (organizationId: string) => records.lists.of(organizationId).stamp();
const tag = {
  ...audit,
  id: 't',
  name: 't',
  searchText: 't',
  organizationId: 'o',
  workspaceId: 'w',
};

test('fleet 6: only writes of its organization outdate a list, in each of its tables', async () => {
  const { db } = records;
  const other = { ...device(900), organizationId: 'other' };
  const writes: [name: string, organizationId: string, () => Promise<unknown>][] = [
    ['a device', 'other', () => db.insertInto('devices').values(other).execute()],
    ['a tag', 'o', () => db.insertInto('tags').values(tag).execute()],
    [
      'a tag of a device',
      'other',
      () => db.insertInto('deviceTags').values({ deviceId: '02900', tagId: 't' }).execute(),
    ],
    ['a tag that changes', 'o', () => db.updateTable('tags').set({ name: 'u' }).execute()],
    ['a device without its tag', 'other', () => db.deleteFrom('deviceTags').execute()],
    [
      'a device that changes',
      'other',
      () => db.updateTable('devices').set({ name: 'x' }).where('id', '=', '02900').execute(),
    ],
    [
      'a deleted device',
      'other',
      () => db.deleteFrom('devices').where('id', '=', '02900').execute(),
    ],
    ['a deleted tag', 'o', () => db.deleteFrom('tags').execute()],
  ];
  for (const [name, organizationId, write] of writes) {
    const before = { o: stampOf('o'), other: stampOf('other') };
    await write();
    // The end of another transaction outdates nothing.
    await db.transaction().execute(async () => undefined);
    const changed = (['o', 'other'] as const).filter((id) => stampOf(id) !== before[id]);
    expect([name, changed]).toEqual([name, [organizationId]]);
  }
});

test('fleet 6: what a transaction changed outdates lists when it ends too', async () => {
  const stamps: number[] = [];
  await records.db.transaction().execute(async (step) => {
    await step.insertInto('devices').values(device(60)).execute();
    stamps.push(stampOf('o'));
  });
  stamps.push(stampOf('o'));
  expect(stamps[1]).toBeGreaterThan(stamps[0]!);
  await records.db.deleteFrom('devices').where('id', '=', '0260').execute();
});

test('fleet 6: a device type that all organizations share outdates the lists of all', async () => {
  const before = stampOf('o');
  const type = { ...audit, id: 'y', name: 'y', searchText: 'y', description: null };
  const columns = { organizationId: null, type: 'manual', meta: '{}', schemas: '{}', nameKey: 'y' };
  await records.db
    .insertInto('deviceTypes')
    .values({ ...type, ...columns })
    .execute();
  expect(stampOf('o')).toBeGreaterThan(before);
});

describe('limits', () => {
  const query = (n: number | string) => CompiledQuery.raw('select "id" from "devices"', [n]);
  const long = (rows: number): CachedList => ({
    total: rows,
    rows: Array.from({ length: rows }, () => null),
  });
  test('the oldest make room', () => {
    const lists = new ListCaches(() => 1).of('o');
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
    const lists = new ListCaches(() => 1).of('o');
    const looking = CompiledQuery.raw(
      'select "id" from "devices" where "id" in (select "x" from "somethingNew")',
    );
    lists.keep(looking, long(1), 1);
    expect(lists.find(looking)).toBeUndefined();
  });
  test('what was written while a list was read is not kept; neither are very long filters', () => {
    let revision = 1;
    const lists = new ListCaches(() => revision).of('o');
    const stamp = lists.stamp();
    revision = 2;
    lists.keep(query(1), long(1), stamp);
    expect(lists.find(query(1))).toBeUndefined();
    lists.keep(query('x'.repeat(listCacheLimits.keyLengthMax)), long(1), 2);
    expect(lists.find(query('x'.repeat(listCacheLimits.keyLengthMax)))).toBeUndefined();
  });
});
