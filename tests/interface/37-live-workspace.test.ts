// Contract 37: the live stream of a whole workspace, as the console uses it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { startActionSink, type ActionSink, sinkEnvironment } from '../world/action-sink.ts';
import { anyTime } from '../world/expectations.ts';
import { type LiveMessage, type LiveSocket, openLive } from '../world/live-socket.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../world/restricted-keys.ts';
import { comparison } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const kinds = [
  'SAMPLE',
  'DEVICE_STATE',
  'ALARM',
  'DELIVERY',
  'RULE_RUN',
  'OPERATION',
  'RECORD_CHANGED',
];
const everyRead = { workspace: ['read'], asset: ['read'], rule: ['read'] } as const;

let world: World;
let sink: ActionSink;
let device: TestDevice;
let secondId: string;
let elsewhereId: string;
let clockAhead = 0;
const keys: Record<string, string> = {};

beforeAll(async () => {
  sink = await startActionSink();
  const now = () => Date.now() + clockAhead;
  world = await startWorld({ environment: sinkEnvironment, now });
  await besidesPlatform(world, async (records) => {
    const here = [world.workspaceId];
    const make = (name: string, wanted: Parameters<typeof makeKey>[2]) =>
      makeKey(records, world, wanted).then((key) => void (keys[name] = key));
    await make('of the workspace', { permissions: everyRead, workspaceIds: here });
    await make('of assets', { permissions: { workspace: ['read'], asset: ['read'] } });
    await make('without workspace read', { permissions: { asset: ['read'], rule: ['read'] } });
    const other = await makeOrganization(records);
    elsewhereId = other.workspaceId;
    const { organizationId } = other;
    await make('of another organization', { permissions: everyRead, organizationId });
  });
  const { organizationId } = world;
  secondId = (await world.must('POST', '/v3/workspaces', { name: 'Second', organizationId })).id;
  device = await world.device({ name: 'Meter' });
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const open = (key = world.apiKey) =>
  openLive(`${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${key}`);

const follow = (live: LiveSocket, workspaceId: string, wanted = kinds, more: object = {}) =>
  live.ask({ type: 'subscribe', subscriptions: [{ workspaceId, kinds: wanted, ...more }] });

async function until(
  live: LiveSocket,
  isWanted: (message: LiveMessage) => boolean,
): Promise<LiveMessage> {
  for (;;) {
    const message = await live.next();
    if (isWanted(message)) return message;
  }
}

const ofKind = (kind: string) => (message: LiveMessage) => message['kind'] === kind;

describe('permissions', () => {
  test.each([
    ['of the workspace', 'here', kinds.filter((kind) => kind !== 'DELIVERY')],
    ['of the workspace', 'second', []],
    ['of assets', 'second', ['SAMPLE', 'DEVICE_STATE', 'OPERATION', 'RECORD_CHANGED']],
    ['without workspace read', 'here', []],
    ['of another organization', 'here', []],
    ['of another organization', 'elsewhere', kinds.filter((kind) => kind !== 'DELIVERY')],
  ])('a key %s may follow in %s: %j', async (key, where, permitted) => {
    const places: Record<string, string> = { here: world.workspaceId, second: secondId };
    const workspaceId = places[where] ?? elsewhereId;
    const live = await open(keys[key]);
    const ack = await follow(live, workspaceId);
    const refused = kinds.filter((kind) => !permitted.includes(kind));
    expect(ack['subscriptions']).toEqual([
      ...(permitted.length > 0 ? [{ workspaceId, kinds: permitted, valid: true }] : []),
      ...(refused.length > 0
        ? [{ workspaceId, kinds: refused, valid: false, reason: expect.any(String) }]
        : []),
    ]);
    live.close();
  });

  test('nothing of another workspace or organization is sent', async () => {
    const others = await Promise.all([open(keys['of another organization']), open()]);
    await follow(others[0], elsewhereId);
    await follow(others[1], secondId);
    await world.capture(device, { temperature: 1 });
    await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'silent' });
    for (const live of others) {
      expect(await live.sofar()).toEqual([]);
      live.close();
    }
  });

  test('an unknown workspace is refused like a forbidden one', async () => {
    const live = await open();
    const ack = await follow(live, '2900000000000000', ['SAMPLE']);
    expect(ack['subscriptions']).toEqual([
      {
        workspaceId: '2900000000000000',
        kinds: ['SAMPLE'],
        valid: false,
        reason: expect.any(String),
      },
    ]);
    live.close();
  });
});

