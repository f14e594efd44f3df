// Records of the demo on a real platform: rules raise and clear alarms, the dashboard shows what devices send.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUpAlarmRules } from '../../clients/demo/alarm-rules.ts';
import { setUpDashboard } from '../../clients/demo/dashboard.ts';
import { deviceKinds } from '../../clients/demo/devices/kind-table.ts';
import { roomReadings, rooms } from '../../clients/demo/devices/room-climate.ts';
import { spotReadings, spots } from '../../clients/demo/devices/leak-detector.ts';
import { minuteMs } from '../../clients/demo/physics/local-time.ts';
import { connectPlatform, type Platform } from '../../clients/demo/platform.ts';
import { type DemoWorkspace, type EnrolledDevice, setUpDemo } from '../../clients/demo/setup.ts';
import { startWorld, type World } from '../world/world.ts';

/** A Wednesday at work. */
const start = Date.UTC(2026, 10, 18, 9);
const { signal } = new AbortController();

let world: World;
let platform: Platform;
let workspace: DemoWorkspace;
beforeAll(async () => {
  world = await startWorld();
  const { base, apiKey, organizationId } = world;
  platform = connectPlatform({ baseUrl: base, headers: { 'x-api-key': apiKey }, signal });
  workspace = await setUpDemo(platform, { organizationId }, deviceKinds);
  await setUpDashboard(platform, workspace);
  await setUpAlarmRules(platform, workspace);
}, 240_000);
afterAll(() => world.close());

/** Sends what the device sends at the first instant from `from` on that fits; returns the instant. */
async function send(
  { device }: EnrolledDevice,
  fits: (at: number) => boolean = () => true,
  from = start,
): Promise<number> {
  let at = from;
  while (!fits(at)) at += minuteMs;
  const { uplinkSecret } = workspace;
  const payload = device.payloadAt(at);
  expect(await platform.capture({ deviceId: device.deviceId, uplinkSecret, at, payload })).toEqual(
    {},
  );
  return at;
}

function enrolled(name: string): EnrolledDevice {
  const found = workspace.devices.find(({ device }) => device.name === name);
  if (found === undefined) throw new Error(`no device ${name}`);
  return found;
}

const alarms = [
  {
    of: 'Leak Detector Kitchen Dishwasher',
    severity: 'CRITICAL',
    name: 'Water at Leak Detector Kitchen Dishwasher',
    isRaised: (at: number) => spotReadings(spots[2]!, at).wet,
    isCleared: (at: number) => !spotReadings(spots[2]!, at).wet,
  },
  {
    of: 'Room Climate Canteen Cold Store',
    severity: 'WARNING',
    name: 'Humid air at Room Climate Canteen Cold Store',
    isRaised: (at: number) => roomReadings(rooms[5]!, at).humidity > 75,
    isCleared: (at: number) => roomReadings(rooms[5]!, at).humidity < 73,
  },
] as const;

for (const { of, severity, name, isRaised, isCleared } of alarms) {
  test(`a payload of ${of} raises an alarm and a sample, another clears it`, async () => {
    const device = enrolled(of);
    const found = async () => {
      const path = `/v3/alarms?workspaceId=${workspace.id}&deviceId=${device.id}`;
      return (await world.must('GET', path)).content;
    };
    const raisedAt = await send(device, isRaised);
    await expect.poll(found).toMatchObject([{ severity, name, state: 'OPEN', count: 1 }]);
    const path = `/v3/devices/${device.id}/query`;
    const sampled = () => world.must('POST', path, { topic: 'alarm' });
    await expect.poll(sampled).toMatchObject([{ data: { message: name } }]);
    await send(device, isCleared, raisedAt);
    await expect
      .poll(found)
      .toMatchObject([{ state: 'CLEARED', cleared: { reason: 'RULE_FALSE' } }]);
  });
}

test('devices send every value that the dashboard shows', async () => {
  for (const device of workspace.devices) await send(device);
  await send(enrolled('Tracker Delivery Van 1'), (at) => at > start + 4.5 * 60 * minuteMs);
  const { content } = await world.must('GET', `/v3/dashboards?workspaceId=${workspace.id}`);
  expect(content).toMatchObject([{ name: 'Campus' }]);
  const { configuration } = await world.must('GET', `/v3/dashboards/${content[0].id}`);
  type Series = { deviceId: string; topic?: string; dataKey: string };
  const tiles: { kind: string; title: string; series?: Series[] }[] = configuration.tiles;
  expect(new Set(tiles.map(({ kind }) => kind))).toEqual(
    new Set(['value', 'line', 'map', 'state', 'table', 'bar', 'text']),
  );
  const deviceIds = workspace.devices.map(({ id }) => id);
  type Latest = { deviceId: string; samples: { topic: string; data: Record<string, unknown> }[] };
  const latest = async (): Promise<Latest[]> =>
    (await world.must('POST', '/v3/devices/query/latest', { deviceIds, size: 100 })).content;
  const newest = await latest();
  const isShown = ({ deviceId, topic = 'default', dataKey }: Series) => {
    const of = newest.find((one) => one.deviceId === deviceId);
    return of?.samples.some((one) => one.topic === topic && dataKey in one.data) ?? false;
  };
  for (const { kind, title, series } of tiles) {
    if (kind === 'text') continue;
    const shown = series?.filter(isShown).length ?? 0;
    // Only some places have raised an alarm, and some vans are in a garage without reception.
    const isPart = title === 'Newest alarms' || kind === 'map';
    expect(shown, title).toBeGreaterThan(0);
    if (!isPart) expect(shown, title).toBe(series?.length);
  }
});

test('set up again, it makes nothing twice', async () => {
  const counted = async () => {
    const lists = ['rules', 'dashboards', 'output-connectors', 'assets'];
    const paths = lists.map((list) => `/v3/${list}?workspaceId=${workspace.id}`);
    const pages = await Promise.all(paths.map((path) => world.must('GET', path)));
    return pages.map(({ totalElements }) => totalElements);
  };
  const before = await counted();
  const { organizationId } = world;
  const again = await setUpDemo(platform, { organizationId }, deviceKinds);
  await setUpDashboard(platform, again);
  await setUpAlarmRules(platform, again);
  expect(await counted()).toEqual(before);
});
