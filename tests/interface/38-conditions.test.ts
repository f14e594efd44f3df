// Contract 38: conditions that hold for a time, end by conditions of their own, and change by the clock without a sample.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AlarmRules, alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
const waits = { timeout: 60_000 };

let world: World;
let clockAheadMs = 0;
const now = () => Date.now() + clockAheadMs;
let { of } = {} as AlarmRules;
beforeAll(async () => {
  world = await startWorld({ now });
  ({ of } = alarmRules(world));
});
afterAll(() => world.close());

const conditionsOf = (operator: 'GT' | 'LT', value: number) => [
  {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
    operator,
    operandSecond: { type: 'CONSTANT', value },
  },
];

/** A rule with an alarm above 8 degrees. */
async function coldRoom(device: TestDevice, block: object, on = world) {
  const connector = await alarmRules(on).output();
  const logicBlock = { conditions: conditionsOf('GT', 8), actionIds: [connector], ...block };
  return on.must('POST', '/v3/rules', {
    name: 'Cold room',
    workspaceId: on.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(device.id)],
      logicBlocks: [logicBlock],
    },
    actions: [{ id: connector }],
  });
}

/** Stores samples of so many minutes ago, one entry each. */
async function sendAt(device: TestDevice, ...list: readonly (readonly [t: number, ago: number])[]) {
  for (const [temperature, ago] of list)
    await world.must('POST', '/v3/samples/bulk', [
      {
        deviceId: device.id,
        timestamp: new Date(now() - ago * minute).toISOString(),
        data: { temperature },
      },
    ]);
}

