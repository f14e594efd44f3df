// Contract 38: rules of silence, for each device or for all of them, counted from what the platform can have heard.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
const waits = { timeout: 60_000 };

let world: World;
let clockAheadMs = 0;
const now = () => Date.now() + clockAheadMs;
beforeAll(async () => {
  world = await startWorld({ now });
});
afterAll(() => world.close());

async function silenceRule(
  inputs: readonly object[],
  silence: object = {},
  on = world,
): Promise<{ readonly id: string; readonly connector: string }> {
  const connector = await alarmRules(on).output({
    name: '{{device.name}} silent since {{data.lastUplink}}',
  });
  const rule = await on.must('POST', '/v3/rules', {
    name: 'Silence',
    workspaceId: on.workspaceId,
    inputs,
    logic: {
      type: 'SILENCE',
      dataSources: [],
      silenceLogicBlock: { after: 'PT30M', actionIds: [connector], ...silence },
    },
    actions: [{ id: connector }],
  });
  return { ...rule, connector };
}

/** Sends an uplink, and waits until every node knows of it: the clock jumps right after. */
async function hear(device: TestDevice, on = world): Promise<void> {
  const before = now();
  await on.capture(device, { a: before });
  await expect
    .poll(async () => {
      const { uplinkMetrics } = await on.must('GET', `/v3/devices/${device.id}`);
      return Date.parse(uplinkMetrics?.timestamp ?? 0) >= before;
    }, waits)
    .toBe(true);
}

const inputOf = ({ id }: TestDevice) => ({ id, type: 'DEVICE' });
const alarmsOf = (device: TestDevice, on = world) => alarmRules(on).of(device);

function pass(minutes: number): void {
  clockAheadMs += minutes * minute;
}

async function alarmsOfRule(rule: { readonly id: string }) {
  const path = `/v3/alarms?workspaceId=${world.workspaceId}&ruleId=${rule.id}`;
  return (await world.must('GET', path)).content as { readonly state: string }[];
}

test('a device that is not heard for longer opens an alarm, once, and ends it when it is heard', async () => {
  const device = await world.device({ name: 'Buoy' });
  await hear(device);
  const other = await world.device();
  const rule = await silenceRule([inputOf(device), inputOf(other)]);
  pass(20);
  await hear(device);
  pass(20);
  await expect.poll(() => alarmsOf(other), waits).toHaveLength(1);
  expect(await alarmsOf(device)).toEqual([]);
  pass(11);
  await expect
    .poll(() => alarmsOf(device), waits)
    .toMatchObject([
      {
        state: 'OPEN',
        count: 1,
        name: expect.stringMatching(/^Buoy silent since 2.*Z$/),
        device: { id: device.id },
        data: { lastUplink: expect.any(String), silentSeconds: expect.any(Number) },
        sampleTime: null,
      },
    ]);
  pass(60);
  await hear(device);
  await expect
    .poll(() => alarmsOf(device), waits)
    .toMatchObject([{ state: 'CLEARED', count: 1, cleared: { reason: 'RULE_FALSE' } }]);
  const runs = (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content;
  const own = runs.filter(({ deviceId }: { deviceId: string }) => deviceId === device.id);
  expect(own).toMatchObject([
    { trigger: 'TIMER', outcome: 'NOT_FIRED', reason: 'an uplink was received', inputs: [] },
    {
      trigger: 'TIMER',
      deviceId: device.id,
      outcome: 'FIRED',
      reason: 'no uplink for longer than the rule allows',
    },
  ]);
  pass(31);
  await expect.poll(() => alarmsOf(device), waits).toMatchObject([{ state: 'OPEN' }, {}]);
});

test('a tag: only its devices, those that get it later, and those that never sent', async () => {
  const tag = await world.must('POST', '/v3/tags', {
    name: 'Cellar',
    workspaceId: world.workspaceId,
  });
  const tagged = await world.device({ tags: [{ id: tag.id }] });
  const later = await world.device();
  const mute = await world.device({ tags: [{ id: tag.id }] });
  for (const device of [tagged, later]) await hear(device);
  const rule = await silenceRule([{ id: tag.id, type: 'ASSET_TAG' }]);
  pass(31);
  await expect.poll(() => alarmsOfRule(rule), waits).toHaveLength(2);
  for (const device of [tagged, mute]) expect(await alarmsOf(device)).toHaveLength(1);
  const held = await world.must('GET', `/v3/devices/${later.id}`);
  await world.must('PUT', `/v3/devices/${later.id}`, { ...held, tags: [{ id: tag.id }] });
  await expect.poll(() => alarmsOf(later), waits).toHaveLength(1);
});

test('without a time, the online timeout of each device counts', async () => {
  const [quick, slow] = [await world.device(), await world.device()];
  for (const [device, minutes] of [
    [quick, 10],
    [slow, 50],
  ] as const) {
    const read = await world.must('GET', `/v3/devices/${device.id}`);
    await world.must('PUT', `/v3/devices/${device.id}`, { ...read, onlineTimeout: minutes * 60 });
    await hear(device);
  }
  await silenceRule([inputOf(quick), inputOf(slow)], { after: null });
  pass(11);
  await expect.poll(() => alarmsOf(quick), waits).toHaveLength(1);
  expect(await alarmsOf(slow)).toEqual([]);
  pass(40);
  await expect.poll(() => alarmsOf(slow), waits).toHaveLength(1);
});

test('ALL: one alarm when the last device is silent, none while one is heard', async () => {
  const devices = [await world.device(), await world.device()] as const;
  for (const device of devices) await hear(device);
  const rule = await silenceRule(devices.map(inputOf), { mode: 'ALL' });
  await silenceRule([inputOf(devices[0])]);
  pass(20);
  await hear(devices[1]);
  pass(20);
  // A pass looks at the rule that was made first before the other.
  await expect.poll(() => alarmsOf(devices[0]), waits).toHaveLength(1);
  expect(await alarmsOfRule(rule)).toEqual([]);
  pass(11);
  await expect
    .poll(() => alarmsOfRule(rule), waits)
    .toMatchObject([{ state: 'OPEN', device: null }]);
  await hear(devices[0]);
  await expect.poll(() => alarmsOfRule(rule), waits).toMatchObject([{ state: 'CLEARED' }]);
});

test('the time in which the platform did not run is no silence; what was silent before stays so', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'silence-'));
  let own = await startWorld({ directory, now });
  try {
    const [silent, talking, other] = [await own.device(), await own.device(), await own.device()];
    await hear(silent, own);
    await silenceRule([inputOf(silent), inputOf(talking)], {}, own);
    await silenceRule([inputOf(other)], { after: 'PT28M' }, own);
    pass(25);
    for (const device of [talking, other]) await hear(device, own);
    pass(6);
    await expect.poll(() => alarmsOf(silent, own), waits).toHaveLength(1);
    await own.close();
    pass(600);
    own = await startWorld({ directory, now });
    pass(29);
    await expect.poll(() => alarmsOf(other, own), waits).toHaveLength(1);
    expect(await alarmsOf(talking, own)).toEqual([]);
    pass(2);
    await expect.poll(() => alarmsOf(talking, own), waits).toHaveLength(1);
    expect(await alarmsOf(silent, own)).toMatchObject([{ state: 'OPEN', count: 1 }]);
  } finally {
    await own.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a rule begins to count when it is made or activated; its alarms end with it', async () => {
  const [device, other] = [await world.device(), await world.device()];
  for (const one of [device, other]) await hear(one);
  pass(300);
  const rule = await silenceRule([inputOf(device)]);
  await silenceRule([inputOf(other)], { after: 'PT20M' });
  pass(21);
  await expect.poll(() => alarmsOf(other), waits).toHaveLength(1);
  expect(await alarmsOf(device)).toEqual([]);
  pass(10);
  await expect.poll(() => alarmsOf(device), waits).toHaveLength(1);
  await world.must('PUT', `/v3/rules/${rule.id}`, { name: 'Silence', active: false });
  await expect
    .poll(() => alarmsOf(device))
    .toMatchObject([{ cleared: { reason: 'RULE_DEACTIVATED' } }]);
  await world.must('PUT', `/v3/rules/${rule.id}`, { name: 'Silence', active: true });
  pass(31);
  await expect.poll(() => alarmsOf(device), waits).toHaveLength(2);
});

