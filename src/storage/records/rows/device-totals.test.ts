// Totals and pages that read no devices are those of the devices, after any changes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlineStates } from '../../../model/device.ts';
import { type OpenRecords, openRecords } from '../records.ts';
import { dropReferences, testEngine } from '../testing-engine.ts';
import type { DeviceFilter } from './devices.ts';
import { findDeviceIds, listDevices } from './device-lists.ts';
import { deviceStatusRows } from './device-status.ts';
import { knownTotal, onlineTotal, stateCounts, workspacesOf } from './device-totals.ts';
import { placeRows } from './places.ts';
import { tagRows } from './tags.ts';

const now = 1_000_000;
const audit = { created: 1, updated: null, version: 0 };
const workspaces = ['w0', 'w1', 'w2'];
let directory: string;
let records: OpenRecords;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'totals-'));
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => undefined,
  });
  await dropReferences(records.db);
  const named = { ...audit, description: null, settings: '{}', properties: '{}' };
  for (const id of workspaces) {
    const workspace = { ...named, id, name: id, searchText: id, organizationId: 'o' };
    await records.db.insertInto('workspaces').values(workspace).execute();
    const tag = { ...audit, description: null, color: null, organizationId: 'o', workspaceId: id };
    await records.db
      .insertInto('tags')
      .values({ ...tag, id: `t${id}`, name: id, searchText: id })
      .execute();
  }
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A change of some device, as the steps of devices and the status follower make it. */
async function changeSomething(random: (below: number) => number): Promise<void> {
  const { db } = records;
  const id = `02${random(60)}`;
  const workspaceId = workspaces[random(3)]!;
  const registered = [null, 0, 1][random(3)]!;
  const onlineTimeoutSeconds = [1, 60, 500, 1 + random(200)][random(4)]!;
  const isThere = (await db.selectFrom('devices').select('id').where('id', '=', id).execute())[0];
  const row = db.updateTable('devices').where('id', '=', id);
  switch (isThere === undefined ? 0 : 1 + random(7)) {
    case 0: {
      const name = `device ${random(1_000)}`;
      await db
        .insertInto('devices')
        .values({
          ...audit,
          id,
          name,
          searchText: name,
          nameKey: name,
          organizationId: 'o',
          description: null,
          descriptionKey: null,
          workspaceId,
          registered,
          deviceId: id,
          deviceIdKey: id,
          connectivity: 'HTTP',
          dataFlowId: 'f',
          properties: '{}',
          onlineTimeoutSeconds,
          loraProperties: null,
          loraKeys: null,
          integrationId: null,
          excludeFromLifecycleReport: 0,
          active: null,
        })
        .execute();
      if (random(2) === 0)
        await db
          .insertInto('deviceTags')
          .values({ deviceId: id, tagId: `t${workspaceId}` })
          .execute();
      return;
    }
    case 1:
      await db.deleteFrom('deviceTags').where('deviceId', '=', id).execute();
      await row.set({ workspaceId, version: 1 }).execute();
      return;
    case 2:
      await row.set({ onlineTimeoutSeconds, registered }).execute();
      return;
    case 3:
      for (const table of ['deviceStatus', 'deviceTags'] as const)
        await db.deleteFrom(table).where('deviceId', '=', id).execute();
      await db.deleteFrom('devices').where('id', '=', id).execute();
      return;
    default: {
      const timestamp = now - random(600) * 1_000 - random(2) * random(1_000);
      const told = random(2) === 0 ? { sqi: 1, batteryLevel: 1 } : {};
      await deviceStatusRows.saveMetrics(db, [
        { uplinkId: 'u', deviceId: id, uplinkSize: 1, timestamp, ...told },
        { uplinkId: 'u', deviceId: `deleted ${id}`, uplinkSize: 1, timestamp },
      ]);
    }
  }
}

const filters: readonly DeviceFilter[] = [undefined, ['w0'], ['w1', 'w2']].flatMap(
  (workspaceIds) => {
    const place = { organizationId: 'o', ...(workspaceIds && { workspaceIds }) };
    const condition = (field: 'onlineState' | 'online' | 'tags.id', values: (string | number)[]) =>
      ({
        ...place,
        condition: { field, question: { ask: 'any', test: { test: 'oneOf', values } } },
      }) as const;
    return [
      { ...place, search: '', lora: {} },
      ...onlineStates.map((onlineState) => ({ ...place, onlineState })),
      ...[true, false].map((online) => ({ ...place, online })),
      ...workspaces.map((id) => ({ ...place, tagIds: [`t${id}`] })),
      condition('tags.id', ['tw0']),
      condition('online', [1]),
      condition('online', [0, 1]),
      condition('onlineState', ['online', 'unknown']),
      condition('onlineState', ['offline', 'online', 'de_registered']),
    ];
  },
);

