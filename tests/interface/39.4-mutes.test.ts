// Contract 39.4: muted alarms open and count, tell nobody and do not escalate, and tell once at the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
const directory = mkdtempSync(join(tmpdir(), 'heliograph-mutes-'));
let aheadMs = 0;
const now = () => Date.now() + aheadMs;
let world: World;
let sink: ActionSink;
let rules: AlarmRules;
const start = async () => {
  world = await startWorld({ directory, environment: sinkEnvironment, now });
  rules = alarmRules(world);
};
beforeAll(async () => {
  sink = await startActionSink();
  await start();
});
afterAll(async () => {
  await world.close();
  await sink.close();
  rmSync(directory, { recursive: true });
});

const iso = (ms: number) => new Date(ms).toISOString();
const slow = { timeout: 60_000 };

/** A device with a rule that opens an alarm above 20 degrees and tells of every change. */
async function watched(name: string, more: object = {}): Promise<TestDevice> {
  const hook = await sink.action(world, name);
  const notify = ['OPENED', 'ACKNOWLEDGED', 'CLEARED', 'ESCALATED'].map((on) => ({
    on,
    outputConnectorId: hook,
  }));
  const device = await world.device({ name });
  await rules.hotRule(device, [[20, await rules.output({ notify, ...more })]]);
  return device;
}
const mute = (what: object, more: object = {}) =>
  world.must('POST', '/v3/mutes', {
    name: 'Maintenance',
    workspaceId: world.workspaceId,
    what,
    once: { from: iso(now() - minute), to: iso(now() + 60 * minute) },
    ...more,
  });
const alarmOf = async (device: TestDevice) => (await rules.of(device))[0] as unknown as AlarmShown;
interface AlarmShown {
  readonly id: string;
  readonly count: number;
  readonly state: string;
  readonly escalated: string | null;
  readonly muted: { readonly muteId: string; readonly until: string } | null;
}
const isQuiet = async (name: string) => {
  // What another device tells afterwards was queued after it.
  const probe = await watched(`${name} probe`);
  await rules.send(probe, 30);
  await sink.next(`${name} probe`);
  expect(sink.left(name)).toEqual([]);
};

test('a muted alarm counts, tells nobody, does not escalate, and tells once at the end', async () => {
  const device = await watched('quiet', { escalateAfter: 'PT5M' });
  const made = await mute({ deviceIds: [device.id] }, { reason: 'New compressor' });
  expect(made).toMatchObject({
    ...{ reason: 'New compressor', active: true },
    ...{ mutesUntil: made.once.to, nextStart: null },
  });
  await rules.send(device, 30, 31, 32);
  await expect.poll(async () => (await alarmOf(device))?.count, slow).toBe(3);
  expect((await alarmOf(device)).muted).toEqual({ muteId: made.id, until: made.once.to });
  aheadMs += 10 * minute;
  await isQuiet('quiet');
  expect(await alarmOf(device)).toMatchObject({ escalated: null, state: 'OPEN' });
  aheadMs += 51 * minute;
  expect(await sink.next('quiet')).toMatchObject({ change: 'OPENED', alarm: { muted: null } });
  await expect.poll(async () => (await alarmOf(device)).muted, slow).toBeNull();
  // The whole time to escalate begins with the message.
  aheadMs += 6 * minute;
  expect(await sink.next('quiet')).toMatchObject({ change: 'ESCALATED' });
  expect(sink.left('quiet')).toEqual([]);
});

test('an alarm that was acknowledged or cleared while muted says nothing at the end', async () => {
  const [seen, gone] = [await watched('seen'), await watched('gone')];
  await mute({ deviceIds: [seen.id, gone.id] });
  await rules.send(seen, 30);
  await rules.send(gone, 30, 10);
  await expect.poll(async () => (await alarmOf(gone))?.state, slow).toBe('CLEARED');
  await expect.poll(async () => (await alarmOf(seen))?.muted, slow).not.toBeNull();
  await world.must('POST', `/v3/alarms/${(await alarmOf(seen)).id}/acknowledge`);
  aheadMs += 62 * minute;
  await expect.poll(async () => (await alarmOf(seen)).muted, slow).toBeNull();
  await isQuiet('seen');
  expect(sink.left('gone')).toEqual([]);
});

test('one that was open before is muted too, and a deleted or deactivated mute ends at once', async () => {
  const device = await watched('before');
  await rules.send(device, 30);
  expect(await sink.next('before')).toMatchObject({ change: 'OPENED' });
  const first = await mute({ all: true });
  await expect.poll(async () => (await alarmOf(device)).muted?.muteId, slow).toBe(first.id);
  await world.must('DELETE', `/v3/mutes/${first.id}`);
  expect(await sink.next('before')).toMatchObject({ change: 'OPENED' });
  const second = await mute({ all: true }, { severityBelow: 'CRITICAL' });
  await expect.poll(async () => (await alarmOf(device)).muted?.muteId, slow).toBe(second.id);
  await world.must('PUT', `/v3/mutes/${second.id}`, { active: false });
  expect(await sink.next('before')).toMatchObject({ change: 'OPENED' });
  const third = await mute({ all: true }, { severityBelow: 'MAJOR' });
  await isQuiet('before');
  expect((await alarmOf(device)).muted).toBeNull();
  await world.must('DELETE', `/v3/mutes/${third.id}`);
});

