// Usage and retention: space of samples, and deletion by retention, with their device, and after a crash.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Devices } from '../../src/inventory/devices/devices.ts';
import { deviceStatusRows } from '../../src/storage/records/rows/device-status.ts';
import { expectRefusal } from '../world/expectations.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../world/restricted-keys.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';
import { dayMs } from '../../src/model/instant.ts';

const noon = Date.parse('2026-06-15T12:00:00Z');
const clock = { now: noon };
let directory: string;
let world: World;

const start = () => startWorld({ directory, now: () => clock.now });

beforeEach(async () => {
  clock.now = noon;
  directory = mkdtempSync(join(tmpdir(), 'heliograph-retention-'));
  world = await start();
});

afterEach(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

/** What was unsealed is sealed by the stop. */
async function restart(): Promise<void> {
  await world.close();
  world = await start();
}

/** This number of samples, one per minute, the last this number of days ago. */
async function backfill(device: TestDevice, daysAgo: number, count: number): Promise<void> {
  const samples = Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(noon - daysAgo * dayMs - i * 60_000).toISOString(),
    data: { level: Math.sin(i) },
  }));
  const { accepted } = await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  expect(accepted).toBe(count);
}

const usage = (query = '') => world.must('GET', `/v3/usage${query}`);
const stored = async (device: TestDevice): Promise<number> =>
  (await world.must('POST', `/v3/devices/${device.id}/query`, { limit: 8_000 })).length;
const setWorkspaceDays = (retentionDays: number | null) =>
  world.must('PUT', `/v3/workspaces/${world.workspaceId}`, { settings: { retentionDays } });
const setFlowDays = (device: TestDevice, retentionDays: number | null) =>
  world.must('PUT', `/v3/data-flows/${device.dataFlowId}`, { retentionDays });

