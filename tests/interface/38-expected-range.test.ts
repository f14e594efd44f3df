// Contract 38: expected ranges and forecasts of a whole platform, for devices and tags.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let room: TestDevice;
let battery: TestDevice;
let empty: TestDevice;
let tagId: string;

const hour = 3_600_000;
const now = Math.floor(Date.now() / hour) * hour;
const iso = (at: number): string => new Date(at).toISOString();
const isHeated = (at: Date): boolean => at.getUTCHours() >= 8 && at.getUTCHours() < 18;
const metric = { topic: 'default', dataKey: 'value' };

beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  tagId = (await world.must('POST', '/v3/tags', { workspaceId, name: 'Watched' })).id;
  const tags = [{ id: tagId }];
  room = await world.device({ tags });
  battery = await world.device({ tags });
  empty = await world.device({ tags });
  const rows: object[] = [];
  for (let back = 40 * 24; back > 0; back--) {
    const timestamp = iso(now - back * hour);
    const isDay = isHeated(new Date(now - back * hour));
    const noise = ((back * 7_919) % 13) / 13;
    rows.push({ deviceId: room.id, timestamp, data: { value: (isDay ? 22 : 18) + noise } });
    rows.push({ deviceId: battery.id, timestamp, data: { value: 30 + back / 24 + noise / 10 } });
  }
  for (let at = 0; at < rows.length; at += 500)
    await world.must('POST', '/v3/samples/bulk', rows.slice(at, at + 500));
});

afterAll(() => world.close());

test('the range of yesterday and today follows the hours of the day', async () => {
  const interval = { from: iso(now - 24 * hour), to: iso(now + 24 * hour) };
  const path = `/v3/devices/${room.id}/query/expected`;
  const body = { ...metric, interval, timeZone: 'UTC' };
  const hours = { from: iso(now - 2 * hour), to: iso(now) };
  const two = await world.must('POST', path, { ...body, interval: hours });
  expect(two).toMatchObject({ method: 'HOUR_OF_WEEK', timestamps: [hours.from, iso(now - hour)] });
  const found = await world.must('POST', path, body);
  expect(found).toMatchObject({ method: 'HOUR_OF_WEEK', weeks: 6 });
  expect(found.timestamps).toHaveLength(48);
  for (const [i, timestamp] of found.timestamps.entries()) {
    const usual = isHeated(new Date(timestamp)) ? 22.5 : 18.5;
    expect(Math.abs(found.expected[i] - usual)).toBeLessThan(0.6);
    expect(found.lower[i]).toBeLessThan(found.expected[i]);
    expect(found.upper[i]).toBeGreaterThan(found.expected[i]);
  }
  const widthOf = (range: typeof found): number => range.upper[0] - range.lower[0];
  const high = await world.must('POST', path, { ...body, sensitivity: 'HIGH' });
  const low = await world.must('POST', path, { ...body, sensitivity: 'LOW' });
  expect(widthOf(high)).toBeLessThan(widthOf(found));
  expect(widthOf(low)).toBeGreaterThan(widthOf(found));
  const none = await world.must('POST', `/v3/devices/${empty.id}/query/expected`, body);
  expect(none).toMatchObject({ method: 'NONE', weeks: 0 });
  expect(none.expected).toEqual(new Array(48).fill(null));
});

test('an interval of more than 92 days and an unknown sensitivity are a 400', async () => {
  const path = `/v3/devices/${room.id}/query/expected`;
  const interval = { from: iso(now - 93 * 24 * hour), to: iso(now) };
  const long = await world.call('POST', path, { ...metric, interval });
  expect([long.status, long.body.message]).toEqual([400, expect.stringContaining('92 days')]);
  // The last 92 days, as a client counts them: they seldom begin with an hour.
  const minutes = 17 * 60_000;
  const whole = { from: iso(now - 92 * 24 * hour - minutes), to: iso(now - minutes) };
  const found = await world.must('POST', path, { ...metric, interval: whole });
  expect(found.timestamps).toHaveLength(92 * 24 + 1);
  const odd = { ...metric, interval: { from: iso(now - hour), to: iso(now) }, sensitivity: 'SOME' };
  expect((await world.call('POST', path, odd)).status).toBe(400);
});

test('a battery is empty in about a month; other devices say why not', async () => {
  const body = { ...metric, target: 0 };
  const ids = [battery.id, room.id, empty.id];
  const path = '/v3/devices/query/forecast';
  const { content, totalElements } = await world.must('POST', path, { ...body, deviceIds: ids });
  expect(totalElements).toBe(3);
  const [falling, flat, none] = content;
  expect(falling).toMatchObject({ deviceId: battery.id, reason: null });
  expect(falling.value).toBeCloseTo(30, 0);
  expect(falling.slopePerDay).toBeCloseTo(-1, 1);
  const days = (Date.parse(falling.reachesAt) - now) / (24 * hour);
  expect(days).toBeGreaterThan(28);
  expect(days).toBeLessThan(32);
  expect(Date.parse(falling.earliest)).toBeLessThanOrEqual(Date.parse(falling.reachesAt));
  expect(flat).toMatchObject({ deviceId: room.id, reason: 'FLAT', reachesAt: null });
  expect(none).toEqual({
    deviceId: empty.id,
    ...{ value: null, slopePerDay: null, reachesAt: null, earliest: null, latest: null },
    ...{ days: 0, reason: 'TOO_FEW' },
  });
  const soon = await world.must('POST', path, { ...body, tagId, horizon: 'P10D' });
  const reasons = soon.content.map(({ reason }: { reason: string }) => reason);
  expect(reasons.toSorted()).toEqual(['BEYOND_HORIZON', 'FLAT', 'TOO_FEW']);
  const away = await world.must('POST', path, { ...body, target: 90, deviceIds: [battery.id] });
  expect(away.content[0].reason).toBe('AWAY');
});

test.each([
  [{ target: 0 }, 'exactly one of deviceIds and tagId'],
  [{ target: 0, deviceIds: ['x'], history: 'P2Y' }, 'history: must not have months or years'],
  [{ target: 0, deviceIds: ['x'], history: 'P400D' }, 'history: must be at most P366D'],
  [{ deviceIds: ['x'] }, 'target'],
])('%o is a 400 that says what is wrong', async (more, message) => {
  const deviceIds = 'deviceIds' in more ? { deviceIds: [room.id] } : {};
  const body = { ...metric, ...more, ...deviceIds };
  const answer = await world.call('POST', '/v3/devices/query/forecast', body);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});
