// Many rows: every number of rows is inserted in order, and rows with a known key are replaced.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertRows } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import { openTestRecords, type TestRecords } from '../testing-records.ts';

let opened: TestRecords;
let db: RecordsDb;
beforeAll(async () => {
  opened = await openTestRecords();
  ({ db } = opened.records);
});
afterAll(() => opened.close());

const entry = (n: number) => ({
  id: `entry ${n}`,
  timestamp: n,
  organizationId: 'o',
  workspaceId: n % 2 === 0 ? null : 'w',
  actorType: 'USER',
  actorId: 'u',
  actorName: `"?; $1 ${n}`,
  action: 'CREATE',
  resourceType: 'DEVICE',
  resourceId: `d${n}`,
  resourceName: null,
  requestId: null,
  ip: null,
  changes: '[]',
});

test.each([0, 1, 2, 3, 64, 100, 255, 256, 257, 700])('%i rows', async (count) => {
  await db.deleteFrom('auditLog').execute();
  const rows = Array.from({ length: count }, (_, n) => entry(n));
  await insertRows(db, 'auditLog', rows);
  const stored = await db.selectFrom('auditLog').selectAll().orderBy('sequence').execute();
  expect(stored.map(({ sequence: _, ...row }) => row)).toEqual(rows);
});

test('a row whose key is known changes that one, and takes only the columns that are set', async () => {
  const row = (n: number, deletedAt: number) => ({ deviceId: `d${n}`, deletedAt });
  await insertRows(db, 'deletedDevices', [row(1, 10), row(2, 20)]);
  const replacement = { key: ['deviceId'], set: { deletedAt: 'deletedAt' } } as const;
  await insertRows(db, 'deletedDevices', [row(2, 21), row(3, 30), row(1, 11)], replacement);
  const stored = await db.selectFrom('deletedDevices').selectAll().orderBy('deviceId').execute();
  expect(stored).toEqual([row(1, 11), row(2, 21), row(3, 30)]);
  const none = { key: ['deviceId'], set: { deviceId: 'deviceId' } } as const;
  await insertRows(db, 'deletedDevices', [row(1, 99)], none);
  expect(await db.selectFrom('deletedDevices').selectAll().orderBy('deviceId').execute()).toEqual(
    stored,
  );
});

test('rows that are refused leave none of their statement', async () => {
  await db.deleteFrom('deletedDevices').execute();
  const twice = ['a', 'b', 'a'].map((deviceId) => ({ deviceId, deletedAt: 1 }));
  const inserted = db.transaction().execute((step) => insertRows(step, 'deletedDevices', twice));
  await expect(inserted).rejects.toThrow();
  expect(await db.selectFrom('deletedDevices').selectAll().execute()).toEqual([]);
});