function segmentBytes(): number {
  const folder = join(directory, 'samples', 'segments');
  const names = readdirSync(folder).filter((name) => name.endsWith('.segment'));
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

test('usage shows samples and bytes of every workspace, also empty ones, and their sum', async () => {
  const second = await world.must('POST', '/v3/workspaces', {
    name: 'Zoo',
    organizationId: world.organizationId,
  });
  const device = await world.device();
  await backfill(device, 1, 500);
  // Both were created at one instant of the test's clock, so a later start can name either as the
  // first.
  const first = world.workspaceId;
  for (const round of ['unsealed', 'sealed']) {
    const { content, total } = await usage();
    expect(content, round).toEqual([
      { workspaceId: first, name: expect.any(String), samples: 500, bytes: expect.any(Number) },
      { workspaceId: second.id, name: 'Zoo', samples: 0, bytes: 0 },
    ]);
    expect(content[0].bytes, round).toBeGreaterThan(500);
    expect(total, round).toEqual({ samples: 500, bytes: content[0].bytes });
    expect((await usage(`?workspaceId=${second.id}`)).content, round).toEqual([content[1]]);
    expect((await usage(`?organizationId=${world.organizationId}`)).content, round).toEqual(
      content,
    );
    await restart();
  }
});

test('usage is narrowed to the reach of the key, and other organizations do not exist', async () => {
  const second = await world.must('POST', '/v3/workspaces', {
    name: 'Zoo',
    organizationId: world.organizationId,
  });
  const { restricted, unable, foreign, other } = await besidesPlatform(world, async (records) => {
    const permissions = { workspace: ['read'] } as const;
    const found = await makeOrganization(records);
    return {
      other: found,
      restricted: await makeKey(records, world, { permissions, workspaceIds: [second.id] }),
      unable: await makeKey(records, world, { permissions: { asset: ['read'] } }),
      foreign: await makeKey(records, world, { permissions, organizationId: found.organizationId }),
    };
  });
  await backfill(await world.device(), 1, 5);
  const as = (key: string, query = '') =>
    world.call('GET', `/v3/usage${query}`, undefined, { 'x-api-key': key });
  const path = '/v3/usage';
  const zoo = { workspaceId: second.id, name: 'Zoo', samples: 0, bytes: 0 };
  expect((await as(restricted)).body).toEqual({ content: [zoo], total: { samples: 0, bytes: 0 } });
  const elsewhere = { workspaceId: other.workspaceId, name: 'Elsewhere', samples: 0, bytes: 0 };
  expect((await as(foreign)).body.content).toEqual([elsewhere]);
  const own = `?workspaceId=${world.workspaceId}`;
  expectRefusal(await as(restricted, own), 403, '40300_PERMISSION_DENIED', { path });
  expectRefusal(await as(foreign, own), 404, '40400_NOT_FOUND', { path });
  const ownOrganization = `?organizationId=${world.organizationId}`;
  expectRefusal(await as(foreign, ownOrganization), 404, '40400_NOT_FOUND', { path });
  expectRefusal(await as(unable), 403, '40300_PERMISSION_DENIED', { path });
});

test('samples past their retention go from queries, aggregates, usage and disk; a data flow may say otherwise', async () => {
  const [short, long] = [await world.device(), await world.device()];
  for (const device of [short, long])
    for (const daysAgo of [0, 100]) await backfill(device, daysAgo, 3_000);
  await restart();
  const before = segmentBytes();
  await setWorkspaceDays(30);
  await setFlowDays(long, 200);
  await world.platform.runMaintenance();
  expect([await stored(short), await stored(long)]).toEqual([3_000, 6_000]);
  const interval = {
    from: new Date(noon - 200 * dayMs).toISOString(),
    to: new Date(noon + 3_600_000).toISOString(),
  };
  const kpi = { topic: 'default', dataKey: 'level', accumulator: 'COUNT', interval };
  for (const source of ['raw', 'aggregated/hourly'])
    expect(
      (await world.must('POST', `/v3/devices/${short.id}/query/${source}/kpi`, kpi)).kpi,
      source,
    ).toBe(3_000);
  expect((await usage()).total.samples).toBe(9_000);
  const between = segmentBytes();
  expect(between).toBeLessThan(before * 0.9);
  // The rule of the workspace applies again, and time continues.
  await setFlowDays(long, null);
  clock.now = noon + 60 * dayMs;
  await world.platform.runMaintenance();
  expect([await stored(short), await stored(long)]).toEqual([0, 0]);
  expect((await usage()).total).toEqual({ samples: 0, bytes: 0 });
  expect(segmentBytes()).toBe(0);
  const metrics = await world.call('GET', '/metrics');
  expect(metrics.body).toMatch(/heliograph_samples_dropped_total\{reason="retention"\} 12000\n/);
  await restart();
  expect((await usage()).total.samples).toBe(0);
});

test('what is past its retention is hidden to the sample, from the first query after a start on', async () => {
  const device = await world.device();
  await backfill(device, 29, 3_000);
  await setWorkspaceDays(30);
  await restart();
  // The one that is exactly 30 days old is the last that stays.
  expect(await stored(device)).toBe(1_441);
  // What would be removed at once is refused (contract 42).
  await expect(backfill(device, 40, 10)).rejects.toThrow('40051_OLDER_THAN_RETENTION');
  expect(await stored(device)).toBe(1_441);
});

test('without a rule samples are kept without limit', async () => {
  const device = await world.device();
  await backfill(device, 5_000, 10);
  await setWorkspaceDays(1);
  await setWorkspaceDays(null);
  await world.platform.runMaintenance();
  expect(await stored(device)).toBe(10);
});

test('a deleted device leaves no sample', async () => {
  const [gone, kept] = [await world.device(), await world.device()];
  for (const device of [gone, kept]) await backfill(device, 3, 2_000);
  await restart();
  const before = segmentBytes();
  await world.must('DELETE', `/v3/devices/${gone.id}`);
  expect((await usage()).total.samples).toBe(2_000);
  expect(segmentBytes()).toBeLessThan(before);
  expect(await stored(kept)).toBe(2_000);
  await restart();
  expect((await usage()).total.samples).toBe(2_000);
});

test('remains of a crash right after a deletion are dropped by maintenance', async () => {
  const device = await world.device();
  await backfill(device, 3, 100);
  await world.close();
  // The records know of the deletion, the store does not, and an uplink in flight arrived after it.
  await besidesPlatform(world, async (records) => {
    await new Devices({ ...records, now: () => noon }).remove(device.id);
    const late = { uplinkId: 'u', deviceId: device.id, uplinkSize: 1, timestamp: noon };
    await deviceStatusRows.saveMetrics(records.db, [late]);
  });
  world = await start();
  await world.platform.runMaintenance();
  expect((await usage()).total.samples).toBe(100);
  clock.now = noon + 11 * 60_000;
  await world.platform.runMaintenance();
  expect((await usage()).total.samples).toBe(0);
  await besidesPlatform(world, async ({ db }) => {
    for (const table of ['deletedDevices', 'deviceStatus'] as const)
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
  });
});
