// Contract 37: the overview of a workspace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { besidesPlatform, makeKey } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let withoutAssets: string;
const clock = { now: Date.UTC(2026, 5, 1, 12, 0, 30) };
const minute = 60_000;

beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment, now: () => clock.now });
  withoutAssets = await besidesPlatform(world, (records) =>
    makeKey(records, world, { permissions: { workspace: ['read'] } }),
  );
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const overview = (id = world.workspaceId) => world.must('GET', `/v3/workspaces/${id}/overview`);
const none = { INFO: 0, WARNING: 0, MINOR: 0, MAJOR: 0, CRITICAL: 0 };

async function emptyWorkspace(name: string): Promise<string> {
  const { organizationId } = world;
  return (await world.must('POST', '/v3/workspaces', { name, organizationId })).id;
}

test('a workspace without devices has all figures', async () => {
  expect(await overview(await emptyWorkspace('Empty'))).toEqual({
    devices: { total: 0, online: 0, offline: 0, unknown: 0 },
    samplesPerMinute: Array(60).fill(0),
    samples: 0,
    bytes: 0,
    deliveries: { delivered: 0, waiting: 0, failed: 0 },
    alarms: { open: none, acknowledged: none },
    scriptErrors: 0,
    stoppedReports: [],
    lowBattery: [],
    silent: [],
  });
});

test('an unknown workspace is a 404', async () => {
  expect((await world.call('GET', '/v3/workspaces/2900000000000000/overview')).status).toBe(404);
});

test('devices by state, samples by minute, and the most silent devices', async () => {
  const workspaceId = await emptyWorkspace('Devices');
  const names = ['first', 'second', 'never'];
  const devices = [];
  for (const name of names) devices.push(await world.device({ name, workspaceId }));
  const [first, second] = devices;
  await world.capture(first!, { temperature: 1, batteryLevel: 12 });
  clock.now += 3 * minute;
  for (let n = 0; n < 5; n++) await world.capture(second!, { n, batteryLevel: 90 });
  const shown = await overview(workspaceId);
  expect(shown).toMatchObject({ samples: 6, devices: { total: 3, online: 2, unknown: 1 } });
  expect(shown.samplesPerMinute.slice(-4)).toEqual([1, 0, 0, 5]);
  expect(shown.silent).toEqual([
    {
      id: first!.id,
      name: 'first',
      deviceId: first!.deviceId,
      online: true,
      lastUplink: '2026-06-01T12:00:30.000Z',
    },
    expect.objectContaining({ id: second!.id }),
  ]);
  expect(shown.lowBattery).toEqual([
    {
      id: first!.id,
      name: 'first',
      deviceId: first!.deviceId,
      batteryLevel: 12,
      batteryTimestamp: '2026-06-01T12:00:30.000Z',
    },
  ]);
  clock.now += 59 * minute;
  const later = await overview(workspaceId);
  expect(later.samplesPerMinute[0]).toBe(5);
  await world.must('DELETE', `/v3/devices/${second!.id}`);
  clock.now += 7 * 24 * 60 * minute;
  const lastly = await overview(workspaceId);
  expect(lastly.devices).toEqual({ total: 2, online: 0, offline: 1, unknown: 1 });
  expect(lastly.samplesPerMinute).toEqual(Array(60).fill(0));
  expect(lastly.silent).toMatchObject([{ id: first!.id, online: false }]);
});

test('deliveries, failures of scripts and alarms; a day later they are counted no longer', async () => {
  const workspaceId = await emptyWorkspace('Work');
  const script = 'function consume(event) { if (event.data.bad) throw new Error("x"); }';
  const failing = await world.device({ name: 'failing', workspaceId, script });
  await world.capture(failing, { bad: true });
  await world.capture(failing, { bad: false });
  const rules = alarmRules(world, workspaceId);
  const boiler = await world.device({ name: 'boiler', workspaceId });
  await rules.hotRule(boiler, [[50, await rules.output()]]);
  const outputId = await sink.action(world, 'overview', { workspaceId });
  await rules.hotRule(boiler, [[40, outputId]]);
  await world.capture(boiler, { temperature: 60 });
  await sink.next('overview');
  await expect.poll(async () => (await overview(workspaceId)).deliveries.delivered).toBe(1);
  await expect.poll(async () => (await overview(workspaceId)).alarms.open.MAJOR).toBe(1);
  expect(await overview(workspaceId)).toMatchObject({
    scriptErrors: 1,
    deliveries: { delivered: 1, waiting: 0, failed: 0 },
    alarms: { open: { ...none, MAJOR: 1 }, acknowledged: none },
  });
  clock.now += 25 * 60 * minute;
  expect(await overview(workspaceId)).toMatchObject({
    scriptErrors: 0,
    deliveries: { delivered: 0 },
  });
});

test('devices are named only to those who may read them', async () => {
  const device = await world.device({ name: 'hidden' });
  await world.capture(device, { batteryLevel: 1 });
  const path = `/v3/workspaces/${world.workspaceId}/overview`;
  const { status, body } = await world.call('GET', path, undefined, { 'x-api-key': withoutAssets });
  expect(status).toBe(200);
  expect(body).toMatchObject({ lowBattery: [], silent: [], devices: { total: 1 } });
  expect((await overview()).lowBattery).toHaveLength(1);
});

test('the counts survive a restart', async () => {
  const device = await world.device({ name: 'before' });
  const { workspaceId } = world;
  const before = (await overview(workspaceId)).samplesPerMinute.at(-1);
  for (let n = 0; n < 3; n++) await world.capture(device, { n });
  await world.platform.close('test');
  world = await startWorld({ directory: world.directory, now: () => clock.now });
  const shown = await overview(workspaceId);
  expect(shown.samplesPerMinute.at(-1)).toBe(before + 3);
});
