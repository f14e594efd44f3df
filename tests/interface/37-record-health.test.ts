// Contract 37: rows of lists with their health, by `details=health`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import type { Permissions } from '../../src/model/principal.ts';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { alarmRules } from '../world/alarm-rules.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../world/restricted-keys.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let secondId: string;
const keys: Record<string, string> = {};
const clock = { now: Date.UTC(2026, 5, 1, 12, 5) };
const hour = 3_600_000;
const reading = { rule: ['read'], dataFlow: ['read'], deviceType: ['read'] } as const;

beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment, now: () => clock.now });
  await besidesPlatform(world, async (records) => {
    const { organizationId } = await makeOrganization(records);
    const everything: Permissions = { ...reading, asset: ['read'] };
    keys['all'] = await makeKey(records, world, { permissions: everything });
    keys['withoutAssets'] = await makeKey(records, world, { permissions: reading });
    keys['first'] = await makeKey(records, world, {
      permissions: everything,
      workspaceIds: [world.workspaceId],
    });
    keys['stranger'] = await makeKey(records, world, { permissions: everything, organizationId });
  });
  const { organizationId } = world;
  secondId = (await world.must('POST', '/v3/workspaces', { name: 'Second', organizationId })).id;
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

/** The health of a row of a list, for the holder of a key. */
async function health(path: string, id: string, key = 'all') {
  const separator = path.includes('?') ? '&' : '?';
  const url = `${path}${separator}details=health&size=100`;
  const { status, body } = await world.call('GET', url, undefined, { 'x-api-key': keys[key]! });
  if (status !== 200) return status;
  return body.content.find((row: { id: string }) => row.id === id)?.health;
}

const inFirst = (list: string) => `/v3/${list}?workspaceId=${world.workspaceId}`;

test('a rule: its last run, and how often it fired in 24 hours', async () => {
  const rules = alarmRules(world);
  const boiler = await world.device({ name: 'boiler' });
  const rule = await rules.hotRule(boiler, [[50, await rules.output({ clearWhen: 'NEVER' })]]);
  const healthOfRule = () => health(inFirst('rules'), rule.id);
  expect(await healthOfRule()).toEqual({ lastRun: null, firedIn24h: 0 });
  for (const temperature of [60, 40, 60, 10]) {
    clock.now += 1_000;
    await rules.send(boiler, temperature);
  }
  const timestamp = new Date(clock.now).toISOString();
  expect(await healthOfRule()).toEqual({
    lastRun: { timestamp, outcome: 'NOT_FIRED' },
    firedIn24h: 2,
  });
  clock.now += 25 * hour;
  expect(await healthOfRule()).toMatchObject({ lastRun: { timestamp }, firedIn24h: 0 });
  const plain = await world.must('GET', inFirst('rules'));
  expect(plain.content[0]).not.toHaveProperty('health');
});

test('an output connector: deliveries by hour, not those of the database connector', async () => {
  const outputId = await sink.action(world, 'counted');
  const tank = await world.device({ name: 'tank' });
  await alarmRules(world).hotRule(tank, [[50, outputId]]);
  const outputs = inFirst('output-connectors');
  for (const ok of [1, 2]) {
    clock.now += 3 * hour;
    await world.capture(tank, { temperature: 40 });
    clock.now += 1_000;
    await world.capture(tank, { temperature: 60 });
    await expect.poll(async () => (await health(outputs, outputId)).deliveries.ok).toBe(ok);
  }
  const { okPerHour, ...counts } = (await health(outputs, outputId)).deliveries;
  expect(counts).toMatchObject({ waiting: 0, failed: 0, nextTry: null });
  expect(okPerHour).toEqual([...Array(20).fill(0), 1, 0, 0, 1]);
  expect(await health(outputs, databaseConnectorId)).toBeNull();
});

test('a data flow and a device type: devices and the last sample, of readable workspaces', async () => {
  const script = 'function consume(event) { emit("sample", { data: event.data }); }';
  const first = await world.device({ name: 'one', script });
  const deviceTypeId = first.deviceTypeId!;
  const connector = await world.must('POST', '/v3/device-connectors', {
    name: 'HTTP',
    workspaceId: secondId,
    connectivity: 'HTTP',
  });
  const flow = await world.must('POST', '/v3/data-flows', {
    name: 'Second',
    workspaceId: secondId,
    deviceConnector: { id: connector.id },
    deviceType: { id: deviceTypeId },
  });
  for (const name of ['two', 'three'])
    await world.must('POST', '/v3/devices', {
      name,
      deviceId: name,
      workspaceId: secondId,
      dataFlowId: flow.id,
      connectivity: 'HTTP',
    });
  await world.capture(first, { temperature: 1 });
  const lastSampleAt = expect.any(String);
  const flows = inFirst('data-flows');
  expect(await health(flows, first.dataFlowId)).toEqual({ deviceCount: 1, lastSampleAt });
  const types = '/v3/device-types';
  expect(await health(types, deviceTypeId)).toEqual({ deviceCount: 3, lastSampleAt });
  expect(await health(types, deviceTypeId, 'first')).toEqual({ deviceCount: 1, lastSampleAt });
  const none = { deviceCount: 0, lastSampleAt: null };
  expect(await health(types, deviceTypeId, 'withoutAssets')).toEqual(none);
  expect(await health(flows, first.dataFlowId, 'withoutAssets')).toBeNull();
  expect(await health(`/v3/data-flows?workspaceId=${secondId}`, flow.id, 'first')).toBe(403);
  expect(await health(types, deviceTypeId, 'stranger')).toBeUndefined();
});

test('another value of details is refused, and true still shows scripts of device types', async () => {
  for (const list of ['rules', 'output-connectors', 'data-flows', 'device-types'])
    expect((await world.call('GET', `${inFirst(list)}&details=wealth`)).status).toBe(400);
  const { content } = await world.must('GET', '/v3/device-types?details=true&size=1');
  expect(content[0]).toHaveProperty('uplinkScript');
  expect(content[0]).not.toHaveProperty('health');
});
