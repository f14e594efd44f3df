// Deleted devices: what is left of them is removed once uplinks in progress at the deletion have ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { deviceStateRows } from '../storage/records/rows/device-status.ts';
import { dropSamplesOf, lateAfterDeletionMs, purgeDeletedDevices } from './maintenance.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { openTestRecords, type TestRecords } from '../storage/records/testing-records.ts';
import { telemetryOf } from '../telemetry/testing-telemetry.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

function recorded(db: RecordsDb, now: number) {
  const calls: string[] = [];
  const parts = {
    db,
    store: {
      mayHold: async (deviceId: string) => deviceId === 'stored',
      dropDevice: async (deviceId: string) => {
        calls.push(`samples of ${deviceId}`);
        return { samples: 1, bytes: 1 };
      },
    },
    telemetry: telemetryOf({
      samplesDropped: (reason, { samples }) => void calls.push(`${reason} ${samples}`),
      backgroundFailed: (what, error) => void calls.push(`${what}: ${String(error)}`),
    }),
    now: () => now,
    settled: async () => void calls.push('settled'),
    dropRawUplinks: async (ids: ReadonlySet<string>) =>
      void calls.push(`raw uplinks of ${[...ids].join(' ')}`),
    pause: async () => undefined,
  };
  return { parts, calls };
}

test('devices are purged when their last uplinks have ended, and later ones wait', async () => {
  const { db } = opened.records;
  await deviceRows.noteDeleted(db, ['stored', 'empty'], 1_000);
  await deviceRows.noteDeleted(db, ['recent'], 1_001);
  const ids = ['stored', 'empty', 'recent'];
  await deviceStateRows.save(db, new Map(ids.map((id) => [id, { id }])));
  const { parts, calls } = recorded(db, 1_000 + lateAfterDeletionMs);
  await purgeDeletedDevices(parts);
  expect(calls).toEqual([
    'settled',
    'raw uplinks of stored empty',
    'samples of stored',
    'deviceDeleted 1',
  ]);
  const left = (await deviceRows.deleted(db)).map(({ deviceId }) => deviceId);
  expect(left.toSorted()).toEqual(['recent']);
  expect([...(await deviceStateRows.find(db, ['stored', 'recent']))]).toEqual([
    ['recent', { id: 'recent' }],
  ]);
});

test('samples that cannot be dropped at once are reported and left to maintenance', async () => {
  const { parts, calls } = recorded(opened.records.db, 0);
  const { store, telemetry } = parts;
  await dropSamplesOf('stored', store, telemetry);
  const broken = { dropDevice: () => Promise.reject(new Error('disk')) };
  await dropSamplesOf('stored', broken, telemetry);
  expect(calls).toEqual([
    'samples of stored',
    'deviceDeleted 1',
    'dropping samples of deleted devices: Error: disk',
  ]);
});
