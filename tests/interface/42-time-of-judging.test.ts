// Contract 42: rules judge in the order of time; late samples and clocks in the future change nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { type AlarmRules, alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

/** Emits what the payload lists, in its order, each with its own time. */
const listScript = `function consume(event) {
  for (const { t, at } of event.data.list)
    emit('sample', { data: { temperature: t }, topic: 'default', timestamp: new Date(at) });
}`;

let world: World;
let sink: ActionSink;
let { output, hotRule, of } = {} as AlarmRules;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment });
  ({ output, hotRule, of } = alarmRules(world));
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const minute = 60_000;
/** The time so many minutes ago. */
const ago = (minutes: number) => new Date(Date.now() - minutes * minute).toISOString();

async function scripted(): Promise<TestDevice> {
  return world.device({ script: listScript });
}

async function sendAt(device: TestDevice, ...list: readonly (readonly [t: number, at: string])[]) {
  const sent = await world.capture(device, { list: list.map(([t, at]) => ({ t, at })) });
  expect(sent.status).toBe(201);
}

async function runsOf(ruleId: string) {
  // The list of alarms waits until the samples are judged.
  await world.must('GET', `/v3/alarms?workspaceId=${world.workspaceId}`);
  return (await world.must('GET', `/v3/rules/${ruleId}/runs`)).content as {
    readonly outcome: string;
    readonly reason: string;
  }[];
}

async function hotAction(device: TestDevice, actionId: string) {
  return world.must('POST', '/v3/rules', {
    name: 'Too hot',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(device.id)],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
              operator: 'GT',
              operandSecond: { type: 'CONSTANT', value: 20 },
              order: 0,
            },
          ],
          actionIds: [actionId],
        },
      ],
    },
    actions: [{ id: actionId }],
  });
}

test('behaviour 1: a late sample ends no alarm, counts no trigger, and its run says LATE', async () => {
  const device = await scripted();
  const rule = await hotRule(device, [[20, await output()]]);
  const times = [ago(10), ago(5)] as const;
  await sendAt(device, [30, times[0]]);
  await sendAt(device, [31, times[1]]);
  await sendAt(device, [10, ago(8)]);
  await sendAt(device, [99, ago(7)]);
  await expect
    .poll(() => of(device))
    .toMatchObject([
      {
        state: 'OPEN',
        count: 2,
        data: { temperature: 31 },
        sampleTime: { first: times[0], last: times[1] },
      },
    ]);
  const runs = await runsOf(rule.id);
  expect(runs.map(({ outcome }) => outcome)).toEqual(['LATE', 'LATE', 'FIRED', 'FIRED']);
  expect(runs[0]!.reason).toContain('older than the newest one that the rule judged');
});

test('behaviour 1: one excursion notifies once when its samples arrive in another order', async () => {
  const device = await scripted();
  const name = `once ${device.id}`;
  const actionId = await sink.action(world, name, { sendConsecutiveAlerts: false });
  const rule = await hotAction(device, actionId);
  await sendAt(device, [30, ago(10)]);
  await sendAt(device, [32, ago(6)]);
  await sendAt(device, [31, ago(5)], [10, ago(12)]);
  await sendAt(device, [33, ago(4)]);
  expect(await sink.next(name)).toMatchObject({ data: { temperature: 30 } });
  const runs = await runsOf(rule.id);
  expect(runs.map(({ outcome }) => outcome)).toEqual([
    'SUPPRESSED',
    'SUPPRESSED',
    'LATE',
    'SUPPRESSED',
    'FIRED',
  ]);
  const deliveries = await world.must('GET', `/v3/output-connectors/${actionId}/deliveries`);
  expect(deliveries.content).toHaveLength(1);
  expect(sink.left(name)).toEqual([]);
});

test('behaviour 1: samples of one uplink are judged in the order of time', async () => {
  const device = await scripted();
  const name = `order ${device.id}`;
  await hotAction(device, await sink.action(world, name, { sendConsecutiveAlerts: true }));
  const times = [ago(9), ago(6), ago(3)] as const;
  await sendAt(device, [23, times[2]], [21, times[0]], [22, times[1]]);
  for (const [i, timestamp] of times.entries())
    expect(await sink.next(name)).toMatchObject({ data: { temperature: 21 + i }, timestamp });
});