describe('what happens', () => {
  let live: LiveSocket;
  beforeAll(async () => {
    live = await open();
    await follow(live, world.workspaceId);
  });
  afterAll(() => live.close());

  test('samples, and a device that comes online and goes offline', async () => {
    const meter = await world.device({ name: 'Pulse' });
    await world.capture(meter, { temperature: 21 });
    const sample = await until(live, ({ type }) => type === 'sample_insert');
    expect(sample['sample']).toMatchObject({ deviceId: meter.id, data: { temperature: 21 } });
    const online = await until(live, ofKind('DEVICE_STATE'));
    expect(online).toEqual({
      type: 'event',
      kind: 'DEVICE_STATE',
      workspaceId: world.workspaceId,
      deviceId: meter.id,
      state: 'ONLINE',
      previousState: 'UNKNOWN',
      lastUplink: anyTime,
      timestamp: anyTime,
    });
    clockAhead += 7 * 24 * 3_600_000;
    const isMeter = (message: LiveMessage) => message['deviceId'] === meter.id;
    expect(await until(live, isMeter)).toMatchObject({
      kind: 'DEVICE_STATE',
      state: 'OFFLINE',
      previousState: 'ONLINE',
      lastUplink: online['lastUplink'],
    });
    await world.capture(meter, { temperature: 22 });
    expect(await until(live, isMeter)).toMatchObject({ state: 'ONLINE', previousState: 'OFFLINE' });
  });

  test('changes of records, with their authors', async () => {
    const tag = await world.must('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'Roof',
    });
    const changed = await until(live, ofKind('RECORD_CHANGED'));
    expect(changed).toMatchObject({
      workspaceId: world.workspaceId,
      action: 'CREATED',
      record: { type: 'TAG', id: tag.id, name: 'Roof', workspaceId: world.workspaceId },
      by: { type: 'API_KEY', id: expect.any(String), name: expect.any(String) },
    });
    await world.must('DELETE', `/v3/tags/${tag.id}`);
    expect(await until(live, ofKind('RECORD_CHANGED'))).toMatchObject({
      action: 'DELETED',
      record: { id: tag.id, name: 'Roof' },
    });
  });
  test('runs of rules, and the deliveries that they cause', async () => {
    const { workspaceId } = world;
    const outputConnectorId = await sink.action(world, 'live');
    const rule = await world.must('POST', '/v3/rules', {
      name: 'Too warm',
      workspaceId,
      actions: [{ id: outputConnectorId }],
      inputs: [{ id: device.id, name: 'x', type: 'DEVICE' }],
      logic: comparison(device.id, {}, { actionIds: [outputConnectorId] }),
    });
    await world.capture(device, { temperature: 25 });
    expect(await until(live, ofKind('RULE_RUN'))).toMatchObject({
      workspaceId,
      rule: { id: rule.id, name: 'Too warm' },
      run: { outcome: 'FIRED', trigger: 'UPLINK', deviceId: device.id },
    });
    expect(await until(live, ofKind('DELIVERY'))).toMatchObject({
      workspaceId,
      delivery: { outputConnectorId, deviceId: device.id, state: 'DELIVERED', ruleId: rule.id },
    });
  });

  test('changes of alarms', async () => {
    const { workspaceId } = world;
    const alarms = alarmRules(world);
    const boiler = await world.device({ name: 'Boiler' });
    await alarms.hotRule(boiler, [[50, await alarms.output()]]);
    await world.capture(boiler, { temperature: 90 });
    expect(await until(live, ofKind('ALARM'))).toMatchObject({
      workspaceId,
      change: 'OPENED',
      alarm: { name: 'Boiler is hot', severity: 'MAJOR', state: 'OPEN', device: { id: boiler.id } },
    });
  });

  test('the progress of an operation', async () => {
    const { workspaceId } = world;
    const gone = await world.device({ name: 'Gone' });
    const body = { workspaceId, deviceIds: [gone.id] };
    const { id } = await world.must('POST', '/v3/devices/bulk/delete', body);
    const isEnded = (message: LiveMessage) =>
      message['kind'] === 'OPERATION' && message['operation'].completed !== null;
    expect((await until(live, isEnded))['operation']).toMatchObject({
      id,
      workspaceId,
      actionsCompleted: 1,
      actionsFailed: 0,
      succeeded: true,
    });
  });
});

test('the subscription ends with its credential and with its workspace', async () => {
  const { organizationId } = world;
  const third = await world.must('POST', '/v3/workspaces', { name: 'Third', organizationId });
  const live = await open();
  await follow(live, third.id, ['SAMPLE']);
  await world.must('DELETE', `/v3/workspaces/${third.id}`);
  expect(await live.next()).toMatchObject({
    type: 'unsubscribed',
    ended: [{ workspaceId: third.id, kinds: ['SAMPLE'], valid: false }],
    subscriptions: [],
  });
  live.close();
});

test('samples above perSecond are omitted and counted', async () => {
  const live = await open();
  await follow(live, world.workspaceId, ['SAMPLE'], { perSecond: 2 });
  const sent = 40;
  for (let n = 0; n < sent; n++) await world.capture(device, { temperature: n });
  let samples = 0;
  let leftOut = 0;
  while (samples + leftOut < sent) {
    const message = await live.next();
    if (message.type === 'sample_insert') samples += 1;
    else leftOut += message['leftOut'];
  }
  expect(samples + leftOut).toBe(sent);
  expect(leftOut).toBeGreaterThan(0);
  live.close();
});