async function runsOf(rule: { readonly id: string }) {
  return (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content as {
    readonly trigger: string;
    readonly outcome: string;
    readonly reason: string;
  }[];
}

describe('holdsFor', () => {
  test('counts from one sample to another by their times, and begins anew with a false one', async () => {
    const device = await world.device();
    const rule = await coldRoom(device, { holdsFor: 'PT15M' });
    await sendAt(device, [9, 60], [9, 50], [7, 48], [9, 40], [9, 26]);
    await expect.poll(() => runsOf(rule)).toHaveLength(5);
    expect(await of(device)).toEqual([]);
    expect((await runsOf(rule))[0]).toMatchObject({
      outcome: 'NOT_FIRED',
      reason: expect.stringMatching(/^logic block 1 is met since 2.*; it is true after PT15M$/),
    });
    await sendAt(device, [9, 25]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', count: 1 }]);
    expect((await runsOf(rule))[0]).toMatchObject({
      outcome: 'FIRED',
      reason: 'logic block 1 was true for PT15M',
    });
    await sendAt(device, [5, 24]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED' }]);
  });

  test('passes by the clock without a further sample, once, with the data of the last one', async () => {
    const device = await world.device({ name: 'Depot' });
    const rule = await coldRoom(device, { holdsFor: 'PT15M' });
    await sendAt(device, [9, 1], [9.5, 0]);
    await expect.poll(() => runsOf(rule)).toHaveLength(2);
    clockAheadMs += 14 * minute;
    expect(await of(device)).toEqual([]);
    clockAheadMs += 1.1 * minute;
    await expect
      .poll(() => of(device), waits)
      .toMatchObject([
        { state: 'OPEN', count: 1, name: 'Depot is hot', data: { temperature: 9.5 } },
      ]);
    expect((await runsOf(rule))[0]).toMatchObject({
      trigger: 'TIMER',
      deviceId: device.id,
      outcome: 'FIRED',
    });
    clockAheadMs += 60 * minute;
    await sendAt(device, [10, 0]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', count: 2 }]);
  });

  test('a false sample, a deactivated rule or a deleted device ends the waiting', async () => {
    const devices = [];
    for (let i = 0; i < 3; i += 1) devices.push(await world.device());
    const [cooled, paused, deleted] = devices as [TestDevice, TestDevice, TestDevice];
    const rules = [];
    for (const device of devices) rules.push(await coldRoom(device, { holdsFor: 'PT15M' }));
    for (const device of devices) await sendAt(device, [9, 0]);
    for (const rule of rules) await expect.poll(() => runsOf(rule)).toHaveLength(1);
    await sendAt(cooled, [7, 0]);
    await world.must('PUT', `/v3/rules/${rules[1].id}`, { ...rules[1], active: false });
    await world.must('DELETE', `/v3/devices/${deleted.id}`);
    const witness = await world.device();
    await coldRoom(witness, { holdsFor: 'PT15M' });
    await sendAt(witness, [9, 0]);
    clockAheadMs += 16 * minute;
    await expect.poll(() => of(witness), waits).toHaveLength(1);
    for (const device of [cooled, paused, deleted]) expect(await of(device)).toEqual([]);
  });

  test('clearing by hand begins the time anew; a late sample changes nothing', async () => {
    const device = await world.device();
    const rule = await coldRoom(device, { holdsFor: 'PT15M' });
    await sendAt(device, [9, 40], [9, 20]);
    await expect.poll(() => of(device)).toHaveLength(1);
    const [alarm] = await of(device);
    await world.must('POST', `/v3/alarms/${alarm?.id}/clear`, {});
    await sendAt(device, [9, 19], [5, 30], [9, 5]);
    await expect.poll(() => runsOf(rule)).toHaveLength(5);
    expect(await of(device)).toMatchObject([{ state: 'CLEARED' }]);
    await sendAt(device, [9, 4]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }, { state: 'CLEARED' }]);
  });

  test('what waits survives a restart, and the clock that is set back does not shorten it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'held-'));
    let own = await startWorld({ directory, now });
    try {
      const device = await own.device();
      const rule = await coldRoom(device, { holdsFor: 'PT15M' }, own);
      await own.capture(device, { temperature: 9 });
      const runs = async () => (await own.must('GET', `/v3/rules/${rule.id}/runs`)).content;
      await expect.poll(runs).toHaveLength(1);
      await own.close();
      own = await startWorld({ directory, now });
      clockAheadMs += 14 * minute;
      expect(await alarmRules(own).of(device)).toEqual([]);
      clockAheadMs += 2 * minute;
      await expect.poll(() => alarmRules(own).of(device), waits).toHaveLength(1);
    } finally {
      await own.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe('ends', () => {
  test('clearConditions: above 8 until below 6', async () => {
    const device = await world.device();
    const rule = await coldRoom(device, { clearConditions: conditionsOf('LT', 6) });
    await sendAt(device, [7, 50], [9, 40], [7, 30]);
    await expect.poll(() => runsOf(rule)).toHaveLength(3);
    expect(await of(device)).toMatchObject([{ state: 'OPEN', count: 2 }]);
    await sendAt(device, [5, 20]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED' }]);
    await sendAt(device, [7, 10]);
    await expect.poll(() => runsOf(rule)).toHaveLength(5);
    expect(await of(device)).toHaveLength(1);
  });

  test('clearsFor: by samples and by the clock', async () => {
    const device = await world.device();
    const rule = await coldRoom(device, { clearsFor: 'PT10M' });
    await sendAt(device, [9, 60], [7, 50], [9, 45], [7, 40], [7, 31]);
    await expect.poll(() => runsOf(rule)).toHaveLength(5);
    expect(await of(device)).toMatchObject([{ state: 'OPEN' }]);
    await sendAt(device, [7, 30]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED' }]);
    await sendAt(device, [9, 20], [7, 1]);
    await expect.poll(() => runsOf(rule)).toHaveLength(8);
    clockAheadMs += 11 * minute;
    await expect
      .poll(() => of(device), waits)
      .toMatchObject([
        { state: 'CLEARED', cleared: { reason: 'RULE_FALSE' } },
        { state: 'CLEARED' },
      ]);
  });

  test('a condition without a value neither begins nor ends a block that waits', async () => {
    const device = await world.device();
    const rule = await coldRoom(device, { holdsFor: 'PT15M', clearsFor: 'PT1S' });
    await sendAt(device, [9, 60]);
    const missing = {
      deviceId: device.id,
      timestamp: new Date(now() - 50 * minute).toISOString(),
      data: { temperature: null },
    };
    await world.must('POST', '/v3/samples/bulk', [missing]);
    await sendAt(device, [9, 45]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
    expect(await runsOf(rule)).toHaveLength(3);
  });
});

test('a simulation waits by the times of the samples', async () => {
  const device = await world.device();
  const rule = await coldRoom(device, { holdsFor: 'PT15M', clearsFor: 'PT5M' });
  await sendAt(device, [9, 300], [9, 290], [5, 288], [9, 200], [5, 100], [9, 90], [9, 70]);
  const range = (from: number, to: number) => ({
    from: new Date(now() - from * minute).toISOString(),
    to: new Date(now() - to * minute).toISOString(),
  });
  const simulated = await world.must('POST', `/v3/rules/${rule.id}/simulate`, range(310, 60));
  const fired = simulated.content.filter((run: { outcome: string }) => run.outcome === 'FIRED');
  const at = (run: { timestamp: string }) =>
    Math.round((now() - Date.parse(run.timestamp)) / minute);
  // By the clock 15 minutes after the sample of 200 minutes ago, and after that of 90.
  expect(
    fired.map((run: { trigger: string; timestamp: string }) => [run.trigger, at(run)]),
  ).toEqual([
    ['TIMER', 185],
    ['TIMER', 75],
    ['UPLINK', 70],
  ]);
});

test('the rule tells what was sent, and nothing that was not', async () => {
  const device = await world.device();
  const block = {
    holdsFor: 'PT15M',
    clearsFor: 'PT10M',
    clearConditions: conditionsOf('LT', 6),
  };
  const rule = await coldRoom(device, block);
  const read = await world.must('GET', `/v3/rules/${rule.id}`);
  expect(read.logic.logicBlocks[0]).toMatchObject(block);
  const plain = await coldRoom(device, {});
  expect(Object.keys(plain.logic.logicBlocks[0]).sort()).toEqual(['actionIds', 'conditions']);
});

test.each([
  [{ holdsFor: 'PT0.5S' }, 'holdsFor: must be from PT1S to P7D'],
  [{ holdsFor: 'P8D' }, 'holdsFor: must be from PT1S to P7D'],
  [{ clearsFor: 'P1M' }, 'clearsFor: months and years are not supported'],
  [{ clearsFor: 'soon' }, 'clearsFor: a duration must start with P'],
  [{ clearConditions: [] }, 'clearConditions: at least one condition is required'],
])('%j is refused: %s', async (block, message) => {
  const device = await world.device();
  await expect(coldRoom(device, block)).rejects.toThrow(message);
});