test('a simulation finds the gaps between samples', async () => {
  const device = await world.device();
  const at = (ago: number) => new Date(now() - ago * minute).toISOString();
  await world.must(
    'POST',
    '/v3/samples/bulk',
    [290, 280, 200, 190, 100].map((ago) => {
      return { deviceId: device.id, timestamp: at(ago), data: { a: 1 } };
    }),
  );
  const rule = await silenceRule([inputOf(device)]);
  const range = { from: at(300), to: at(90) };
  const simulated = await world.must('POST', `/v3/rules/${rule.id}/simulate`, range);
  const told = simulated.content.map((run: { outcome: string; timestamp: string }) => [
    run.outcome,
    Math.round((now() - Date.parse(run.timestamp)) / minute),
  ]);
  expect(told).toEqual([
    ['FIRED', 250],
    ['NOT_FIRED', 200],
    ['FIRED', 160],
    ['NOT_FIRED', 100],
  ]);
  expect(simulated).toMatchObject({ fired: 2, samples: 5 });
});

test('older clients do not get rules of silence in lists', async () => {
  const device = await world.device();
  const { id } = await silenceRule([inputOf(device)]);
  const path = `/v3/rules?workspaceId=${world.workspaceId}&size=1000`;
  const idsWith = async (headers: Record<string, string>) => {
    const { body } = await world.call('GET', path, undefined, headers);
    return body.content.map((rule: { id: string }) => rule.id);
  };
  expect(await idsWith({})).toContain(id);
  expect(await idsWith({ 'akenza-client': 'test' })).not.toContain(id);
});

test.each([
  [{ silenceLogicBlock: { after: 'PT4S' } }, 'silenceLogicBlock.after: must be from PT5S to P30D'],
  [{ silenceLogicBlock: { after: 'P31D' } }, 'silenceLogicBlock.after: must be from PT5S to P30D'],
  [{ silenceLogicBlock: null }, 'silenceLogicBlock: is required for silence'],
  [
    { silenceLogicBlock: { actionIds: ['0900000000000000'] } },
    'silenceLogicBlock.actionIds: 0900000000000000 is not an action of this rule',
  ],
  [
    {
      dataSources: [
        { id: 's', inputIds: ['D'], dataTopic: '*', dataKey: 'a', valueType: 'NUMERICAL' },
      ],
      silenceLogicBlock: {},
    },
    'dataSources: must be empty for silence',
  ],
])('%j is refused: %s', async (logic, message) => {
  const device = await world.device();
  const text = JSON.stringify({ type: 'SILENCE', dataSources: [], ...logic });
  const body = {
    name: 'Silence',
    workspaceId: world.workspaceId,
    inputs: [inputOf(device)],
    logic: JSON.parse(text.replace('"D"', JSON.stringify(device.id))),
  };
  await expect(world.must('POST', '/v3/rules', body)).rejects.toThrow(message);
});