test.each([1, 2])('fleet 5: totals and orders of random changes, %i', async (seed) => {
  const random = randomFrom(seed);
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 25; i++) await changeSomething(random);
    for (const filter of filters) {
      const expected = await findDeviceIds(records.db, filter, 1_000, now);
      const page = { page: 0, size: 1_000, sort: [] };
      const { total, rows } = await listDevices(records, filter, page, now);
      expect({ filter, total, ids: rows.map(({ id }) => id).sort() }).toEqual({
        filter,
        total: expected.length,
        ids: [...expected].sort(),
      });
      const workspaceIds = await workspacesOf(records.db, filter);
      const known = await knownTotal(records.db, filter, workspaceIds, now);
      if (known !== undefined) expect({ filter, known }).toEqual({ filter, known: total });
    }
    await ordersAreRight(random);
  }
});

/** Pages of the devices by last uplink are those of a list that is sorted here. */
async function ordersAreRight(random: (below: number) => number): Promise<void> {
  for (const direction of ['asc', 'desc'] as const) {
    const statuses = await records.db.selectFrom('deviceStatus').selectAll().execute();
    const times = new Map(statuses.map((row) => [row.deviceId, row.lastUplinkAt]));
    const timeOf = (id: string) => times.get(id) ?? Number.NEGATIVE_INFINITY;
    const factor = direction === 'asc' ? 1 : -1;
    const filter = { organizationId: 'o', workspaceIds: ['w0', 'w1'] };
    const sorted = (await findDeviceIds(records.db, filter, 1_000, now)).sort((a, b) => {
      const [timeA, timeB] = [timeOf(a), timeOf(b)];
      if (timeA !== timeB) return timeA < timeB ? -factor : factor;
      return a < b ? -1 : 1;
    });
    const size = 1 + random(9);
    const sort = [{ field: 'uplinkMetrics.timestamp', direction }];
    const ids: string[] = [];
    for (let page = 0; ids.length < sorted.length; page++) {
      const { rows, total } = await listDevices(records, filter, { page, size, sort }, now);
      expect(total).toBe(sorted.length);
      expect(rows.length).toBeGreaterThan(0);
      ids.push(...rows.map(({ id }) => id));
    }
    expect(ids).toEqual(sorted);
  }
}

const statuses = () => records.db.selectFrom('deviceStatus').selectAll().execute();
type Status = Awaited<ReturnType<typeof statuses>>[number];

/** Instants around those at which some device goes offline or a minute ends. */
function instantsOf(rows: readonly Status[], random: (below: number) => number): number[] {
  const ends = rows.flatMap(({ onlineUntil }) => onlineUntil ?? []);
  return Array.from({ length: 12 }, () => {
    const end = ends[random(ends.length)] ?? now;
    return [end, Math.ceil(end / 60_000) * 60_000][random(2)]! + random(3) - 1;
  });
}

/** What the total must be, from every row. */
function onlineByWalk(rows: readonly Status[], workspaceIds: readonly string[], at: number) {
  return rows.filter(
    ({ workspaceId, onlineUntil }) =>
      workspaceIds.includes(workspaceId ?? '') && (onlineUntil ?? at) > at,
  ).length;
}

test.each([3, 4])('fleet 5: online totals are exact at every instant, %i', async (seed) => {
  const random = randomFrom(seed);
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 30; i++) await changeSomething(random);
    const rows = await statuses();
    for (const at of instantsOf(rows, random))
      for (const workspaceIds of [['w0'], workspaces])
        expect({ at, total: await onlineTotal(records.db, workspaceIds, at) }).toEqual({
          at,
          total: onlineByWalk(rows, workspaceIds, at),
        });
  }
  const empty = records.db.selectFrom('onlineCounts').selectAll().where('count', '<=', 0);
  expect(await empty.execute()).toEqual([]);
});

test('fleet 5: online totals are exact with more time-outs than are looked up', async () => {
  const { db } = records;
  const [source] = await db.selectFrom('devices').selectAll().limit(1).execute();
  const devices = Array.from({ length: 40 }, (_, n) => {
    const own = { id: `timeout-${n}`, deviceId: `timeout-${n}`, workspaceId: 'w2' };
    return { ...source!, ...own, registered: null, onlineTimeoutSeconds: 1_000 + n };
  });
  await db.insertInto('devices').values(devices).execute();
  await deviceStatusRows.saveMetrics(
    db,
    devices.map(({ id }) => ({ uplinkId: 'u', deviceId: id, uplinkSize: 1, timestamp: now })),
  );
  const rows = await statuses();
  for (const at of [now + 999_999, now + 1_000_000, now + 1_020_500, now + 1_039_000])
    expect(await onlineTotal(db, ['w2'], at)).toBe(onlineByWalk(rows, ['w2'], at));
  const online = await listDevices(
    records,
    { organizationId: 'o', workspaceIds: ['w2'], onlineState: 'ONLINE' },
    { page: 0, size: 100, sort: [] },
    now + 1_020_500,
  );
  expect([online.total, online.rows.length]).toEqual([19, 19]);
});