test('behaviour 1: another data source of the device is not late', async () => {
  const device = await world.device({
    script: `function consume(event) {
      const { key, v, at } = event.data;
      emit('sample', { data: { [key]: v }, topic: 'default', timestamp: new Date(at) });
    }`,
  });
  const source = (id: string, dataKey: string) => ({
    ...temperatureOf(device.id),
    id,
    dataKey,
    variableName: dataKey,
  });
  const name = `two ${device.id}`;
  const id = await sink.action(world, name);
  const above = (dataSourceId: string, order: number) => ({
    operandFirst: { type: 'DATA_SOURCE', dataSourceId },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value: 20 },
    order,
    ...(order === 0 && { chainOperator: 'AND' }),
  });
  const rule = await world.must('POST', '/v3/rules', {
    name: 'Both',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [source('s1', 'a'), source('s2', 'b')],
      logicBlocks: [{ conditions: [above('s1', 0), above('s2', 1)], actionIds: [id] }],
    },
    actions: [{ id }],
  });
  const send = async (key: string, v: number, at: string) => {
    await world.capture(device, { key, v, at });
  };
  await send('a', 30, ago(1));
  // A run reads the newest values of its other data sources.
  await expect.poll(async () => (await runsOf(rule.id)).length).toBe(1);
  await send('b', 30, ago(5));
  await expect.poll(async () => (await runsOf(rule.id)).length).toBe(2);
  await send('b', 10, ago(6));
  await send('a', 31, ago(2));
  await expect
    .poll(async () => (await runsOf(rule.id)).map(({ outcome }) => outcome))
    .toEqual(['LATE', 'LATE', 'FIRED', 'NOT_FIRED']);
});

test('behaviour 1: a new activation judges anew', async () => {
  const device = await scripted();
  const { version: _, ...rule } = await hotRule(device, [[20, await output()]]);
  await sendAt(device, [10, ago(5)]);
  // Judged by the first activation, not by the second.
  await expect.poll(async () => (await runsOf(rule.id)).length).toBe(1);
  await world.must('PUT', `/v3/rules/${rule.id}`, { ...rule, active: false });
  await world.must('PUT', `/v3/rules/${rule.id}`, { ...rule, active: true });
  await sendAt(device, [30, ago(8)]);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', count: 1 }]);
});

test('behaviour 1: what was judged is known after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-judged-'));
  let one = await startWorld({ directory });
  try {
    const device = await one.device({ script: listScript });
    const rules = alarmRules(one);
    const rule = await rules.hotRule(device, [[20, await rules.output()]]);
    await one.capture(device, { list: [{ t: 10, at: ago(5) }] });
    expect(await rules.of(device)).toEqual([]);
    await one.close();
    one = await startWorld({ directory });
    await one.capture(device, { list: [{ t: 30, at: ago(8) }] });
    await expect
      .poll(async () => (await one.must('GET', `/v3/rules/${rule.id}/runs`)).content)
      .toMatchObject([{ outcome: 'LATE' }, { outcome: 'NOT_FIRED' }]);
    expect(await alarmRules(one).of(device)).toEqual([]);
  } finally {
    await one.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('behaviour 1: templates of alarms have the time of the sample', async () => {
  const device = await scripted();
  const name = `time ${device.id}`;
  const notified = await sink.action(world, name, {
    customPayload: '{"at":"{{timestamp}}","first":"{{alarm.sampleTime.first}}"}',
    useCustomPayload: true,
  });
  const notify = ['OPENED', 'CLEARED'].map((on) => ({ on, outputConnectorId: notified }));
  await hotRule(device, [[20, await output({ name: 'At {{timestamp}}', notify })]]);
  const times = [ago(60 * 24 * 6), ago(60 * 24 * 5)] as const;
  await sendAt(device, [30, times[0]]);
  await sendAt(device, [10, times[1]]);
  expect(await sink.next(name)).toEqual({ at: times[0], first: times[0] });
  expect(await sink.next(name)).toEqual({ at: times[1], first: times[0] });
  await expect.poll(() => of(device)).toMatchObject([{ name: `At ${times[0]}`, state: 'CLEARED' }]);
});

test('behaviour 2: a sample of a clock in the future is not judged, and hides none of now', async () => {
  const device = await scripted();
  const rule = await hotRule(device, [[20, await output()]]);
  await sendAt(device, [99, '2036-01-01T00:00:00.000Z']);
  await sendAt(device, [30, ago(2)]);
  await sendAt(device, [10, ago(1)]);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED', count: 1 }]);
  const runs = await runsOf(rule.id);
  expect(runs.map(({ outcome }) => outcome)).toEqual(['NOT_FIRED', 'FIRED', 'NOT_FIRED']);
  expect(runs[2]!.reason).toContain('more than a day in the future');
});