test('of two mutes the longer one decides, and places and tags mute their devices', async () => {
  const place = await world.must('POST', '/v3/places', {
    workspaceId: world.workspaceId,
    name: 'Site',
  });
  const room = await world.must('POST', '/v3/places', {
    workspaceId: world.workspaceId,
    name: 'Room',
    parentId: place.id,
  });
  const device = await watched('placed');
  await world.must('POST', `/v3/places/${room.id}/devices`, { add: [device.id] });
  const longer = await mute({ placeIds: [place.id] });
  const to = iso(now() + 20 * minute);
  await mute({ deviceIds: [device.id] }, { once: { from: iso(now() - minute), to } });
  await rules.send(device, 30);
  await expect.poll(async () => (await alarmOf(device))?.muted?.muteId, slow).toBe(longer.id);
  await world.must('DELETE', `/v3/mutes/${longer.id}`);
  await expect.poll(async () => (await alarmOf(device)).muted?.until, slow).toBe(to);
  await isQuiet('placed');
  aheadMs += 21 * minute;
  expect(await sink.next('placed')).toMatchObject({ change: 'OPENED' });
});

test('a mute ends while the platform is down: the alarm is told after the start, once', async () => {
  const device = await watched('restart');
  await mute({ deviceIds: [device.id] });
  await rules.send(device, 30);
  await expect.poll(async () => (await alarmOf(device))?.muted, slow).not.toBeNull();
  await world.close();
  aheadMs += 62 * minute;
  await start();
  expect(await sink.next('restart')).toMatchObject({ change: 'OPENED' });
  await world.close();
  await start();
  await isQuiet('restart');
});

test('the clock steps back over the start of a mute and reaches it again', async () => {
  const device = await watched('stepping');
  const [from, to] = [now() - 5 * minute, now() + 30 * minute];
  const made = await mute({ deviceIds: [device.id] }, { once: { from: iso(from), to: iso(to) } });
  await rules.send(device, 30);
  await expect.poll(async () => (await alarmOf(device))?.muted?.muteId, slow).toBe(made.id);
  aheadMs -= 6 * minute;
  // Outside of the window again, the alarm tells.
  expect(await sink.next('stepping')).toMatchObject({ change: 'OPENED' });
  aheadMs += 6 * minute;
  await expect.poll(async () => (await alarmOf(device)).muted?.muteId, slow).toBe(made.id);
  aheadMs += 30 * minute;
  expect(await sink.next('stepping')).toMatchObject({ change: 'OPENED' });
});

test('an alarm is muted for a while by its page, and until a time', async () => {
  const device = await watched('single');
  await rules.send(device, 30);
  expect(await sink.next('single')).toMatchObject({ change: 'OPENED' });
  const { id, key } = await rules.newest(device);
  const muted = await world.call('POST', `/v3/alarms/${id}/mute`, {
    for: 'PT1H',
    reason: 'Being repaired',
  });
  expect(muted).toMatchObject({ status: 201, body: { id, muted: { until: expect.any(String) } } });
  expect(await world.must('GET', `/v3/mutes/${muted.body.muted.muteId}`)).toMatchObject({
    reason: 'Being repaired',
    what: { alarmKeys: [key] },
    once: { to: muted.body.muted.until },
  });
  await rules.send(device, 10, 30);
  await expect.poll(async () => (await alarmOf(device)).id, slow).not.toBe(id);
  expect((await alarmOf(device)).muted).toEqual(muted.body.muted);
  await isQuiet('single');
  for (const [body, message] of [
    [{}, /exactly one of for and until/],
    [{ for: 'PT1H', until: iso(now()) }, /exactly one/],
    [{ for: 'PT1S' }, /body for/],
    [{ until: iso(now() - minute) }, /must be in the future/],
    [{ until: iso(now() + 367 * 24 * 60 * minute) }, /at most 366 days/],
  ] as const) {
    const refused = await world.call('POST', `/v3/alarms/${(await alarmOf(device)).id}/mute`, body);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(message);
  }
  const cleared = await world.call('POST', `/v3/alarms/${id}/mute`, { for: 'PT1H' });
  expect(cleared.status).toBe(409);
});

test.for([
  [{ what: {} }, /what: set either all or at least one/],
  [{ what: { all: true, ruleIds: ['21'] } }, /what: set either/],
  [{ once: null }, /once: set exactly one/],
  [{ once: { from: 'x', to: 'y' } }, /once\.from/],
  [
    { once: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
    /once\.to: must be after/,
  ],
  [
    { once: null, weekly: { days: [], from: '22:00', to: '06:00', timeZone: 'UTC' } },
    /weekly\.days/,
  ],
  [
    { once: null, weekly: { days: ['MO'], from: '24:00', to: '06:00', timeZone: 'UTC' } },
    /weekly\.from/,
  ],
  [
    { once: null, weekly: { days: ['MO'], from: '22:00', to: '06:00', timeZone: 'Mars/Base' } },
    /Mars\/Base/,
  ],
  [{ what: { deviceIds: ['02ffffffffffffff'] } }, /what\.deviceIds/],
  [{ what: { placeIds: ['41ffffffffffffff'] } }, /what\.placeIds/],
] as const)('a wrong mute names its place: %j', async ([more, message]) => {
  const refused = await world.call('POST', '/v3/mutes', {
    name: 'Wrong',
    workspaceId: world.workspaceId,
    what: { all: true },
    once: { from: iso(now()), to: iso(now() + minute) },
    ...more,
  });
  expect(refused.status, refused.body.message).toBe(400);
  expect(refused.body.message).toMatch(message);
});