test('fleet 5: lists of workspaces, tags and online states count no devices', async () => {
  const known = await Promise.all(
    filters.map((filter) => knownTotal(records.db, filter, filter.workspaceIds ?? workspaces, now)),
  );
  // Tags of other workspaces than the filter's are left to the query.
  expect(known.filter((total) => total === undefined).length).toBeLessThanOrEqual(4);
  for (const other of [{ dataFlowId: 'f' }, { search: 'a' }, { lora: { carrier: 'TTN' } }])
    expect(
      await knownTotal(records.db, { organizationId: 'o', ...other }, workspaces, now),
    ).toBeUndefined();
  expect((await tagRows.devicesOf(records.db, 'tw0')).length).toBeGreaterThan(0);
});

test('fleet 5: a tag or place of many devices is listed in the same order as one of few', async () => {
  const { db } = records;
  const inTree = (placeId: string, ancestorId: string, depth: number) => ({
    placeId,
    ancestorId,
    depth,
  });
  await db
    .insertInto('placeAncestors')
    .values([inTree('floor', 'site', 1), inTree('room', 'site', 1), inTree('room', 'room', 0)])
    .execute();
  const count = 5_200;
  const [source] = await db.selectFrom('devices').selectAll().limit(1).execute();
  for (let from = 0; from < count; from += 100) {
    const rows = Array.from({ length: 100 }, (_, i) => {
      const n = from + i;
      const searchText = `many ${String((n * 7_919) % 10_007).padStart(6, '0')}`;
      const placeId = n % 50 === 0 ? 'room' : 'floor';
      const own = { id: `many-${n}`, deviceId: `many-${n}`, searchText, workspaceId: 'w1' };
      return { ...source!, ...own, placeId };
    });
    await db.insertInto('devices').values(rows).execute();
    const tags = rows.flatMap(({ id }, i) =>
      i % 50 === 0 ? [] : [{ deviceId: id, tagId: 'tw1' }],
    );
    await db.insertInto('deviceTags').values(tags).execute();
  }
  const filter = { organizationId: 'o', workspaceIds: ['w1'], tagIds: ['tw1'] };
  const sorted = (await tagRows.devicesOf(db, 'tw1')).map(({ id }) => id);
  expect(sorted.length).toBeGreaterThan(5_000);
  // Twice, because pages are cached.
  for (const page of [0, 1, 5, 0, 1, 5]) {
    const { rows, total } = await listDevices(records, filter, { page, size: 900, sort: [] }, now);
    expect(total).toBe(sorted.length);
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(page * 900, (page + 1) * 900));
  }
  const atSite = await placeRows.devicesOf(db, 'site');
  const atRoom = atSite.filter(({ id }) => Number(id.slice('many-'.length)) % 50 === 0);
  expect([atSite.length, atRoom.length]).toEqual([count, count / 50]);
  for (const [placeId, devices] of [
    ['site', atSite],
    ['room', atRoom],
  ] as const)
    for (const page of [0, 1, 5]) {
      const places = { organizationId: 'o', workspaceIds: ['w1'], placeIds: [placeId] };
      const request = { page, size: 900, sort: [] };
      const { rows, total } = await listDevices(records, places, request, now);
      expect(total).toBe(devices.length);
      const shown = devices.slice(page * 900, (page + 1) * 900);
      expect(rows.map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
    }
  await db.deleteFrom('deviceTags').where('deviceId', '=', sorted[0]!).execute();
  const after = await listDevices(records, filter, { page: 0, size: 2, sort: [] }, now);
  expect([after.total, after.rows[0]?.id]).toEqual([sorted.length - 1, sorted[1]]);
});

test('no state has fewer than no devices, while devices are heard for the first time', async () => {
  const { db } = records;
  const [source] = await db.selectFrom('devices').selectAll().limit(1).execute();
  const names = Array.from({ length: 60 }, (_, n) => `first-${n}`);
  let isOver = false;
  const changes = (async () => {
    for (const id of names) {
      const own = { id, deviceId: id, workspaceId: 'w9', registered: null };
      await db
        .insertInto('devices')
        .values({ ...source!, ...own })
        .execute();
      const heard = { uplinkId: 'u', deviceId: id, uplinkSize: 1, timestamp: now };
      await deviceStatusRows.saveMetrics(db, [heard]);
    }
    isOver = true;
  })();
  let counts = 0;
  for (; !isOver; counts += 1) {
    const { total, online, offline, unknown } = await stateCounts(db, 'w9', now);
    expect(Math.min(online, offline, unknown)).toBeGreaterThanOrEqual(0);
    expect(online + offline + unknown).toBe(total);
  }
  await changes;
  expect(counts).toBeGreaterThan(0);
});
