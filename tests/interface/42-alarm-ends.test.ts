// Contract 42: alarms end with what made them, and one that was cleared by hand opens again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { type AlarmRules, alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let { output, hotRule, send, of } = {} as AlarmRules;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment });
  ({ output, hotRule, send, of } = alarmRules(world));
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

async function openOf(device: TestDevice, properties: object = {}) {
  const connector = await output(properties);
  const { version: _, ...rule } = await hotRule(device, [[20, connector]]);
  await send(device, 30);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
  return { rule, connector };
}

/** A tag with a rule for it, and a device that has it. */
async function tagged() {
  const tag = await world.must('POST', '/v3/tags', {
    name: `tag ${Math.random()}`,
    workspaceId: world.workspaceId,
  });
  const device = await world.device({ tags: [{ id: tag.id }] });
  const connector = await output();
  await world.must('POST', '/v3/rules', {
    name: 'Hot by tag',
    workspaceId: world.workspaceId,
    inputs: [{ id: tag.id, type: 'ASSET_TAG' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(tag.id)],
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
          actionIds: [connector],
        },
      ],
    },
    actions: [{ id: connector }],
  });
  await send(device, 30);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
  return { device, tag };
}

const clearedBy = (reason: string) => [{ state: 'CLEARED', cleared: { by: null, reason } }];

async function alarmsOf(device: TestDevice) {
  const path = `/v3/alarms?workspaceId=${world.workspaceId}&deviceId=${device.id}`;
  return (await world.must('GET', path)).content;
}

test('behaviour 3: an alarm ends when its rule is deactivated, or deleted', async () => {
  const device = await world.device();
  const { rule } = await openOf(device);
  await world.must('PUT', `/v3/rules/${rule.id}`, { ...rule, active: false });
  await expect.poll(() => of(device)).toMatchObject(clearedBy('RULE_DEACTIVATED'));
  const other = await world.device();
  const deleted = await openOf(other);
  await world.must('DELETE', `/v3/rules/${deleted.rule.id}`);
  await expect.poll(() => of(other)).toMatchObject(clearedBy('RULE_DELETED'));
});

test('behaviour 3: with `clearWhen` NEVER it ends with its rule and its device too', async () => {
  const device = await world.device();
  const { rule } = await openOf(device, { clearWhen: 'NEVER' });
  await world.must('DELETE', `/v3/rules/${rule.id}`);
  await expect.poll(() => of(device)).toMatchObject(clearedBy('RULE_DELETED'));
  const other = await world.device();
  await openOf(other, { clearWhen: 'NEVER' });
  await world.must('DELETE', `/v3/devices/${other.id}`);
  await expect.poll(() => alarmsOf(other)).toMatchObject(clearedBy('DEVICE_DELETED'));
});

test('behaviour 3: an alarm ends when its device is deleted; outputs are notified and counts fall', async () => {
  const device = await world.device();
  const name = `ended ${device.id}`;
  const notified = await sink.action(world, name);
  await openOf(device, { notify: [{ on: 'CLEARED', outputConnectorId: notified }] });
  await world.must('DELETE', `/v3/devices/${device.id}`);
  await expect.poll(() => alarmsOf(device)).toMatchObject(clearedBy('DEVICE_DELETED'));
  expect(await sink.next(name)).toMatchObject({
    change: 'CLEARED',
    alarm: { cleared: { reason: 'DEVICE_DELETED' } },
  });
});

test('behaviour 3: an alarm ends when the device is taken out of the inputs, or loses the tag', async () => {
  const device = await world.device();
  const other = await world.device();
  const { rule } = await openOf(device);
  const moved = JSON.parse(JSON.stringify(rule).replaceAll(device.id, other.id)) as object;
  await world.must('PUT', `/v3/rules/${rule.id}`, moved);
  await expect.poll(() => of(device)).toMatchObject(clearedBy('INPUT_REMOVED'));
  const byTag = await tagged();
  const { version: _, ...known } = await world.must('GET', `/v3/devices/${byTag.device.id}`);
  await world.must('PUT', `/v3/devices/${byTag.device.id}`, { ...known, tags: [] });
  await expect.poll(() => of(byTag.device)).toMatchObject(clearedBy('INPUT_REMOVED'));
});

test('behaviour 3: an alarm ends when the output is taken out of the rule', async () => {
  const device = await world.device();
  const first = await output();
  const second = await output({ key: 'second {{device.id}}' });
  const { version: _, ...rule } = (await hotRule(device, [
    [20, first],
    [20, second],
  ])) as unknown as {
    readonly id: string;
    readonly version: number;
    readonly logic: { readonly logicBlocks: readonly object[] };
  };
  await send(device, 30);
  await expect.poll(() => alarmsOf(device)).toHaveLength(2);
  const [block] = rule.logic.logicBlocks;
  const logic = { ...rule.logic, logicBlocks: [block] };
  await world.must('PUT', `/v3/rules/${rule.id}`, { ...rule, logic, actions: [{ id: first }] });
  await expect
    .poll(() => alarmsOf(device))
    .toEqual(
      expect.arrayContaining([
        expect.objectContaining({ outputConnectorId: first, state: 'OPEN' }),
        expect.objectContaining({
          outputConnectorId: second,
          state: 'CLEARED',
          cleared: expect.objectContaining({ reason: 'OUTPUT_DELETED' }),
        }),
      ]),
    );
});

test('behaviour 3: an alarm ends when its device moves to another workspace', async () => {
  const device = await world.device();
  await openOf(device);
  const workspace = await world.must('POST', '/v3/workspaces', {
    name: `other ${device.id}`,
    organizationId: world.organizationId,
  });
  const there = await world.device({ workspaceId: workspace.id });
  await world.must('POST', '/v3/devices/bulk/move', {
    workspaceId: world.workspaceId,
    deviceIds: [device.id],
    targetWorkspaceId: workspace.id,
    dataFlowId: there.dataFlowId,
  });
  const placeOf = async () => (await world.must('GET', `/v3/devices/${device.id}`)).workspaceId;
  await expect.poll(placeOf, { interval: 20, timeout: 60_000 }).toBe(workspace.id);
  await expect.poll(() => alarmsOf(device)).toMatchObject(clearedBy('DEVICE_MOVED'));
});

test('behaviour 6: an alarm that was cleared by hand opens again while the value stays bad', async () => {
  const device = await world.device();
  const connector = await output({}, { sendConsecutiveAlerts: false });
  await hotRule(device, [[20, connector]]);
  await send(device, 30, 31);
  const [alarm] = await of(device);
  await world.must('POST', `/v3/alarms/${alarm!.id}/clear`, { reason: 'seen' });
  await send(device, 32, 33);
  await expect
    .poll(() => of(device))
    .toMatchObject([
      { state: 'OPEN', count: 1, data: { temperature: 32 } },
      { state: 'CLEARED', cleared: { reason: 'seen' } },
    ]);
  await send(device, 10);
  await expect
    .poll(() => of(device))
    .toMatchObject([{ state: 'CLEARED', cleared: { reason: 'RULE_FALSE' } }, { state: 'CLEARED' }]);
});
